/** Form fields from schemas: the kinds, values for empty fields, and what stays when a schema changes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseValue, printValue } from "#page/form/exact-json.js";
import { Fields, numberProblem } from "#page/form/field-schema.js";

const flat = (text: string) => text.replaceAll(/\s/g, "");

function input(properties: object, required: readonly string[] = Object.keys(properties), $defs = {}): Fields {
  return new Fields(JSON.stringify({ type: "object", properties, required, $defs }));
}

test("an initial input has all required members, in order", () => {
  const fields = input(
    {
      big: { type: "integer", format: "int64", minimum: 5 },
      list: { type: "array", items: { $ref: "#/$defs/Tree" } },
      pair: {
        type: "array",
        prefixItems: [{ type: "string" }, { type: "boolean" }],
        items: false,
        minItems: 2,
        maxItems: 2,
      },
      choice: { type: ["string", "null"], enum: ["a", "b", null] },
      either: {
        anyOf: [
          { type: "object", properties: { k: { type: "string", const: "x" } }, required: ["k"] },
          { type: "string" },
        ],
      },
      known: { type: "string", examples: ["first"], default: "given" },
      data: { type: "string", contentEncoding: "base64" },
      counts: { type: "object", additionalProperties: { type: "number" } },
      left: { type: "string" },
    },
    ["big", "list", "pair", "choice", "either", "known", "data", "counts"],
    {
      Tree: {
        type: "object",
        properties: { kids: { type: "array", items: { $ref: "#/$defs/Tree" } } },
        required: ["kids"],
      },
    },
  );
  assert.equal(
    flat(printValue(fields.empty(fields.root))),
    '{"big":5,"list":[{"kids":[]}],"pair":["",false],"choice":"a","either":{"k":"x"},"known":"given","data":"","counts":{}}',
  );
});

test("a circular reference ends", () => {
  const fields = input({ a: { $ref: "#/$defs/A" } }, ["a"], { A: { $ref: "#/$defs/A" } });
  assert.equal(fields.empty(fields.root) instanceof Map, true);
  const deep = input({ a: { $ref: "#/$defs/A" } }, ["a"], {
    A: { type: "object", properties: { a: { $ref: "#/$defs/A" } }, required: ["a"] },
  });
  assert.ok(printValue(deep.empty(deep.root)).length < 2000);
});

test("a changed schema keeps values that still fit, adds new members and removes others", () => {
  const fields = input(
    {
      name: { type: "string" },
      size: { type: "string", enum: ["S", "L"] },
      tags: { type: "array", items: { type: "string" } },
      note: { type: ["string", "null"] },
    },
    ["name", "size", "tags"],
  );
  const after = (text: string) => flat(printValue(fields.reconcile(parseValue(text), fields.root)));
  assert.equal(after('{"name":"pen","gone":1,"tags":["x",2]}'), '{"name":"pen","size":"S","tags":["x",""]}');
  assert.equal(after('{"name":5,"size":"L","tags":"x","note":"n"}'), '{"name":"","size":"L","tags":[""],"note":"n"}');
  assert.equal(after("[]"), '{"name":"","size":"S","tags":[""]}');
});

test("the branch of a union is the first that fits", () => {
  const record = { type: "object", additionalProperties: { type: "number" } };
  const kind = (name: string) => ({ type: "object", properties: { kind: { const: name } }, required: ["kind"] });
  const union = new Fields(JSON.stringify({ anyOf: [kind("a"), kind("b"), record, { type: "null" }] }));
  const field = union.input;
  assert.ok(field.kind === "union" && field.nullable && field.branches.length === 3);
  const branchOf = (text: string) => union.branchOf(parseValue(text), field.branches);
  assert.deepEqual(['{"kind":"b"}', '{"n":1}', "{}", '{"kind":"c"}'].map(branchOf), [1, 2, 2, 0]);
  const nested = new Fields(JSON.stringify({ anyOf: [{ anyOf: [kind("a"), kind("b")] }, record] }));
  assert.ok(nested.input.kind === "union");
  assert.equal(nested.branchOf(parseValue('{"n":1}'), nested.input.branches), 1);
});

test("integers are checked by their digits", () => {
  const whole = { kind: "number", integer: true, min: -(2n ** 63n), max: 2n ** 63n - 1n } as const;
  assert.equal(numberProblem("9223372036854775807", whole), undefined);
  assert.equal(numberProblem("9223372036854775808", whole), "more than 9223372036854775807");
  assert.equal(numberProblem("-9223372036854775809", whole), "less than -9223372036854775808");
  assert.equal(numberProblem("1.0", whole), "not an integer: use digits only");
  assert.equal(numberProblem("0x1", whole), "not an integer");
  assert.equal(numberProblem("1e3", { ...whole, integer: false }), undefined);
});

test("secrets are hidden in the shown text, and kept when it is edited", () => {
  const secret = { type: "string", format: "password", writeOnly: true };
  const fields = input(
    {
      apiKey: { $ref: "#/$defs/Key" },
      maybe: { ...secret, type: ["string", "null"] },
      keys: { type: "array", items: secret },
      deep: { anyOf: [{ type: "number" }, { type: "object", properties: { key: secret }, required: ["key"] }] },
      plain: { type: "string" },
      byName: { type: "object", additionalProperties: secret },
    },
    ["apiKey", "keys"],
    { Key: secret },
  );
  const value = parseValue(
    '{"apiKey":"a","maybe":null,"keys":["b",""],"deep":{"key":"c"},"plain":"d","byName":{"n":"e"}}',
  );
  const shown = fields.hidden(value);
  assert.equal(
    flat(printValue(shown)),
    '{"apiKey":"••••••••","maybe":null,"keys":["••••••••",""],"deep":{"key":"••••••••"},"plain":"d","byName":{"n":"••••••••"}}',
  );
  assert.deepEqual(fields.secretsOf(value), ["a", "b", "c", "e"]);
  assert.equal(printValue(fields.revealed(shown, value)), printValue(value));
  const edited = parseValue('{"apiKey":"new","keys":["••••••••","••••••••"],"plain":"e"}');
  assert.equal(flat(printValue(fields.revealed(edited, value))), '{"apiKey":"new","keys":["b",""],"plain":"e"}');
});
