/**
 * Model -> precompiled validators (ajv standalone code). They check the tree before conversion, so an exact integer may be
 * a bigint there and dates and bytes are still texts; the decoder checks the rest of those.
 */

import { createRequire } from "node:module";
import type { Ajv, AnySchemaObject, Code, CodeKeywordDefinition, CodeOptions, Format, KeywordCxt } from "ajv";
import { contentHash } from "./content.js";
import { FORMATS, isCheckedFormat } from "./formats.js";
import { type Definition, forEachRef, type ObjectShape, type Shape, type Tool, type TupleShape } from "./model.js";
import { escaped } from "./render.js";

const require = createRequire(import.meta.url);
const { _, str } = require("ajv/dist/compile/codegen") as typeof import("ajv/dist/compile/codegen/index.js");
const { _Code } = require("ajv/dist/compile/codegen/code") as typeof import("ajv/dist/compile/codegen/code.js");
const { callRef } = require("ajv/dist/vocabularies/core/ref") as typeof import("ajv/dist/vocabularies/core/ref.js");
const { ValueScope } = require("ajv/dist/compile/codegen/scope") as typeof import("ajv/dist/compile/codegen/scope.js");
const { Type } = require("ajv/dist/compile/util") as typeof import("ajv/dist/compile/util.js");

/** A validator as code: an expression whose value is the function. */
export interface ValidatorCode {
  readonly code: string;
  /** What it takes from `svc-runtime/v1`. */
  readonly helpers: readonly string[];
}

/** The validator of a tool's input, and the names of those of the definitions that it needs. */
export interface ToolValidators {
  readonly input: ValidatorCode;
  readonly definitions: readonly string[];
}

/** The validators of definitions, by name. */
export type Definitions = Readonly<Record<string, ValidatorCode>>;

/**
 * Writes validators, each on its own: its code depends on what it checks and on nothing beside it. A definition is named
 * after its content, so that those that are the same in several tools, with all that they refer to, have one function.
 */
export class Validators {
  private readonly known: Map<string, ValidatorCode>;
  private ajv: Ajv | undefined;

  /** `known` ones are not written again. */
  constructor(known: Definitions = {}) {
    this.known = new Map(Object.entries(known));
  }

  of(tool: Tool): ToolValidators {
    const shapes = new Map(tool.definitions.map(({ name, shape }) => [name, shape]));
    const names = new Map<string, string>();
    const ref: Ref = (name) => {
      const met = names.get(name);
      if (met !== undefined) return { svcRef: met };
      const text = JSON.stringify(reachable(name, shapes), withoutPlaces);
      const unique = `check${name}_${contentHash(text).slice(0, 12)}`;
      names.set(name, unique);
      // Made even when its code is known: it may refer to others.
      const schema = check(shapes.get(name) ?? { kind: "json" }, { ...DECODED, ref });
      if (!this.known.has(unique)) this.known.set(unique, this.code(schema));
      return { svcRef: unique };
    };
    const input = this.code(objectCheck(tool.input, { ...DECODED, ref }));
    return { input, definitions: [...names.values()] };
  }

  private code(schema: AnySchemaObject): ValidatorCode {
    this.ajv ??= openWriter();
    return compile(this.ajv, schema);
  }

  /** The definitions that the tools need. */
  named(tools: Iterable<{ readonly validators: ToolValidators }>): Definitions {
    const needed = new Set([...tools].flatMap(({ validators }) => validators.definitions));
    return Object.fromEntries([...this.known].filter(([name]) => needed.has(name)));
  }
}

function openWriter(): Ajv {
  // Its optimizer takes as long as everything else, to remove what `tidy` removes; the function is not run here.
  const process = () => "return () => true";
  return openAjv({ source: true, esm: true, lines: true, optimize: false, process, formats: _`formats` });
}

