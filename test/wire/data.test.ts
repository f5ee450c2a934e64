import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { NexusData, NexusDataError, NexusValue, parseObjectId } from "#client/wire/bcs/data.js";
import { JsonError } from "#client/wire/json/error.js";
import { MAX_INLINE_BYTES, MAX_PORT_BYTES, MAX_VALUES } from "#client/wire/protocol.js";
import { proves, provesRow } from "../proves.js";
import { documentText } from "./arbitraries.js";

const BLOB = "A".repeat(43);
const DIGEST = Buffer.alloc(32, 7);
const base64 = (text: string | Uint8Array) => Buffer.from(text).toString("base64");
const walrus = (blob: string, digest: Uint8Array = DIGEST) =>
  `{"kind":"walrus","blob_id":"${base64(blob)}","content_digest":"${base64(digest)}"}`;

const exactly = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const object = exactly(32).map((id) => NexusValue.object(id));
const stored = fc
  .tuple(exactly(32), exactly(32))
  .map(([id, digest]) => NexusValue.walrus(Buffer.from(id).toString("base64url"), digest));
const inline = documentText.map((text) => {
  try {
    return NexusValue.json(text);
  } catch {
    return NexusValue.json("null");
  }
});
const values = fc.oneof(
  fc.array(object, { minLength: 1, maxLength: 3 }),
  fc.array(fc.oneof(stored, inline), { minLength: 1, maxLength: 3 }),
);

