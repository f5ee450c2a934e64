/** What the page shows of bytes, errors and values: fields of BCS, paths, TypeScript literals. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { errorOf } from "#generator/dev/page-server/advice.js";
import { resultFields } from "#generator/dev/page-server/bcs-fields.js";
import { literalOf } from "#generator/dev/page-server/typescript-literal.js";
import { readJson } from "#generator/json.js";
import { encodeOutputDeclared } from "#runtime/wire/bcs.js";

test("the fields of a result cover its bytes, in order", () => {
  const bytes = encodeOutputDeclared({
    tag: "ok",
    ports: [
      { name: "sum", values: [{ kind: "inline", bytes: Buffer.from("3") }] },
      { name: "big", values: [{ kind: "inline", bytes: Buffer.alloc(300, "x") }] },
      { name: "stored", values: [{ kind: "walrus", blobId: Buffer.from("id"), contentDigest: Buffer.alloc(32, 7) }] },
      { name: "object", values: [{ kind: "object", id: Buffer.alloc(32, 9) }] },
    ],
  });
  const fields = resultFields(bytes);
  let at = 0;
  for (const field of fields) {
    assert.equal(field.at, at);
    at += field.length;
  }
  assert.equal(at, bytes.length);
  assert.deepEqual(
    fields.slice(0, 6).map(({ name, value, depth }) => [name, value, depth]),
    [
      ["tag", "ok", 0],
      ["ports", "4 items", 0],
      ["port_name", "sum", 1],
      ["values", "1 item", 1],
      ["value", "1 InlineData", 2],
      ["bytes", "3", 3],
    ],
  );
});

test("bytes that are no result are marked as far as they can be read", () => {
  assert.deepEqual(
    resultFields(Buffer.from([2, 0x6f, 0x6b, 1, 9, 1])).map(({ name, at, length }) => [name, at, length]),
    [
      ["tag", 0, 3],
      ["ports", 3, 1],
      ["not readable", 4, 2],
    ],
  );
  assert.deepEqual(resultFields(Buffer.from([0, 0, 5])).at(-1)?.name, "beyond the end");
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      const total = resultFields(bytes).reduce((sum, { length }) => sum + length, 0);
      assert.equal(total, bytes.length);
    }),
  );
});

test("an error names the port of a place in the envelope", () => {
  const call = { signed: true, isSigned: true, kind: "call", ports: ["a", "odd name", "tags"] } as const;
  const pathOf = (details: string, error = "input_deserialization_error") =>
    errorOf(Buffer.from(JSON.stringify({ error, details })), call).path;
  assert.equal(pathOf("tags[1]: expected a string, got null"), "tags[1]");
  assert.equal(pathOf('deep["odd name"].at[0]: expected a string'), 'deep["odd name"].at[0]');
  assert.equal(pathOf("ports[2].value.many: expected 1 to 256 items"), "tags");
  assert.equal(pathOf("ports[1].value.one: x"), '["odd name"]');
  assert.equal(pathOf("ports[0].port_name: the tool has no such input port"), "a");
  assert.equal(pathOf('ports: port "odd name" is missing'), '["odd name"]');
  assert.equal(pathOf("nothing of this form"), null);
  assert.equal(pathOf("tags[1]: x", "auth_failed"), null);
  assert.equal(errorOf(Buffer.from("<html>"), call).code, "invalid_answer");
  assert.equal(errorOf(Buffer.from('{"error":"<img>"}'), call).code, "invalid_answer");
});

test("values become literals of their types", () => {
  const schema = {
    type: "object",
    properties: {
      exact: { type: "integer", format: "int64" },
      bare: { type: "integer" },
      ratio: { type: "number" },
      when: { type: "string", format: "date-time" },
      data: { type: "string", contentEncoding: "base64" },
      note: { type: ["string", "null"] },
      maybe: { type: ["string", "null"] },
      either: {
        anyOf: [
          { type: "object", properties: { k: { const: "a" } } },
          { type: "object", properties: { k: { const: "b" }, n: { type: "integer", format: "uint64" } } },
        ],
      },
      "odd name": { $ref: "#/$defs/D" },
    },
    required: ["maybe"],
    $defs: { D: { type: "array", items: { type: "integer", format: "int64" } } },
  };
  const text =
    '{"exact":1,"bare":2,"ratio":3,"when":"2026-01-01T00:00:00Z","data":"AA==","note":null,"maybe":null,"either":{"k":"b","n":4},"odd name":[5,18446744073709551615]}';
  const print = (bigints: boolean) =>
    literalOf(readJson(text), { schema: readJson(JSON.stringify(schema)), bigints }).replaceAll(/\s+/g, " ");
  assert.equal(
    print(false),
    '{ exact: 1n, bare: 2, ratio: 3, when: new Date("2026-01-01T00:00:00Z"), data: Uint8Array.from(Buffer.from("AA==", "base64")), ' +
      'maybe: null, either: { k: "b", n: 4n }, ["odd name"]: [5n, 18446744073709551615n], }',
  );
  assert.match(print(true), /bare: 2n, ratio: 3,/);
  assert.equal(
    literalOf(readJson('{"__proto__":"</script>\\u2028"}'), { schema: null, bigints: true }),
    '{ ["__proto__"]: "</script>\\u2028" }',
  );
});
