/**
 * Model -> precompiled validators (ajv standalone code). They check the tree before conversion, so an exact integer may be
 * a bigint there and dates and bytes are still texts; the decoder checks the rest of those.
 */

import { createRequire } from "node:module";
import type { AnySchemaObject, CodeKeywordDefinition, KeywordCxt } from "ajv";
import type { ObjectShape, Shape, Tool, TupleShape } from "./model.js";

const require = createRequire(import.meta.url);
const { _ } = require("ajv/dist/compile/codegen") as typeof import("ajv/dist/compile/codegen/index.js");
const { _Code } = require("ajv/dist/compile/codegen/code") as typeof import("ajv/dist/compile/codegen/code.js");
const { Type } = require("ajv/dist/compile/util") as typeof import("ajv/dist/compile/util.js");

/** Standalone code with one exported validator a tool, in the order of the names. */
export function validatorCode(tools: readonly (readonly [name: string, tool: Tool])[]): string {
  // The dialect of these schemas is ajv's own, draft 7 with the keywords below: the 2020-12 front door adds bookkeeping for
  // unevaluated members to every validator. What is published is 2020-12 (schema.ts).
  const { Ajv } = require("ajv") as typeof import("ajv");
  const { default: standaloneCode } = require("ajv/dist/standalone") as typeof import("ajv/dist/standalone/index.js");
  const ajv = new Ajv({
    code: { source: true, esm: true, lines: true },
    ownProperties: true,
    strict: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    allowUnionTypes: true,
    validateFormats: false,
    validateSchema: false,
    unicodeRegExp: true,
    inlineRefs: false,
  });
  for (const keyword of keywords()) ajv.addKeyword(keyword);
  const names: Record<string, string> = {};
  for (const [name, tool] of tools) {
    ajv.addSchema({ $id: name, ...inputCheck(tool) });
    names[name] = name;
  }
  return standaloneCode(ajv, names);
}

function inputCheck(tool: Tool): AnySchemaObject {
  const definitions = record(tool.definitions.map(({ name, shape }) => [name, check(shape)] as const));
  return { ...objectCheck(tool.input), ...(tool.definitions.length === 0 ? {} : { $defs: definitions }) };
}

/** The schema that ajv compiles for a shape: types and constraints only, exact integers by a keyword of our own. */
function check(shape: Shape): AnySchemaObject {
  const constraints = Object.fromEntries(
    (shape.doc?.keywords ?? []).filter(([keyword]) => CHECKED.has(keyword)).map(([keyword, value]) => [keyword, value]),
  );
  switch (shape.kind) {
    case "json":
      if (shape.except === "null") return { not: { type: "null" }, ...constraints };
      return shape.except === "primitives" ? { type: ["object", "array"], ...constraints } : constraints;
    case "null":
    case "boolean":
      return { type: shape.kind };
    case "string":
      if (shape.pattern !== undefined && constraints.pattern !== undefined) {
        return { type: "string", allOf: [{ pattern: shape.pattern }], ...constraints };
      }
      return { type: "string", ...(shape.pattern === undefined ? {} : { pattern: shape.pattern }), ...constraints };
    case "date":
    case "bytes":
      return { type: "string" };
    case "number":
      return { type: shape.integer ? "integer" : "number", ...constraints };
    case "bigint":
      return {
        svcInteger: Object.fromEntries(Object.entries(constraints).map(([name, bound]) => [name, String(bound)])),
      };
    case "literal":
      return { enum: [...shape.values] };
    case "array":
      return { type: "array", items: check(shape.item), ...constraints };
    case "tuple":
      return { ...tupleCheck(shape), ...constraints };
    case "object":
      return objectCheck(shape);
    case "union":
      return { anyOf: shape.branches.map(check) };
    case "ref":
      return { $ref: `#/$defs/${shape.name}` };
  }
}

const CHECKED = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "uniqueItems",
]);

function tupleCheck({ items, optional, rest, tail }: TupleShape): AnySchemaObject {
  const least = items.length - optional + tail.length;
  return {
    type: "array",
    minItems: least,
    ...(items.length === 0 ? {} : { items: items.map(check) }),
    ...(rest === undefined
      ? { maxItems: items.length, ...(items.length === 0 ? {} : { additionalItems: false }) }
      : {}),
    ...(rest !== undefined && tail.length === 0
      ? { [items.length === 0 ? "items" : "additionalItems"]: check(rest) }
      : {}),
    ...(rest !== undefined && tail.length > 0 ? { svcTail: { rest: check(rest), ...tail.map(check) } } : {}),
  };
}

function objectCheck({ members, indexes, closed }: ObjectShape): AnySchemaObject {
  const patterns = indexes.flatMap(({ pattern, shape }) =>
    pattern === undefined ? [] : [[pattern, check(shape)] as const],
  );
  const rest = indexes.find(({ pattern }) => pattern === undefined);
  const proto = members.find(({ name }) => name === "__proto__");
  const plain = members.filter((member) => member !== proto);
  const schemaOf = ({ optional, shape }: (typeof members)[number]) => (optional ? orNull(check(shape)) : check(shape));
  return {
    type: "object",
    ...(plain.length === 0
      ? {}
      : { properties: record(plain.map((member) => [member.name, schemaOf(member)] as const)) }),
    required: plain.filter(({ optional }) => !optional).map(({ name }) => name),
    ...(proto === undefined ? {} : { svcProto: { required: !proto.optional, schema: schemaOf(proto) } }),
    ...(patterns.length === 0 ? {} : { patternProperties: record(patterns) }),
    ...(rest !== undefined
      ? { additionalProperties: check(rest.shape) }
      : closed || patterns.length > 0
        ? { additionalProperties: false }
        : {}),
  };
}