/** The code of one schema, in a scope of its own, where ajv's names mean nothing to other validators. */
function compile(ajv: Ajv, schema: AnySchemaObject): ValidatorCode {
  const { default: standaloneCode } = require("ajv/dist/standalone") as typeof import("ajv/dist/standalone/index.js");
  const { text, helpers } = withoutRequire(standaloneCode(ajv, ajv.compile(schema)));
  forget(ajv);
  const body = tidy(text.replace(/^"use strict";\nexport const validate = (\w+);\nexport default \1;\n/, ""));
  return { code: `(() => {\n${escaped(body.trim())}\nreturn validate0;\n})()`, helpers };
}

/** Leaves ajv as it was opened: no schema is known, no name is taken. */
function forget(ajv: Ajv): void {
  ajv.removeSchema();
  Object.assign(ajv, { scope: new ValueScope({ ...ajv.scope.opts, scope: {} }) });
}

/** Without blocks that do nothing and constants that nobody looks at. No token spans lines, so a line is what it seems. */
function tidy(code: string): string {
  let text = code;
  for (let before = ""; before !== text; ) {
    before = text;
    text = text.replace(/^(?:else |if\([\w !=]*\))\{\n\}\n(?!else\b)/gm, "");
  }
  const uses = new Map<string, number>();
  for (const [name] of text.matchAll(/\b(?:_errs\d+|schema0)\b/g)) uses.set(name, (uses.get(name) ?? 0) + 1);
  return text.replace(/^const (_errs\d+|schema0) = .*;\n/gm, (line, name: string) =>
    uses.get(name) === 1 ? "" : line,
  );
}

/** What says why a tree does not fit a shape; undefined when it does. Dates and bytes are checked too, as far as texts go. */
export function openChecker(definitions: readonly Definition[]): (shape: Shape, tree: unknown) => string | undefined {
  const ajv = openAjv({});
  const whole = {
    date: { type: "string", format: "date-time" },
    bytes: { type: "string", pattern: "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$" },
  };
  const dialect: Dialect = { ...whole, ref: (name) => ({ $ref: `definition_${name}` }) };
  for (const { name, shape } of definitions) ajv.addSchema({ $id: `definition_${name}`, ...check(shape, dialect) });
  return (shape, tree) => {
    const validate = ajv.compile(check(shape, dialect));
    if (validate(tree)) return undefined;
    // The deepest complaint is of the branch that was closest; at one depth the last is that of the whole union.
    const depth = ({ instancePath }: { readonly instancePath: string }) => instancePath.split("/").length;
    const told = (validate.errors ?? []).toSorted((one, other) => depth(one) - depth(other)).at(-1);
    const what = told?.keyword === "anyOf" ? "fits no part of the union" : told?.message;
    return `${told?.instancePath || "it"} ${what}`;
  };
}

/**
 * ajv for these checks. The dialect is ajv's own, draft 7 with the keywords below: the 2020-12 front door adds bookkeeping
 * for unevaluated members to every validator. What is published is 2020-12 (schema.ts).
 */
function openAjv(code: CodeOptions): Ajv {
  const { Ajv } = require("ajv") as typeof import("ajv");
  const ajv = new Ajv({
    code,
    meta: false,
    ownProperties: true,
    strict: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    allowUnionTypes: true,
    validateSchema: false,
    unicodeRegExp: true,
    inlineRefs: false,
  });
  for (const keyword of keywords()) ajv.addKeyword(keyword);
  const { fullFormats } = require("ajv-formats/dist/formats") as typeof import("ajv-formats/dist/formats.js");
  for (const name of FORMATS) ajv.addFormat(name, asFunction(fullFormats[name]));
  return ajv;
}

/** A format as a function: of a regular expression ajv would print the text into every validator. */
function asFunction(format: Format): (text: string) => boolean {
  if (format instanceof RegExp) return (text) => format.test(text);
  const test = typeof format === "object" ? format.validate : format;
  return test as (text: string) => boolean;
}

