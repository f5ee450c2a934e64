/** Unions without a discriminator: tries are counted, and bounded. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Codec } from "#client/wire/codec/contract.js";
import { DecodeContext, DecoderCompiler, ValueDecoder } from "#client/wire/codec/decoder.js";
import { ValueEncoder } from "#client/wire/codec/encoder.js";
import { WireFault } from "#client/wire/fault.js";
import { parseJson } from "#client/wire/json/scan.js";
import { InputDecoder } from "#runtime/server/wire/input.js";
import { proves } from "../proves.js";
import { object as required } from "./codecs.js";

const NUMBER: Codec = { kind: "number" };
const TEXT: Codec = { kind: "string" };
const literal = (...values: (string | number)[]): Codec => ({ kind: "literal", values });
/** A value whose every reading is counted. */
const COUNTED: Codec = { kind: "wrapped", item: NUMBER };

/** The number of times that counted values are read when a text is decoded. */
function readings(codec: Codec, text: string, definitions: (readonly [string, Codec])[] = []): number {
  let count = 0;
  const compiler = new DecoderCompiler(definitions, {
    wrap: (value) => {
      count++;
      return value;
    },
  });
  compiler.compile(codec)(parseJson(Buffer.from(text)), 0, new DecodeContext(false));
  return count;
}

describe("only one branch is tried", () => {
  const branchesOf = (branch: (at: number) => Readonly<Record<string, Codec>>): readonly Codec[] =>
    Array.from({ length: 256 }, (_, at) => required({ value: COUNTED, ...branch(at) }));
  const union = (branch: (at: number) => Readonly<Record<string, Codec>>): Codec => ({
    kind: "union",
    branches: branchesOf(branch),
  });
  for (const [what, codec, text] of [
    ["by its required members", union((at) => ({ [`m${at}`]: NUMBER })), '{"value":1,"m255":1}'],
    ["by the kind of a member", union((at) => ({ last: at === 255 ? TEXT : NUMBER })), '{"value":1,"last":""}'],
    [
      "by a literal that others share",
      union((at) => ({ k: literal(`k${at}`), n: literal(1) })),
      '{"value":1,"k":"k9","n":1}',
    ],
    [
      "by a literal of some branches",
      {
        kind: "union",
        branches: [required({ value: COUNTED, k: TEXT, z: TEXT }), ...branchesOf((at) => ({ k: literal(`${at}`) }))],
      },
      '{"value":1,"k":"255"}',
    ],
    [
      "by the last of repeated members",
      union((at) => ({ last: at === 255 ? TEXT : NUMBER })),
      '{"value":1,"last":1,"last":""}',
    ],
    ["by a name with escapes", union((at) => ({ [`m${at}`]: NUMBER })), '{"value":1,"m25\\u0035":1}'],
  ] as const satisfies readonly (readonly [string, Codec, string])[]) {
    it(what, () => assert.equal(readings(codec, text), 1));
  }
});

describe("arrays beside branches with a discriminator", () => {
  const DEPTH = 60;

  it("are read and written once at each level", () => {
    let reads = 0;
    const counted = (value: unknown) => ({
      k: "a",
      get n() {
        reads++;
        return value;
      },
    });
    const tree: Codec = {
      kind: "union",
      branches: [
        required({ k: literal("a"), n: COUNTED }),
        required({ k: literal("b") }),
        { kind: "tuple", items: [{ kind: "ref", name: "Tree" }, NUMBER] },
        { kind: "tuple", items: [{ kind: "ref", name: "Tree" }, TEXT] },
      ],
    };
    const definitions: [string, Codec][] = [["Tree", tree]];
    const text = `${"[".repeat(DEPTH)}{"k":"a","n":1}${',"x"]'.repeat(DEPTH)}`;
    assert.ok(readings({ kind: "ref", name: "Tree" }, text, definitions) <= 4);
    let value: unknown = counted({ value: 1 });
    for (let i = 0; i < DEPTH; i++) value = [value, "x"];
    const written = new ValueEncoder({ kind: "ref", name: "Tree" }, definitions).write(value);
    assert.equal(written, text);
    assert.ok(reads <= 2 * DEPTH, `${reads} reads`);
  });
});

