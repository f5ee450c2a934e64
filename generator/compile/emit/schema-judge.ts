/** Validates values against the published schemas, with ajv. */

import { createRequire } from "node:module";
import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import type { Ajv2020 } from "ajv/dist/2020.js";
import { FORMAT_NAMES } from "svc-runtime/internal/generator";
import { type Json, JsonObject, printJson } from "../../text/json.js";

const require = createRequire(import.meta.url);

/** ajv for JSON Schema 2020-12 in strict mode, which rejects unknown keywords and keywords without effect. */
export class SchemaJudge {
  readonly #ajv: Ajv2020;

  constructor() {
    const { Ajv2020 } = require("ajv/dist/2020") as typeof import("ajv/dist/2020.js");
    const { fullFormats } = require("ajv-formats/dist/formats") as typeof import("ajv-formats/dist/formats.js");
    const options = { strict: true, strictTypes: false, strictTuples: false, ownProperties: true };
    // By default ajv divides doubles, so 19.99 is not a multiple of 0.01.
    this.#ajv = new Ajv2020({ ...options, multipleOfPrecision: 6 });
    for (const name of FORMAT_NAMES) this.#ajv.addFormat(name, fullFormats[name as keyof typeof fullFormats]);
  }

  /**
   * Compiles a schema.
   *
   * @returns a function that returns the reason why a value does not fit, or undefined if it fits
   * @throws {Error} from ajv if the schema is invalid
   */
  compile(schema: JsonObject): (value: Json) => string | undefined {
    this.#knowFormats(schema);
    const validate = compileApart(this.#ajv, schema);
    return (value) => {
      // ajv does not support bigints, and distinct bigints may become equal as numbers, so values with a bigint are not
      // checked.
      if (hasBigint(value) || validate(JSON.parse(printJson(value)))) return undefined;
      const [error] = validate.errors ?? [];
      return `${error?.instancePath || "it"} ${error?.message}`;
    };
  }

  /** Registers formats that appear in schemas but are not checked. */
  #knowFormats(schema: Json): void {
    if (Array.isArray(schema)) {
      for (const each of schema) this.#knowFormats(each);
    } else if (schema instanceof JsonObject) {
      const format = schema.get("format");
      if (typeof format === "string" && !(format in this.#ajv.formats)) this.#ajv.addFormat(format, true);
      for (const each of schema.members.values()) this.#knowFormats(each);
    }
  }
}

/** Keyword used in place of `$ref`, for which ajv would compile a referenced type inside the referring one. */
const NAMED = "svc-gen-ref";

/**
 * Compiles a schema and, separately, each of its definitions. ajv would compile definitions inside one another, and a
 * chain of a few hundred would overflow the stack.
 *
 * @throws {Error} from ajv if the schema is invalid
 */
export function compileApart(ajv: Ajv | Ajv2020, schema: JsonObject): ValidateFunction {
  const { $schema: _, ...root } = JSON.parse(printJson(schema), (_, value) => {
    if (typeof value?.$ref !== "string") return value;
    const { $ref, ...others } = value;
    return { ...others, [NAMED]: $ref };
  });
  const { $defs = {}, definitions = {}, ...alone } = root;
  const named = new Map<string, object>(Object.entries({ ...$defs, ...definitions }));
  const compiled = new Map<string, ValidateFunction>();
  ajv.removeKeyword(NAMED).addKeyword({
    keyword: NAMED,
    compile: (reference: string) => {
      const name = decodeURIComponent(reference.split("/")[2] ?? "");
      if (!named.has(name)) throw new Error(`nothing is at ${reference}`);
      const validate = (...given: Parameters<ValidateFunction>) => {
        const target = compiled.get(name) as ValidateFunction;
        const fits = target(...given);
        validate.errors = target.errors ?? [];
        return fits;
      };
      validate.errors = [] as ErrorObject[];
      return validate;
    },
  });
  for (const [name, definition] of named) compiled.set(name, ajv.compile(definition));
  return ajv.compile(alone);
}

function hasBigint(json: Json): boolean {
  if (Array.isArray(json)) return json.some(hasBigint);
  return typeof json === "bigint" || (json instanceof JsonObject && [...json.members.values()].some(hasBigint));
}