/** What stands for types that have no JSON Schema of their own, and for references. */
interface Dialect {
  readonly date: AnySchemaObject;
  readonly bytes: AnySchemaObject;
  readonly ref: Ref;
}

/** The decoder checks dates and bytes before a validator sees the tree. */
const DECODED = { date: { type: "string" }, bytes: { type: "string" } };

/** The schema that stands for a definition, by its name within the tool. */
type Ref = (name: string) => AnySchemaObject;

/** A definition and all that it refers to, by name, in the order of meeting. */
function reachable(name: string, shapes: ReadonlyMap<string, Shape>): [string, Shape | undefined][] {
  const found = new Map<string, Shape | undefined>();
  const visit = (each: string): void => {
    if (found.has(each)) return;
    const shape = shapes.get(each);
    found.set(each, shape);
    if (shape !== undefined) forEachRef(shape, visit);
  };
  visit(name);
  return [...found];
}

/** What a check does not depend on is left out of its text; bigints have none of their own. */
function withoutPlaces(key: string, value: unknown): unknown {
  if (key === "place" || key === "subject" || key === "description") return undefined;
  return typeof value === "bigint" ? `${value}n` : value;
}

/** The schema that ajv compiles for a shape: types and constraints only, exact integers by a keyword of our own. */
function check(shape: Shape, dialect: Dialect): AnySchemaObject {
  const inner = (each: Shape) => check(each, dialect);
  const constraints = Object.fromEntries(
    (shape.doc?.keywords ?? []).filter(isChecked).map(([keyword, value]) => [keyword, value]),
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
      return dialect[shape.kind];
    case "number":
      return { type: shape.integer ? "integer" : "number", ...constraints };
    case "bigint":
      return {
        svcInteger: Object.fromEntries(Object.entries(constraints).map(([name, bound]) => [name, String(bound)])),
      };
    case "literal":
      return { enum: [...shape.values] };
    case "array":
      return { type: "array", items: inner(shape.item), ...constraints };
    case "tuple":
      return { ...tupleCheck(shape, inner), ...constraints };
    case "object":
      return objectCheck(shape, dialect);
    case "union":
      return { anyOf: shape.branches.map(inner) };
    case "ref":
      return dialect.ref(shape.name);
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

function isChecked([keyword, value]: readonly [string, unknown]): boolean {
  return CHECKED.has(keyword) || (keyword === "format" && isCheckedFormat(value));
}

function tupleCheck(
  { items, optional, rest, tail }: TupleShape,
  inner: (shape: Shape) => AnySchemaObject,
): AnySchemaObject {
  const least = items.length - optional + tail.length;
  return {
    type: "array",
    minItems: least,
    ...(items.length === 0 ? {} : { items: items.map(inner) }),
    ...(rest === undefined
      ? { maxItems: items.length, ...(items.length === 0 ? {} : { additionalItems: false }) }
      : {}),
    ...(rest !== undefined && tail.length === 0
      ? { [items.length === 0 ? "items" : "additionalItems"]: inner(rest) }
      : {}),
    ...(rest !== undefined && tail.length > 0 ? { svcTail: { rest: inner(rest), ...tail.map(inner) } } : {}),
  };
}

function objectCheck({ members, indexes, closed }: ObjectShape, dialect: Dialect): AnySchemaObject {
  const inner = (shape: Shape) => check(shape, dialect);
  const patterns = indexes.flatMap(({ pattern, shape }) =>
    pattern === undefined ? [] : [[pattern, inner(shape)] as const],
  );
  const rest = indexes.find(({ pattern }) => pattern === undefined);
  const proto = members.find(({ name }) => name === "__proto__");
  const plain = members.filter((member) => member !== proto);
  const schemaOf = ({ optional, shape }: (typeof members)[number]) => (optional ? orNull(inner(shape)) : inner(shape));
  return {
    type: "object",
    ...(plain.length === 0
      ? {}
      : { properties: record(plain.map((member) => [member.name, schemaOf(member)] as const)) }),
    required: plain.filter(({ optional }) => !optional).map(({ name }) => name),
    ...(proto === undefined ? {} : { svcProto: { required: !proto.optional, schema: schemaOf(proto) } }),
    ...(patterns.length === 0 ? {} : { patternProperties: record(patterns) }),
    ...(rest !== undefined
      ? { additionalProperties: inner(rest.shape) }
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
      // A definition, whose validator is a function of its own.
      keyword: "svcRef",
      code: (cxt: KeywordCxt) => callRef(cxt, new _Code(cxt.schema as string)),
    },
    {
      // An exact integer: a bigint, or a number without a fraction; bounds are compared exactly.
      keyword: "svcInteger",
      error: {
        message: ({ params }) => params.message as Code,
        params: ({ params }) => params.params as Code,
      },
      code(cxt: KeywordCxt): void {
        const { data } = cxt;
        const bounds = cxt.schema as Readonly<Record<string, string>>;
        const fail = (condition: Code, message: string, params: Code) => {
          cxt.setParams({ message: str`${message}`, params });
          cxt.fail(condition);
        };
        const isNone = _`typeof ${data} != "bigint" && !Number.isInteger(${data})`;
        fail(isNone, "must be an integer", _`{type: "integer"}`);
        for (const [keyword, beyond, comparison] of BOUNDS) {
          const bound = bounds[keyword];
          if (bound === undefined) continue;
          const limit = _`{comparison: ${comparison}, limit: ${bound}}`;
          fail(_`${data} ${new _Code(beyond)} ${new _Code(`${bound}n`)}`, `must be ${comparison} ${bound}`, limit);
        }
        const { multipleOf } = bounds;
        if (multipleOf !== undefined) {
          const condition = _`BigInt(${data}) % ${new _Code(`${multipleOf}n`)} != 0`;
          fail(condition, `must be multiple of ${multipleOf}`, _`{multipleOf: ${multipleOf}}`);
        }
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
  ["minimum", "<", ">="],
  ["maximum", ">", "<="],
  ["exclusiveMinimum", "<=", ">"],
  ["exclusiveMaximum", ">=", "<"],
] as const;

const HELPERS = new Map([
  ['require("ajv/dist/runtime/equal").default', "equal"],
  ['require("ajv/dist/runtime/ucs2length").default', "ucs2length"],
]);

/** Code that takes ajv's helpers from `svc-runtime`. */
function withoutRequire(code: string): { text: string; helpers: string[] } {
  let text = code;
  const helpers: string[] = [];
  for (const [call, name] of HELPERS) {
    if (!text.includes(call)) continue;
    helpers.push(name);
    text = text.replaceAll(call, name);
  }
  if (/^const \w+ = formats[.[]/m.test(text)) helpers.push("formats");
  if (/\brequire\s*\(/.test(text)) throw new Error("a validator needs a helper that svc-runtime does not have");
  return { text, helpers };
}

/** The module that exports the tools' validators under `names`, definitions after the tool that needs them first. */
export function validatorModule(
  tools: readonly (readonly [name: string, validators: ToolValidators])[],
  definitions: Definitions,
): string {
  const helpers = new Set<string>();
  const lines: string[] = [];
  const written = new Set<string>();
  const write = (start: string, { code, helpers: used }: ValidatorCode): void => {
    for (const helper of used) helpers.add(helper);
    lines.push(`// prettier-ignore\n${start}: Validator = ${code};\n`);
  };
  for (const [name, { input, definitions: needed }] of tools) {
    write(`export const ${name}`, input);
    for (const unique of needed) {
      if (!written.has(unique)) write(`const ${unique}`, definitions[unique] as ValidatorCode);
      written.add(unique);
    }
  }
  const imports = helpers.size === 0 ? "" : `import { ${[...helpers].sort().join(", ")} } from "svc-runtime/v1";\n`;
  return `import type { Validator } from "svc-runtime/v1";\n${imports}\n${lines.join("\n")}`;
}