describe("the work of a call is bounded", () => {
  const branches = (count: number) =>
    Array.from({ length: count }, (_, at) => required({ value: required({ [`m${at}`]: NUMBER }) }));
  const contract = (count: number) => ({
    fqn: "xyz.demo.unions@1",
    input: [{ name: "v", many: false, codec: { kind: "array", item: { kind: "union", branches: branches(count) } } }],
  });
  const decode = (count: number, values: number) =>
    new InputDecoder(contract(count) as never).decodeUnsigned(
      Buffer.from(
        `{"v":[${Array(values)
          .fill(`{"value":{"m${count - 1}":1}}`)
          .join(",")}]}`,
      ),
    );

  it("small calls with large unions are decoded", () => {
    assert.equal((decode(256, 100).v as unknown[]).length, 100);
  });

  it("too many values times branches are refused, with advice", () => {
    const tooMany = new WireFault(
      "input_deserialization_error",
      "too many values match several branches of a union: send fewer values, or change the contract so that each branch requires a different literal in the same member",
    );
    assert.throws(() => decode(256, 5_000), tooMany);
    assert.equal((decode(2, 5_000).v as unknown[]).length, 5_000);
    proves("1.25");
  });

  it("values that fit only one branch take no steps", () => {
    const item = { kind: "union", branches: [NUMBER, TEXT, required({ a: NUMBER }), required({ b: NUMBER })] } as const;
    const decoder = new InputDecoder({ input: [{ name: "v", many: false, codec: { kind: "array", item } }] } as never);
    const texts = Array(40_000).fill('1,"x",{"a":1},{"b":1}').join(",");
    assert.equal((decoder.decodeUnsigned(Buffer.from(`{"v":[${texts}]}`)).v as unknown[]).length, 160_000);
  });
});

describe("a value that fits no branch is described by the likeliest branch, in any order", () => {
  for (const [what, likely, other, text, details] of [
    [
      "of which more members fit",
      required({ x: TEXT, y: NUMBER }),
      required({ p: NUMBER, q: TEXT }),
      '{"x":"","y":"","p":"","q":""}',
      /: y: expected a number, got a string$/,
    ],
    [
      "of which only a constraint is violated",
      required({ a: { kind: "string", minLength: 3 } }),
      required({ z: TEXT, b: NUMBER }),
      '{"a":"x","z":"","b":""}',
      /: a: expected /,
    ],
    [
      "that no literal rules out",
      required({ v: NUMBER }),
      required({ kind: literal("a"), v: NUMBER }),
      '{"kind":"b","v":""}',
      /: v: expected a number, got a string$/,
    ],
  ] as const satisfies readonly (readonly [string, Codec, Codec, string, RegExp])[]) {
    for (const branches of [
      [likely, other],
      [other, likely],
    ]) {
      it(`${what}: ${branches[0] === likely ? "first" : "last"}`, () => {
        assert.throws(() => new ValueDecoder({ kind: "union", branches }).read(Buffer.from(text)), details);
      });
    }
  }
});

it("a definition that was decoded for an earlier branch counts its undeclared members again", () => {
  const optional = (name: string, codec: Codec) => ({ name, codec, optional: true });
  const json: Codec = { kind: "json" };
  const branch = (t: Codec, own: string): Codec => ({
    kind: "object",
    members: [{ name: "t", codec: t }, optional(own, json)],
  });
  const small: Codec = { kind: "object", members: [optional("k", json)] };
  const large: Codec = { kind: "object", members: [optional("k", json), optional("u", json)] };
  const ref: Codec = { kind: "ref", name: "Small" };
  const codec: Codec = { kind: "union", branches: [branch(ref, "a"), branch(ref, "b"), branch(large, "c")] };
  const decoder = new ValueDecoder(codec, [["Small", small]]);
  // Undeclared: u and v in the first two, v in the third.
  assert.deepEqual(decoder.read(Buffer.from('{"t":{"k":{},"u":1,"v":2}}')), { t: { k: {}, u: 1 } });
});
