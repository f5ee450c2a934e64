/** The limit on the values of a call, and the estimate of the memory that they take. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Codec } from "#client/wire/codec/contract.js";
import { EnvelopeReader } from "#client/wire/envelope/envelope.js";
import { InputValues } from "#client/wire/envelope/input-values.js";
import { WireFault } from "#client/wire/fault.js";
import { valueCount } from "#client/wire/json/document.js";
import { TooManyValues } from "#client/wire/json/error.js";
import { parseJson } from "#client/wire/json/scan.js";
import { sha256 } from "#client/wire/signature/hash.js";
import { InputHasher } from "#client/wire/signature/input-hash.js";
import { heapBytesOf } from "#runtime/server/wire/heap-bytes.js";
import { InputDecoder } from "#runtime/server/wire/input.js";
import { contractWith } from "./codecs.js";

const OVER = new WireFault(
  "payload_too_large",
  "the input may have at most 20 values, including names of members: send fewer, or raise SVC_MAX_INPUT_VALUES of the server",
);

describe("parseJson with a limit", () => {
  for (const [what, item, each] of [
    ["numbers", "0", 1],
    ["objects", "{}", 1],
    ["members", '{"a":0}', 3],
    ["texts with commas", '"[,:{"', 1],
  ] as const) {
    for (const count of [10, 50_000]) {
      it(`${count} ${what}: at the limit and one over, with a tape no longer than the limit`, () => {
        const text = Buffer.from(`[${`${item},`.repeat(count - 1)}${item}]`);
        const most = 1 + count * each;
        const document = parseJson(text, most);
        assert.equal(valueCount(document), most);
        assert.ok(document.tape.length <= 4 * most, `${document.tape.length} numbers`);
        assert.throws(() => parseJson(text, most - 1), TooManyValues);
      });
    }
  }

  it("reads no further than the limit", () => {
    assert.throws(() => parseJson(Buffer.from(`[${"0,".repeat(50_000)}no JSON`), 1_000), TooManyValues);
  });
});

describe("the values of a signed call", () => {
  const ports = [{ name: "p", many: true }];
  const hash = (...texts: string[]) => new InputHasher(ports).hash([texts.map((text) => sha256(Buffer.from(text)))]);
  const match = (items: readonly string[], inputHash: Uint8Array) => {
    const counted = new InputValues(20);
    const body = `{"ports":[{"port_name":"p","value":{"many":[${items.join(",")}]}}]}`;
    return { texts: new EnvelopeReader(ports).read(Buffer.from(body), counted).match(inputHash), counted };
  };
  const encoded = (text: string) => `{"kind":"data","bytes":"${Buffer.from(text).toString("base64")}"}`;

  it("are those of the body and of its decoded texts, before the texts are decoded", () => {
    // The body has 15 values.
    const { texts, counted } = match([encoded("[1,2,3,4]")], hash("[1,2,3,4]"));
    assert.equal(counted.count, 20);
    assert.equal(texts?.[0]?.[0]?.document?.tape[3], 4 * 5);
    assert.throws(() => match([encoded("[1,2,3,4,5]")], hash("[1,2,3,4,5]")), OVER);
    assert.throws(() => match([`{"kind":"data","data":[1,2,3,4,5,6,7]}`], hash("[1,2,3,4,5,6,7]")), OVER);
  });

  it("exclude text that is not JSON, which the decoder reports", () => {
    assert.deepEqual(match([encoded("{")], hash("{")).texts, [[{ document: undefined, bytes: Buffer.from("{") }]]);
  });

  it("of a text with another hash are not counted", () => {
    assert.equal(match([encoded("[1,2,3,4,5,6]")], Buffer.alloc(32)).texts, undefined);
  });
});

describe("heapBytesOf is not exceeded", () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  const used = () => {
    gc();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const optional = (...names: string[]): Codec => ({
    kind: "object",
    members: names.map((name) => ({ name, optional: true, codec: { kind: "number" } })),
  });
  for (const [what, codec, item] of [
    ["{x?: number}", optional("x"), "{}"],
    ["eight optional members", optional(..."abcdefgh"), '{"a":1}'],
    ["unknown, objects", { kind: "json" }, "{}"],
    ["unknown, arrays", { kind: "json" }, "[]"],
    ["short strings", { kind: "string" }, '"ab"'],
    ["bigint", { kind: "bigint" }, "18446744073709551615"],
    ["Date", { kind: "date" }, '"2020-01-01T00:00:00Z"'],
    ["empty Uint8Array", { kind: "ref", name: "Bytes" }, '""'],
    ["Uint8Array", { kind: "bytes" }, `"${"A".repeat(96)}"`],
    ["long strings", { kind: "string" }, `"${"A".repeat(400)}"`],
    ["long strings with two bytes a character", { kind: "string" }, `"\u00e9\u20ac${"A".repeat(400)}"`],
  ] as const satisfies readonly (readonly [string, Codec, string])[]) {
    it(what, () => {
      const input = [{ name: "v", many: false, codec: { kind: "array", item: codec } }] as const;
      const definitions = codec.kind === "ref" ? ([["Bytes", { kind: "bytes" }]] as const) : [];
      const contract = contractWith({ definitions, input });
      const decoder = new InputDecoder(contract);
      const body = Buffer.from(`{"v":[${`${item},`.repeat(20_000)}${item}]}`);
      const document = parseJson(body);
      decoder.decodeUnsigned(body, document);
      const before = used();
      const value = decoder.decodeUnsigned(body, document);
      const taken = used() - before;
      assert.equal((value.v as unknown[]).length, 20_001);
      const estimate = heapBytesOf(contract)({ count: valueCount(document), ascii: document.ascii }, body.length);
      assert.ok(taken < estimate, `${taken} bytes, estimated ${estimate}`);
    });
  }
});
