/**
 * A schema -> the code of its validator, by ajv, which is loaded when the first one is written: that may be on another
 * thread (ahead.ts). What is written depends on the schema and on nothing before it.
 */

import { createRequire } from "node:module";
import type { Ajv, AnySchemaObject, Code, CodeKeywordDefinition, CodeOptions, Format, KeywordCxt } from "ajv";
import { FORMATS } from "./formats.js";
import { escaped } from "./literal.js";

const require = createRequire(import.meta.url);

/** A validator as code: an expression whose value is the function. */
export interface ValidatorCode {
  readonly code: string;
  /** What it takes from `svc-runtime/v1`. */
  readonly helpers: readonly string[];
}

/** Writes validators. */
export class ValidatorWriter {
  private ajv: Ajv | undefined;

  /** The code of one schema, in a scope of its own, where ajv's names mean nothing to other validators. */
  write(schema: AnySchemaObject): ValidatorCode {
    this.ajv ??= openWriter();
    const { default: standaloneCode } = require("ajv/dist/standalone") as typeof import("ajv/dist/standalone/index.js");
    const { text, helpers } = withoutRequire(compiled(this.ajv, (ajv) => standaloneCode(ajv, ajv.compile(schema))));
    const body = tidy(text.replace(/^"use strict";\nexport const validate = (\w+);\nexport default \1;\n/, ""));
    return { code: `(() => {\n${escaped(body.trim())}\nreturn validate0;\n})()`, helpers };
  }
}

function openWriter(): Ajv {
  const { _ } = codegen();
  // Its optimizer takes as long as everything else, to remove what `tidy` removes; the function is not run here.
  const process = () => "return () => true";
  return openAjv({ source: true, esm: true, lines: true, optimize: false, process, formats: _`formats` });
}

/** What ajv makes; it is left as it was opened, however that ends: no schema is known, no name is taken. */
function compiled(ajv: Ajv, make: (ajv: Ajv) => string): string {
  const { ValueScope } =
    require("ajv/dist/compile/codegen/scope") as typeof import("ajv/dist/compile/codegen/scope.js");
  try {
    return make(ajv);
  } finally {
    ajv.removeSchema();
    Object.assign(ajv, { scope: new ValueScope({ ...ajv.scope.opts, scope: {} }) });
  }
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

function codegen(): typeof import("ajv/dist/compile/codegen/index.js") {
  return require("ajv/dist/compile/codegen");
}

/**
 * ajv for these checks. The dialect is ajv's own, draft 7 with the keywords below: the 2020-12 front door adds bookkeeping
 * for unevaluated members to every validator. What is published is 2020-12 (schema.ts).
 */
export function openAjv(code: CodeOptions): Ajv {
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

/** Keywords that JSON Schema has no equal for. */
function keywords(): CodeKeywordDefinition[] {
  const { _, str } = codegen();
  const { _Code } = require("ajv/dist/compile/codegen/code") as typeof import("ajv/dist/compile/codegen/code.js");
  const { callRef } = require("ajv/dist/vocabularies/core/ref") as typeof import("ajv/dist/vocabularies/core/ref.js");
  const { Type } = require("ajv/dist/compile/util") as typeof import("ajv/dist/compile/util.js");
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