/** `null` stands for an absent member. */
function orNull(schema: AnySchemaObject): AnySchemaObject {
  if (typeof schema.type === "string" && schema.type !== "null") return { ...schema, type: [schema.type, "null"] };
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: "null" }] };
  return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: "null" }] };
}

function record(pairs: readonly (readonly [string, AnySchemaObject])[]): Record<string, AnySchemaObject> {
  return Object.fromEntries(pairs);
}

/** Keywords that JSON Schema has no equal for. */
function keywords(): CodeKeywordDefinition[] {
  return [
    {
      // An exact integer: a bigint, or a number without a fraction; bounds are compared exactly.
      keyword: "svcInteger",
      error: { message: "must be an integer", params: () => _`{type: "integer"}` },
      code(cxt: KeywordCxt): void {
        const { data } = cxt;
        const bounds = cxt.schema as Readonly<Record<string, string>>;
        cxt.fail(_`typeof ${data} != "bigint" && !Number.isInteger(${data})`);
        for (const [keyword, beyond] of BOUNDS) {
          const bound = bounds[keyword];
          if (bound !== undefined) cxt.fail(_`${data} ${new _Code(beyond)} ${new _Code(`${bound}n`)}`);
        }
        const { multipleOf } = bounds;
        if (multipleOf !== undefined) cxt.fail(_`BigInt(${data}) % ${new _Code(`${multipleOf}n`)} != 0`);
      },
    },
    {
      // The own member `__proto__`, which ajv passes over.
      keyword: "svcProto",
      type: "object",
      error: {
        message: "must have required property '__proto__'",
        params: () => _`{missingProperty: "__proto__"}`,
      },
      code(cxt: KeywordCxt): void {
        const { gen, data } = cxt;
        const { required } = cxt.schema as { required: boolean };
        const own = gen.const("own", _`Object.prototype.hasOwnProperty.call(${data}, "__proto__")`);
        if (required) cxt.fail(_`!${own}`);
        const valid = gen.name("valid");
        gen.var(valid, true);
        gen.if(own, () => {
          cxt.subschema({ keyword: "svcProto", schemaProp: "schema", dataProp: "__proto__" }, valid);
        });
        cxt.ok(valid);
      },
    },
    {
      // The middle and the end of [first, ...rest[], last]: `rest`, then the schemas of the last elements by number.
      keyword: "svcTail",
      type: "array",
      code(cxt: KeywordCxt): void {
        const { gen, data } = cxt;
        const { items } = cxt.parentSchema as { items?: unknown[] };
        const count = Object.keys(cxt.schema as object).length - 1;
        const valid = gen.name("valid");
        gen.var(valid, true);
        const end = gen.const("end", _`${data}.length - ${count}`);
        gen.forRange("i", items?.length ?? 0, end, (index) => {
          cxt.subschema({ keyword: "svcTail", schemaProp: "rest", dataProp: index, dataPropType: Type.Num }, valid);
          gen.if(_`!${valid}`, () => gen.break());
        });
        for (let each = 0; each < count; each++) {
          gen.if(valid, () => {
            const index = gen.const("index", _`${end} + ${each}`);
            cxt.subschema({ keyword: "svcTail", schemaProp: each, dataProp: index, dataPropType: Type.Num }, valid);
          });
        }
        cxt.ok(valid);
      },
    },
  ];
}

const BOUNDS = [
  ["minimum", "<"],
  ["maximum", ">"],
  ["exclusiveMinimum", "<="],
  ["exclusiveMaximum", ">="],
] as const;

/** The tree's constants and module form that TypeScript wants: no `require`, annotated exports. */
export function asTypeScript(code: string, names: readonly string[]): string {
  const helpers = new Map([
    ['require("ajv/dist/runtime/equal").default', "equal"],
    ['require("ajv/dist/runtime/ucs2length").default', "ucs2length"],
  ]);
  let text = code.replace(/^"use strict";\n?/, "").replace(/^\/\*# sourceURL=.*\*\/;\n/gm, "");
  const used: string[] = [];
  for (const [call, name] of helpers) {
    if (!text.includes(call)) continue;
    used.push(name);
    text = text.replaceAll(call, name);
  }
  for (const name of names) text = text.replace(`export const ${name} = `, `export const ${name}: Validator = `);
  if (/\brequire\s*\(/.test(text)) throw new Error("a validator needs a helper that svc-runtime does not have");
  const imports = used.length === 0 ? "" : `import { ${used.join(", ")} } from "svc-runtime/v1";\n`;
  return `import type { Validator } from "svc-runtime/v1";\n${imports}\n${text.trim()}\n`;
}
