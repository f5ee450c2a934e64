/**
 * Represents 64-bit integers as strings of decimal digits, in schemas and values for MCP clients, which read JSON
 * numbers as doubles and would round them.
 */

import { createRequire } from "node:module";
import type { AnySchema, ValidateFunction } from "ajv";
import { pathText } from "svc-runtime/internal/generator";
import { nestingOf, pointerStep, referenceSteps, resolveReference } from "../contract/schema-reader.js";

/** A JSON object. Integers beyond ±(2^53−1) are bigints. */
export type Plain = { readonly [name: string]: unknown };

/** Thrown for an integer argument that the client has rounded. The message has its path and the expected format. */
export class RoundedInteger extends Error {}

const DIGITS = "^-?(?:0|[1-9][0-9]*)$";
const digits = new RegExp(DIGITS);
const NARROW: ReadonlySet<unknown> = new Set(["int8", "int16", "int32", "uint8", "uint16", "uint32"]);
const WIDE: ReadonlySet<unknown> = new Set(["int64", "uint64", "int", "uint", "int128", "uint128"]);

export function isPlain(value: unknown): value is Plain {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function mapEntries(object: Plain, change: (value: unknown, name: string) => unknown): Plain {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));
}

/** Whether a schema, by its format or bounds, allows integers that a double cannot represent. */
function isWide({ type, format, minimum, maximum }: Plain): boolean {
  if (![type].flat().includes("integer") || NARROW.has(format)) return false;
  return WIDE.has(format) || !(Number.isSafeInteger(minimum) && Number.isSafeInteger(maximum));
}

/**
 * Returns the schema for MCP clients, in which integers that may exceed 2^53 are strings of digits.
 *
 * @param lenient whether such integers may also be JSON numbers, as {@link ExactIntegers.inward} accepts them
 */
export function digitSchema(schema: unknown, lenient = false): unknown {
  if (!isPlain(schema)) return schema;
  const changed = isWide(schema) ? digitNode(schema, lenient) : schema;
  return mapEntries(changed, (value, name) => {
    const nesting = nestingOf(name, value);
    if (nesting === "one") return digitSchema(value, lenient);
    if (nesting === "list") return (value as readonly unknown[]).map((each) => digitSchema(each, lenient));
    if (nesting === "named" && isPlain(value)) return mapEntries(value, (each) => digitSchema(each, lenient));
    return doubles(value);
  });
}

function digitNode(schema: Plain, lenient: boolean): Plain {
  const { type, format, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, description, ...rest } =
    schema;
  const kinds = [type].flat().map((kind) => (kind === "integer" ? "string" : kind));
  const all = [...new Set(lenient ? [...kinds, "integer"] : kinds)];
  const limits = Object.entries({
    "at least": minimum ?? (format === "uint64" || format === "uint" ? 0 : undefined),
    "at most": maximum,
    "more than": exclusiveMinimum,
    "less than": exclusiveMaximum,
    "a multiple of": multipleOf,
  }).flatMap(([words, limit]) => (limit === undefined ? [] : `, ${words} ${limit}`));
  const about = `An integer as decimal digits${limits.join("")}.`;
  return {
    type: all.length === 1 ? all[0] : all,
    // A text that is not an integer is text.
    ...([type].flat().includes("string") ? {} : { pattern: DIGITS }),
    ...mapEntries(rest, texts),
    description: description === undefined ? about : `${String(description)} (${about})`,
  };
}

/** Converts the integers in `enum`, `const`, `default` and `examples` to strings. */
function texts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(texts);
  return typeof value === "number" || typeof value === "bigint" ? String(value) : value;
}

/** Converts bigints to the nearest doubles, for ajv. */
function doubles(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Exact) return Number(value.toJSON());
  if (Array.isArray(value)) return value.map(doubles);
  return isPlain(value) ? mapEntries(value, doubles) : value;
}

/** An integer given as digits, which is sent with the same digits. */
class Exact {
  readonly #value: bigint;
  constructor(text: string) {
    this.#value = BigInt(text);
  }
  toJSON(): bigint {
    return this.#value;
  }
}

type Convert = (schema: Plain, value: unknown, path: readonly (string | number)[]) => unknown;

/** Converts values of one schema. ajv selects the branch of a union. */
export class ExactIntegers {
  readonly #schema: Plain;
  readonly #judged: unknown;
  readonly #branches = new Map<string, ValidateFunction | undefined>();
  #ajv: import("ajv/dist/2020.js").Ajv2020 | undefined;

  /**
   * @param schema schema in the tool's metadata
   * @param judged schema that values match before their conversion, with the same structure as `schema`
   */
  constructor(schema: Plain, judged: unknown) {
    this.#schema = schema;
    this.#judged = judged;
  }

  /**
   * Converts a value for the tool: digits become integers.
   *
   * @throws RoundedInteger
   */
  inward(value: unknown): unknown {
    return this.#walk(this.#schema, [], value, [], inward);
  }

