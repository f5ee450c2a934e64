/** Merges several schemas that apply to the same value (`allOf`, sibling keywords of `$ref`) into one. */

import { ANNOTATIONS } from "../compile/keywords.js";
import { namedSchemas } from "../contract/schema-reader.js";
import { type Json, JsonObject, object, printJson } from "../text/json.js";

/** Thrown if two schemas cannot be expressed as one schema. */
export class UnmergeableSchemas extends Error {}

/** @throws UnmergeableSchemas */
export function mergeSchemas(schemas: readonly JsonObject[]): JsonObject {
  const [first, ...more] = schemas;
  if (first === undefined) return object();
  for (const schema of schemas) checkClosed(schema, schemas);
  return more.reduce(mergeTwo, first);
}

/** If a schema forbids additional properties, it must declare every member of the others. */
function checkClosed(schema: JsonObject, all: readonly JsonObject[]): void {
  const rest = schema.get("additionalProperties");
  if (rest === undefined || rest === true) return;
  const own = namedSchemas(schema, "properties");
  if (all.some((other) => [...namedSchemas(other, "properties").keys()].some((name) => !own.has(name)))) {
    throw new UnmergeableSchemas();
  }
}

function mergeTwo(one: JsonObject, other: JsonObject): JsonObject {
  const members = new Map(one.members);
  for (const [keyword, value] of other.members) {
    const known = members.get(keyword);
    if (known === undefined || isSame(known, value) || ANNOTATIONS.includes(keyword)) members.set(keyword, value);
    else members.set(keyword, both(keyword, known, value));
  }
  return new JsonObject(members);
}

const HIGHER = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const LOWER = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];

function both(keyword: string, one: Json, other: Json): Json {
  if (keyword === "properties" && one instanceof JsonObject && other instanceof JsonObject) {
    const members = new Map(one.members);
    for (const [name, schema] of other.members) {
      const known = members.get(name);
      const merged = known === undefined || isSame(known, schema) ? schema : allOf(known, schema);
      members.set(name, merged);
    }
    return new JsonObject(members);
  }
  if (keyword === "required" && Array.isArray(one) && Array.isArray(other)) return [...new Set([...one, ...other])];
  if (keyword === "type") {
    const others = new Set([other].flat());
    const types = [one].flat().filter((type) => others.has(type));
    if (types.length > 0) return types.length === 1 ? (types[0] as Json) : types;
    if ([one, other].every((type) => type === "integer" || type === "number")) return "integer";
  }
  if (keyword === "enum" && Array.isArray(one) && Array.isArray(other)) {
    const others = new Set(other.map(printJson));
    const values = one.filter((value) => others.has(printJson(value)));
    if (values.length > 0) return values;
  }
  if (keyword === "items") return allOf(one, other);
  if (typeof one === "number" && typeof other === "number") {
    if (HIGHER.includes(keyword)) return Math.max(one, other);
    if (LOWER.includes(keyword)) return Math.min(one, other);
  }
  throw new UnmergeableSchemas();
}

export function allOf(one: Json, other: Json): JsonObject {
  return object(["allOf", [one, other]]);
}

/** Whether two values are the same JSON; the order of members counts. */
export function isSame(one: Json, other: Json): boolean {
  return one === other || printJson(one) === printJson(other);
}
