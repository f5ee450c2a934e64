/** Members that a tool gets: of overlapping index signatures, with names that objects inherit, with very long names. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Codec, Contract } from "#client/wire/codec/contract.js";
import { ValueDecoder } from "#client/wire/codec/decoder.js";
import { ValueEncoder } from "#client/wire/codec/encoder.js";
import { InputDecoder } from "#runtime/server/wire/input.js";
import { assertLinear } from "./growth.js";

const TEXT: Codec = { kind: "string" };

describe("several index signatures that match one name", () => {
  // { [name: `a${string}`]: { x: string }; [name: `${string}z`]: { y?: number }; [name: string]: unknown }
  const object = (name: string, codec: Codec, optional = false): Codec => ({
    kind: "object",
    members: [{ name, codec, optional }],
  });
  const codec: Codec = {
    kind: "object",
    members: [],
    patterns: [
      ["^a", object("x", TEXT)],
      ["z$", object("y", { kind: "number" }, true)],
    ],
    rest: { kind: "json" },
  };
  const decoder = new ValueDecoder(codec);
  const encoder = new ValueEncoder(codec);

  it("a value that fits all of them is accepted, in inputs and results", () => {
    const text = '{"az":{"x":"1"},"b":5,"z":{"y":2}}';
    assert.deepEqual(decoder.read(Buffer.from(text)), { az: { x: "1" }, b: 5, z: { y: 2 } });
    assert.equal(encoder.write({ z: { y: 2 }, az: { x: "1" }, b: 5 }), text);
  });

  it("a value that fits only the first is refused", () => {
    assert.throws(
      () => decoder.read(Buffer.from('{"az":{"x":"1","y":"2"}}')),
      /\["\*"\]\.y: expected a number, got a string$/,
    );
    assert.throws(() => encoder.write({ az: { x: "1", y: "2" } }), /\["\*"\]\.y: expected a number, got a string$/);
  });

  it("a value that fits only the second is refused", () => {
    assert.throws(() => decoder.read(Buffer.from('{"az":{"y":2}}')), /\["\*"\]\.x: expected a value, got nothing$/);
    assert.throws(() => encoder.write({ az: { y: 2 } }), /\["\*"\]\.x: expected a string, got nothing$/);
  });

  it("a name that is too long to be matched is refused, although any other name is allowed", () => {
    const long = "b".repeat(65_537);
    assert.throws(() => decoder.read(Buffer.from(`{"${long}":5}`)), /expected only declared members, got another$/);
    const plain = new ValueDecoder({ kind: "object", members: [], rest: { kind: "json" } });
    assert.deepEqual(plain.read(Buffer.from(`{"${long}":5}`)), { [long]: 5 });
  });
});

describe("absent members with names that every object inherits", () => {
  const names = ["constructor", "toString", "valueOf", "hasOwnProperty", "__proto__", "plain"];
  const optional = names.map((name) => ({ name, optional: true, codec: TEXT }));
  const absent = (value: Record<string, unknown>) => {
    for (const name of names) assert.equal(value[name], undefined, name);
    assert.deepEqual(Object.keys(value).sort(), names.slice(0, 5).sort(), "only those that would be inherited are set");
  };

  it("are undefined in nested objects, and null means absent", () => {
    const decoder = new ValueDecoder({ kind: "object", members: optional });
    absent(decoder.read(Buffer.from("{}")) as Record<string, unknown>);
    absent(decoder.read(Buffer.from('{"toString":null,"plain":null}')) as Record<string, unknown>);
  });

  it("are undefined in the input itself, signed and unsigned", () => {
    const contract = { input: optional.map((member) => ({ ...member, many: false })) } as unknown as Contract;
    const decoder = new InputDecoder(contract);
    absent(decoder.decodeUnsigned(Buffer.from("{}")));
    const bytes = Buffer.from("null");
    absent(decoder.decodeSigned(names.map(() => [{ bytes, document: undefined, entry: 0 }] as never)));
  });
});

it("absent optional members cost an object nothing, however many its type has", () => {
  // Decoders are made before, and have decoded once.
  const readers = new Map(
    [8_000, 1_000].map((size) => {
      const members = Array.from({ length: size }, (_, at) => ({ name: `m${at}`, codec: TEXT, optional: true }));
      const decoder = new ValueDecoder({ kind: "array", item: { kind: "object", members } });
      const text = Buffer.from(`[${`{"m${size - 1}":"x"},`.repeat(size)}{}]`);
      const read = () => decoder.read(text);
      read();
      return [size, read];
    }),
  );
  assertLinear("objects times members of their type", (size) => readers.get(size)?.(), 8_000);
});

it("members in any order are decoded like in declared order", () => {
  const members = ["a", "b", "c"].map((name) => ({ name, codec: TEXT, optional: name !== "b" }));
  const decoder = new ValueDecoder({ kind: "object", members });
  for (const text of ['{"c":"3","b":"2","a":"1"}', '{"b":"2","c":"3","a":"1"}', '{"a":"1","b":"2","c":"3"}']) {
    assert.equal(JSON.stringify(decoder.read(Buffer.from(text))), '{"a":"1","b":"2","c":"3"}');
  }
  assert.deepEqual(decoder.read(Buffer.from('{"b":"2"}')), { b: "2" });
  assert.throws(() => decoder.read(Buffer.from('{"c":"3","a":"1"}')), /b: expected a value, got nothing$/);
});
