/** JSON of one type with the path in its errors, both ways; what operators are told (protocol.md section 11). */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { type Codec, WireFault, WithSerdeErrorPath } from "#runtime/index.js";
import { proves } from "../proves.js";

describe("WithSerdeErrorPath", () => {
  const codec: Codec = {
    kind: "object",
    members: [
      { name: "id", codec: { kind: "bigint" } },
      { name: "deep", codec: { kind: "array", item: { kind: "ref", name: "at" } } },
    ],
  };
  const definitions = [["at", { kind: "object", members: [{ name: "at", codec: { kind: "date" } }] }]] as const;
  const text = '{"id":9007199254740993,"deep":[{"at":"2024-02-29T12:00:00.000Z"}]}';
  const read = (json: string) => WithSerdeErrorPath.fromJson<unknown>(codec, Buffer.from(json), definitions);

  it("holds one public field, and reads and writes it by a codec", () => {
    const wrapped = read(text);
    assert.deepEqual(Object.keys(wrapped), ["value"]);
    assert.deepEqual(wrapped.value, { id: 9007199254740993n, deep: [{ at: new Date("2024-02-29T12:00:00Z") }] });
    assert.equal(wrapped.toJson(codec, definitions), text);
    wrapped.value = { deep: [], id: 1n };
    assert.equal(wrapped.toJson(codec, definitions), '{"id":1,"deep":[]}');
    assert.equal(new WithSerdeErrorPath("x").toJson({ kind: "string" }), '"x"');
    proves("11.7");
  });

  it("names the member in its errors, both ways", () => {
    assert.throws(
      () => read(text.replace("2024-02-29T", "2023-02-29T")),
      new WireFault(
        "input_deserialization_error",
        "deep[0].at: expected an RFC 3339 date-time with an offset, such as 2026-01-31T12:00:00Z, got a string",
      ),
    );
    assert.throws(
      () => new WithSerdeErrorPath({ id: 1n, deep: [{ at: "x" }] }).toJson(codec, definitions),
      new WireFault("output_serialization_error", "deep[0].at: expected a Date, got a string"),
    );
    proves("11.7");
  });
});

describe("the documentation", () => {
  it("tells operators to upgrade receivers before senders use bytes", () => {
    const page = readFileSync(new URL("../../docs/keys.md", import.meta.url), "utf8").replace(/\s+/g, " ");
    assert.ok(page.includes("Upgrade every tool before the leaders that call it send `bytes`"));
    proves("11.6");
  });
});
