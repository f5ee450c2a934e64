/** Unions whose branches are told apart by a literal: one branch is tried, in inputs and in results. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Codec } from "#client/wire/codec/contract.js";
import { ValueDecoder } from "#client/wire/codec/decoder.js";
import { ValueEncoder } from "#client/wire/codec/encoder.js";
import { WireFault } from "#runtime/index.js";
import { assertLinear } from "./growth.js";

const branch = (kind: string | number, value: Codec): Codec => ({
  kind: "object",
  members: [
    { name: "value", codec: value },
    { name: "kind", codec: { kind: "literal", values: [kind] } },
  ],
});
const TEXT: Codec = { kind: "string" };
const UNION: Codec = {
  kind: "union",
  branches: [branch("a", TEXT), { kind: "null" }, { kind: "ref", name: "B" }, TEXT, branch(3, { kind: "bigint" })],
};
const DEFINITIONS = [
  ["B", branch("b", { kind: "array", item: { kind: "ref", name: "Any" } })],
  ["Any", UNION],
] as const;

describe("a union with a discriminator", () => {
  const decoder = new ValueDecoder(UNION, DEFINITIONS);
  const encoder = new ValueEncoder(UNION, DEFINITIONS);

  for (const [text, value] of [
    ['{"value":"x","kind":"a"}', { value: "x", kind: "a" }],
    [
      '{"value":[{"value":"y","kind":"a"},null,"z"],"kind":"b"}',
      { value: [{ value: "y", kind: "a" }, null, "z"], kind: "b" },
    ],
    ['{"value":9007199254740993,"kind":3}', { value: 9007199254740993n, kind: 3 }],
    ["null", null],
    ['"text"', "text"],
  ] as const) {
    it(`reads and writes ${text}`, () => {
      assert.deepEqual(decoder.read(Buffer.from(text)), value);
      assert.equal(encoder.write(value), text);
    });
  }

  it("reads the member by its decoded name; a repeated one has its last value", () => {
    assert.deepEqual(decoder.read(Buffer.from('{"value":"x","k\\u0069nd":"a"}')), { value: "x", kind: "a" });
    assert.deepEqual(decoder.read(Buffer.from('{"kind":"b","value":"x","kind":"a"}')), { value: "x", kind: "a" });
  });

  it("reports the mismatch of the branch that the literal selects, also in results", () => {
    const closed: Codec = {
      kind: "object",
      patterns: [],
      members: [{ name: "kind", codec: { kind: "literal", values: ["c"] } }],
    };
    const union: Codec = { kind: "union", branches: [branch("a", TEXT), closed] };
    const input = new WireFault("input_deserialization_error", "expected only declared members, got another");
    assert.throws(() => new ValueDecoder(union).read(Buffer.from('{"kind":"c","more":1}')), input);
    const output = new WireFault("output_serialization_error", "value: expected a string, got a number");
    assert.throws(() => new ValueEncoder(union).write({ kind: "a", value: 1 }), output);
    const missing = new WireFault("output_serialization_error", 'kind: expected "a" or "c", got nothing');
    assert.throws(() => new ValueEncoder(union).write({ value: 1 }), missing);
  });

  const optionalKind: Codec = {
    kind: "object",
    members: [
      { name: "value", codec: TEXT },
      { name: "kind", optional: true, codec: { kind: "literal", values: ["b"] } },
    ],
  };
  for (const [what, value, ...branches] of [
    ["a branch that takes any object", { kind: "c" }, branch("a", TEXT), branch("b", TEXT), { kind: "json" }],
    ["literals that overlap", { value: 5n, kind: "a" }, branch("a", TEXT), branch("a", { kind: "bigint" })],
    ["one literal member that is optional", { value: "x" }, branch("a", TEXT), optionalKind],
  ] as readonly [string, object, ...Codec[]][]) {
    it(`tries all branches with ${what}`, () => {
      const text = new ValueEncoder({ kind: "union", branches }).write(value);
      assert.deepEqual(new ValueDecoder({ kind: "union", branches }).read(Buffer.from(text)), value);
    });
  }

  it("reports the wrong member of the branch whose optional literal fits", () => {
    const optional = (kind: string, value: Codec, first: boolean): Codec => {
      const members = [
        { name: "kind", optional: true, codec: { kind: "literal", values: [kind] } as const },
        { name: "flag", codec: value },
      ];
      return { kind: "object", members: first ? members : members.toReversed() };
    };
    for (const [first, flag, expected] of [
      [true, { kind: "literal", values: [true] }, "flag: expected true, got another boolean"],
      [false, { kind: "literal", values: [true] }, "flag: expected true, got another boolean"],
      [false, TEXT, "flag: expected a string, got a boolean"],
    ] as const) {
      const branches = [optional("d", { kind: "boolean" }, first), optional("c", flag, first)];
      const decoder = new ValueDecoder({ kind: "union", branches });
      assert.throws(
        () => decoder.read(Buffer.from('{"kind":"c","flag":false}')),
        new WireFault("input_deserialization_error", expected),
      );
      assert.deepEqual(decoder.read(Buffer.from('{"kind":null,"flag":false}')), { flag: false });
    }
  });

  it("costs the same with many branches as with few", () => {
    const size = 1_024;
    const valuesOf = (count: number) => Array.from({ length: 8 * count }, (_, i) => ({ value: "x", kind: i % count }));
    const listOf = (count: number): Codec => ({
      kind: "array",
      item: { kind: "union", branches: Array.from({ length: count }, (_, i) => branch(i, TEXT)) },
    });
    assertLinear(
      "decoding",
      (count) => new ValueDecoder(listOf(count)).read(Buffer.from(JSON.stringify(valuesOf(count)))),
      size,
    );
    assertLinear("encoding", (count) => new ValueEncoder(listOf(count)).write(valuesOf(count)), size);
  });
});