  /** Converts a value for the client: wide integers become digits. */
  outward(value: unknown): unknown {
    return undoubled(this.#walk(this.#schema, [], value, [], outward));
  }

  #walk(
    schema: unknown,
    pointer: readonly string[],
    value: unknown,
    path: readonly (string | number)[],
    convert: Convert,
    seen: ReadonlySet<string> = new Set(),
  ): unknown {
    if (!isPlain(schema)) return value;
    let now = value;
    const { $ref, anyOf, oneOf, allOf } = schema;
    if (typeof $ref === "string" && !seen.has($ref)) {
      const target = resolveReference(this.#schema, $ref);
      now = this.#walk(target, referenceSteps($ref) ?? [], now, path, convert, new Set([...seen, $ref]));
    }
    if (isWide(schema)) now = convert(schema, now, path);
    if (Array.isArray(allOf)) {
      for (const [i, each] of allOf.entries()) {
        now = this.#walk(each, [...pointer, "allOf", String(i)], now, path, convert, seen);
      }
    }
    for (const [name, branches] of Object.entries({ anyOf, oneOf })) {
      if (!Array.isArray(branches)) continue;
      const results = branches.flatMap((branch, i) => {
        const at = [...pointer, name, String(i)];
        return this.#fits(at, now) ? [{ to: this.#walk(branch, at, now, path, convert, seen) }] : [];
      });
      // A string that also fits a branch for text is not converted.
      now = (results.find(({ to }) => to === now) ?? results[0] ?? { to: now }).to;
    }
    if (Array.isArray(now)) return this.#items(schema, pointer, now, path, convert);
    if (isPlain(now) && !(now instanceof Exact)) return this.#members(schema, pointer, now, path, convert);
    return now;
  }

  #items(
    schema: Plain,
    pointer: readonly string[],
    value: readonly unknown[],
    path: readonly (string | number)[],
    convert: Convert,
  ): unknown {
    const { prefixItems, items } = schema;
    const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
    const at = Array.isArray(prefixItems) ? "prefixItems" : "items";
    const all = value.map((each, i) => {
      if (i < first.length) return this.#walk(first[i], [...pointer, at, String(i)], each, [...path, i], convert);
      return isPlain(items) ? this.#walk(items, [...pointer, "items"], each, [...path, i], convert) : each;
    });
    return all.every((each, i) => each === value[i]) ? value : all;
  }

  #members(
    schema: Plain,
    pointer: readonly string[],
    value: Plain,
    path: readonly (string | number)[],
    convert: Convert,
  ): unknown {
    const { properties, patternProperties, additionalProperties } = schema;
    let changed = false;
    const entries = Object.entries(value).map(([name, each]): [string, unknown] => {
      const steps = isPlain(properties) && Object.hasOwn(properties, name) ? ["properties", name] : undefined;
      const pattern = isPlain(patternProperties)
        ? Object.keys(patternProperties).find((text) => new RegExp(text, "u").test(name))
        : undefined;
      const at = steps ?? (pattern === undefined ? undefined : ["patternProperties", pattern]);
      const part = at === undefined ? additionalProperties : (schema[at[0] as string] as Plain)[at[1] as string];
      const to = this.#walk(part, [...pointer, ...(at ?? ["additionalProperties"])], each, [...path, name], convert);
      changed ||= to !== each;
      return [name, to];
    });
    return changed ? Object.fromEntries(entries) : value;
  }

  #fits(pointer: readonly string[], value: unknown): boolean {
    const key = pointer.map((step) => `/${encodeURIComponent(pointerStep(step))}`).join("");
    let validate = this.#branches.get(key);
    if (validate === undefined) {
      this.#ajv ??= newAjv(this.#judged);
      validate = this.#ajv.getSchema(`schema#${key}`);
      this.#branches.set(key, validate);
    }
    return validate?.(doubles(value)) === true;
  }
}

/**
 * Creates an ajv instance that only parses patterns, because a pattern from a foreign server may take exponential time.
 */
function newAjv(schema: unknown) {
  const { Ajv2020 } = createRequire(import.meta.url)("ajv/dist/2020") as typeof import("ajv/dist/2020.js");
  const regExp = Object.assign(
    (text: string) => (text === DIGITS ? digits : { test: () => true, source: new RegExp(text, "u").source }),
    { code: "" },
  );
  const lax = { strict: false, validateFormats: false, validateSchema: false, multipleOfPrecision: 6 };
  const ajv = new Ajv2020({ ...lax, code: { regExp } as never });
  return ajv.addSchema(doubles(schema) as AnySchema, "schema");
}

/** @returns a function that returns the reason why a value does not match a schema, or undefined if it matches */
export function judgeOf(schema: unknown): (value: unknown) => string | undefined {
  const validate = newAjv(schema).getSchema("schema");
  return (value) => {
    if (validate === undefined || validate(value)) return undefined;
    const [error] = validate.errors ?? [];
    return `${error?.instancePath || "/"} ${error?.message}`;
  };
}

const inward: Convert = ({ type }, value, path) => {
  if (typeof value === "string") {
    const mayBeText = [type].flat().includes("string");
    return digits.test(value) && !(mayBeText && isBeyond64Bits(value)) ? new Exact(value) : value;
  }
  if (typeof value === "number" ? !Number.isInteger(value) || Number.isSafeInteger(value) : typeof value !== "bigint") {
    return value;
  }
  throw new RoundedInteger(
    `${pathText(path)}: expected the integer as a string of digits, got a number beyond ±(2^53−1), which the client has probably rounded`,
  );
};

function isBeyond64Bits(text: string): boolean {
  return BigInt.asUintN(64, BigInt(text)) !== BigInt(text) && BigInt.asIntN(64, BigInt(text)) !== BigInt(text);
}

const outward: Convert = (_, value) =>
  typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value)) ? String(value) : value;

/** Converts bigints outside the contract, such as those of an `unknown` port, to digits. */
function undoubled(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return value.map(undoubled);
  return isPlain(value) ? mapEntries(value, undoubled) : value;
}
