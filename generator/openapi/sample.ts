/** Small valid values for a generated schema, for examples and for the first call of a tool. */

import { FORMAT_SAMPLES } from "../contract/format-samples.js";
import { dereferenced, listAt, namedSchemas, referenceOf, withKeyword } from "../contract/schema-reader.js";
import { type Json, JsonObject } from "../text/json.js";
import { wordOf } from "./pattern-word.js";

/**
 * Small valid value for a schema, preferably one of its examples or its default.
 *
 * @param root schema with the `$defs`
 * @param open references that are being followed; a list with such items stays empty, so that recursion ends
 */
export function sampleOf(
  schema: Json | undefined,
  root: Json | undefined = schema,
  open: readonly string[] = [],
): Json {
  if (!(schema instanceof JsonObject)) return null;
  const sample = (inner: Json | undefined) => sampleOf(inner, root, open);
  for (const name of ["examples", "enum", "anyOf", "oneOf", "type"]) {
    const list = schema.get(name);
    if (!Array.isArray(list)) continue;
    const [first = null] = list as Json[];
    if (name === "type") return sample(withKeyword(schema, "type", first));
    return name === "examples" || name === "enum" ? first : sample(first);
  }
  const fixed = schema.get("default") ?? schema.get("const");
  if (fixed !== undefined) return fixed;
  const reference = referenceOf(schema);
  if (reference !== undefined) {
    const target = root instanceof JsonObject ? dereferenced(schema, root) : undefined;
    return open.includes(reference) ? null : sampleOf(target, root, [...open, reference]);
  }
  switch (schema.get("type")) {
    case "object":
      return sampleObject(schema, sample);
    case "array":
      return sampleList(schema, sample, open);
    case "string":
      return sampleText(schema);
    case "integer":
    case "number":
      return sampleNumber(schema);
    case "boolean":
      return true;
    default:
      return null;
  }
}

/** Maximum number of items in a sample list, even if `minItems` is larger. */
const MAX_ITEMS = 256;

function sampleText(schema: JsonObject): string {
  const number = (name: string, otherwise: number) => Number(schema.get(name) ?? otherwise);
  const [min, max] = [number("minLength", 0), number("maxLength", Number.POSITIVE_INFINITY)];
  const pattern = schema.get("pattern");
  const format = FORMAT_SAMPLES[String(schema.get("format"))]?.[0];
  const plain = format ?? (schema.get("contentEncoding") === "base64" ? "AA==" : "text");
  if (typeof pattern === "string") return wordOf(pattern, min, max, plain) ?? plain;
  return plain === "text" ? plain.padEnd(min, "x").slice(0, max) : plain;
}

/** The simplest number within the limits. */
function sampleNumber(schema: JsonObject): Json {
  const limits = ["minimum", "exclusiveMinimum", "multipleOf", "maximum", "exclusiveMaximum"] as const;
  const [min, above, step, max, below] = limits.map((name) => schema.get(name) as number | bigint | undefined);
  const next = (limit: number | bigint | undefined, by: 1 | -1) =>
    typeof limit === "bigint" ? limit + BigInt(by) : limit === undefined ? undefined : limit + by;
  const between = min !== undefined && max !== undefined ? (Number(min) + Number(max)) / 2 : undefined;
  const fits = (each: number | bigint) =>
    (min === undefined || each >= min) &&
    (above === undefined || each > above) &&
    (max === undefined || each <= max) &&
    (below === undefined || each < below) &&
    (step === undefined || Number(each) % Number(step) === 0);
  const wanted = [min ?? 1n, step, 1n, 0n, next(above, 1), max, next(below, -1), between];
  return wanted.find((each) => each !== undefined && fits(each)) ?? min ?? 1n;
}

function sampleObject(schema: JsonObject, sample: (schema: Json | undefined) => Json): JsonObject {
  const required = listAt(schema, "required");
  const members = [...namedSchemas(schema, "properties")].filter(([name]) => required.includes(name));
  return new JsonObject(new Map(members.map(([name, each]) => [name, sample(each)])));
}

/** All elements of a tuple, otherwise one item. */
function sampleList(schema: JsonObject, sample: (schema: Json | undefined) => Json, open: readonly string[]): Json[] {
  const places = schema.get("prefixItems");
  if (Array.isArray(places)) return (places as Json[]).map(sample);
  const items = schema.get("items");
  const reference = referenceOf(items);
  if (reference !== undefined && open.includes(reference)) return [];
  const length = schema.get("uniqueItems") === true ? 1 : Math.max(1, Number(schema.get("minItems") ?? 1));
  return Array.from({ length: Math.min(length, MAX_ITEMS) }, () => sample(items));
}