describe("NexusData", () => {
  it("reads back the JSON that it writes, with the same BCS", () => {
    fc.assert(
      fc.property(values, fc.boolean(), (of, isMany) => {
        const data = isMany ? NexusData.many(of) : NexusData.one(of[0] as NexusValue);
        // Doubles may move by a last digit when they are read again, so the text is compared after one more round.
        const once = NexusData.fromJson(data.toJson());
        const again = NexusData.fromJson(once.toJson());
        assert.equal(once.isMany, isMany);
        assert.equal(once.values.length, data.values.length);
        if (data.toJson() === once.toJson()) assert.deepEqual(again.toBcs(), data.toBcs());
        assert.equal(JSON.parse(data.toJson()) !== null, true);
      }),
      { numRuns: process.env.SVC_TEST_FULL === "1" ? 5_000 : 200 },
    );
  });

  it("distinguishes objects from data", () => {
    const json = NexusValue.json("1");
    const id = NexusValue.object("1");
    assert.equal(NexusData.one(json).kind, "data");
    assert.equal(NexusData.one(NexusValue.walrus(BLOB, DIGEST)).kind, "data");
    assert.equal(NexusData.one(id).kind, "object");
    assert.throws(
      () => NexusData.many([json, id]),
      new NexusDataError("many: expected all objects or all data, got both"),
    );
    proves("3.11");
  });

  it("has limits, one inside and one over", () => {
    const text = (length: number) => JSON.stringify("x".repeat(length - 2));
    NexusValue.json(text(MAX_INLINE_BYTES));
    assert.throws(() => NexusValue.json(text(MAX_INLINE_BYTES + 1)), /inline value: at most 61440 bytes, got 61441/);
    // What counts is the canonical text.
    NexusValue.json(`${" ".repeat(100_000)}1`);

    const one = NexusValue.json("1");
    NexusData.many(Array(MAX_VALUES).fill(one));
    assert.throws(() => NexusData.many(Array(MAX_VALUES + 1).fill(one)), /many: expected 1 to 256 values, got 257/);
    assert.throws(() => NexusData.many([]), /many: expected 1 to 256 values, got 0/);
    assert.throws(() => NexusData.many(one as never), /values, got an object in place of a list/);

    const rest = MAX_PORT_BYTES - 2 - 4 - 4 - MAX_INLINE_BYTES;
    const filled = (length: number) =>
      NexusData.many([NexusValue.json(text(MAX_INLINE_BYTES)), NexusValue.json(text(length))]);
    assert.equal(filled(rest + 1).toBcs().length, MAX_PORT_BYTES);
    assert.throws(() => filled(rest + 2), /NexusData: at most 65536 bytes of BCS, got 65537/);
    proves("1.11");
  });

  for (const [what, text, message] of [
    ["no object", "[]", "NexusData: expected an object"],
    ["nothing", "{}", "NexusData: expected exactly one member, `one` or `many`"],
    ["both", '{"one":{"kind":"data","data":1},"many":[]}', "NexusData: expected exactly one member, `one` or `many`"],
    ["another", '{"two":1}', "NexusData: expected exactly one member, `one` or `many`"],
    ["a many that is no array", '{"many":{}}', "many: expected an array"],
    ["a many of none", '{"many":[]}', "many: expected 1 to 256 values, got 0"],
    ["a value that is no object", '{"one":1}', "value: expected an object"],
    ["no kind", '{"one":{"data":1}}', "value: expected a string member `kind`"],
    ["another kind", '{"one":{"kind":"x"}}', "kind: expected `data`, `object` or `walrus`"],
    [
      "bytes, which only requests have",
      '{"one":{"kind":"data","bytes":"MQ=="}}',
      "value: expected exactly the members kind, data",
    ],
    ["another member", '{"one":{"kind":"data","data":1,"x":1}}', "value: expected exactly the members kind, data"],
    ["an id that is no text", '{"one":{"kind":"object","id":1}}', "value: expected a string member `id`"],
    ["a blob id of 42 characters", `{"one":${walrus("A".repeat(42))}}`, "Walrus blob id: expected 43 bytes, got 42"],
    [
      "a blob id with stray bits",
      `{"one":${walrus(`${"A".repeat(42)}B`)}}`,
      "Walrus blob id: expected canonical base64url of 32 bytes without padding",
    ],
    [
      "a blob id in the standard alphabet",
      `{"one":${walrus(`+${"A".repeat(42)}`)}}`,
      "Walrus blob id: expected canonical base64url of 32 bytes without padding",
    ],
    [
      "a digest of 31 bytes",
      `{"one":${walrus(BLOB, Buffer.alloc(31))}}`,
      "Walrus content digest: expected 32 bytes, got 31",
    ],
    [
      "a blob id that is not base64",
      '{"one":{"kind":"walrus","blob_id":"?","content_digest":""}}',
      "blob_id: expected standard base64 with padding",
    ],
  ] as const) {
    it(`refuses ${what}: ${message}`, () => {
      assert.throws(() => NexusData.fromJson(text), new NexusDataError(message));
      provesRow(what, {
        "3.10": [
          "a blob id of 42 characters",
          "a blob id with stray bits",
          "a blob id in the standard alphabet",
          "a digest of 31 bytes",
        ],
        "3.13": ["bytes, which only requests have"],
      });
    });
  }

  it("refuses text that is not JSON", () => {
    assert.throws(() => NexusData.fromJson("{"), JsonError);
    assert.throws(() => NexusValue.json("1 2"), JsonError);
  });

  it("uses the last of repeated members", () => {
    assert.equal(
      NexusData.fromJson('{"one":0,"one":{"kind":"x","kind":"data","data":0,"data":1}}').toJson(),
      '{"one":{"kind":"data","data":1}}',
    );
  });
});

describe("object ids", () => {
  const hex = (text: string) => Buffer.from(parseObjectId(text)).toString("hex");
  for (const [text, wanted] of [
    ["0", "00".repeat(32)],
    ["0xE", `${"0".repeat(63)}e`],
    ["abc", `${"0".repeat(61)}abc`],
    [`0x${"fF".repeat(32)}`, "ff".repeat(32)],
  ] as const) {
    it(`${text} is padded on the left`, () => {
      assert.equal(hex(text), wanted);
      proves("3.14");
    });
  }
  for (const text of [
    "",
    "0x",
    "0X1",
    "x1",
    "g",
    " 1",
    "1 ",
    "-1",
    "0x0x1",
    "1".repeat(65),
    `0x${"1".repeat(65)}`,
    "１",
    "1\n",
  ]) {
    it(`${JSON.stringify(text.slice(0, 10))} is refused`, () => {
      assert.throws(() => parseObjectId(text), NexusDataError);
      proves("3.14");
    });
  }
  it("of bytes are 32 bytes, copied", () => {
    const id = Buffer.alloc(32, 1);
    const value = NexusValue.object(id);
    id.fill(2);
    assert.equal(value.id[0], 1);
    for (const length of [0, 31, 33]) {
      assert.throws(
        () => NexusValue.object(new Uint8Array(length)),
        new NexusDataError(`object id: expected 32 bytes, got ${length}`),
      );
    }
  });
});
