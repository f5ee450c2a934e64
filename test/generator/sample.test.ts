/** Samples of schemas, which `svc-gen dev` prints as the first call of a tool. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { sampleOf } from "#generator/openapi/sample.js";
import { printJson, readJson } from "#generator/text/json.js";

const ajv = new Ajv2020({ strict: false });

test("a sample fits patterns, lengths, limits of numbers and of lists", () => {
  for (const schema of [
    { type: "string", pattern: "^[A-Z]{3}-[A-Z]{3}$" },
    { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" },
    { type: "string", pattern: "^(?=.*\\d)[a-z\\d]+$", minLength: 8, maxLength: 20 },
    { type: "string", pattern: "^\\p{Lu}\\w+$" },
    { type: "string", pattern: "[#%]$", minLength: 12 },
    { type: "string", pattern: "^text$" },
    { type: "string", minLength: 9 },
    { type: "string", maxLength: 2 },
    { type: "integer", minimum: 10 },
    { type: "integer", exclusiveMinimum: 3, multipleOf: 4 },
    { type: "integer", maximum: -2 },
    { type: "number", exclusiveMaximum: 0 },
    { type: "array", items: { type: "string", pattern: "^\\d+$" }, minItems: 3 },
  ]) {
    const text = printJson(sampleOf(readJson(JSON.stringify(schema))));
    assert.ok(ajv.validate(schema, JSON.parse(text)), `${JSON.stringify(schema)}: ${text}`);
  }
});

test("a pattern that no text of the length matches still has a sample", () => {
  assert.equal(sampleOf(readJson('{"type":"string","pattern":"^a$","minLength":5}')), "text");
});
