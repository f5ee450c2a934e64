/** Reads JSON Schemas as data: references within one document, keywords, and nested schemas. */

import { MAX_VALUES } from "svc-runtime/internal/generator";
import { type Json, JsonObject, object } from "../text/json.js";

/**
 * Schema that a `$ref` refers to: a JSON pointer within the document. Undefined for any other reference.
 *
 * @param document a JsonObject, or a plain JavaScript object
 */
export function resolveReference(document: JsonObject, reference: string): Json | undefined;
export function resolveReference(document: object, reference: string): unknown;
export function resolveReference(document: object, reference: string): unknown {
  const steps = referenceSteps(reference);
  let at: unknown = steps === undefined ? undefined : document;
  for (const step of steps ?? []) {
    if (Array.isArray(at)) at = /^(?:0|[1-9]\d*)$/.test(step) ? at[Number(step)] : undefined;
    else if (at instanceof JsonObject) at = at.get(step);
    else at = at instanceof Object && Object.hasOwn(at, step) ? Reflect.get(at, step) : undefined;
  }
  return at;
}

/** Steps of a reference such as `#/$defs/Line`; undefined if it leads out of the document or is not a pointer. */
export function referenceSteps(reference: string): readonly string[] | undefined {
  if (!reference.startsWith("#")) return undefined;
  let pointer: string;
  try {
    pointer = decodeURIComponent(reference.slice(1));
  } catch {
    return undefined;
  }
  if (pointer === "") return [];
  const [root, ...steps] = pointer.split("/");
  return root === "" ? steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~")) : undefined;
}

/** JSON pointer of a referenced schema, appended to the pointer of its document. */
export function referencePointer(document: string, reference: string): string {
  return [document, ...(referenceSteps(reference) ?? []).map(pointerStep)].join("/");
}

/** Escapes a name as a segment of a JSON pointer (RFC 6901). */
export function pointerStep(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * Schema that a reference refers to, without the reference's sibling keywords; the schema itself if it has no
 * reference.
 */
export function dereferenced(schema: Json | undefined, document: JsonObject): Json | undefined {
  const reference = referenceOf(schema);
  return reference === undefined ? schema : resolveReference(document, reference);
}

export function referenceOf(schema: Json | undefined): string | undefined {
  const reference = keyword(schema, "$ref");
  return typeof reference === "string" ? reference : undefined;
}

/** Value of a keyword; undefined for `true`, `false` and values that are not schemas. */
export function keyword(schema: Json | undefined, name: string): Json | undefined {
  return schema instanceof JsonObject ? schema.get(name) : undefined;
}

/** The entries of a keyword that contains schemas by name; empty for any other value. */
export function namedSchemas(schema: Json | undefined, name: string): ReadonlyMap<string, Json> {
  const value = keyword(schema, name);
  return value instanceof JsonObject ? value.members : new Map();
}

/** The entries of a keyword that contains a list; empty for any other value. */
export function listAt(schema: Json | undefined, name: string): readonly Json[] {
  const value = keyword(schema, name);
  return Array.isArray(value) ? value : [];
}

/** Values that `const` or `enum` allows. */
export function valuesOf(schema: JsonObject): readonly Json[] | undefined {
  if (schema.members.has("const")) return [schema.get("const") as Json];
  const values = schema.get("enum");
  return Array.isArray(values) ? values : undefined;
}

/** The type names in `type`; empty if there is no `type`. */
export function typeNames(schema: JsonObject): readonly Json[] {
  return [schema.get("type") ?? []].flat() as readonly Json[];
}

/** The keywords for definitions, in 2020-12 and in older drafts. */
export const DEFINITIONS: readonly string[] = ["$defs", "definitions"];

export function withKeyword(schema: JsonObject, name: string, value: Json): JsonObject {
  return new JsonObject(new Map(schema.members).set(name, value));
}

export function withoutKeywords(schema: JsonObject, names: readonly string[]): JsonObject {
  return new JsonObject(new Map([...schema.members].filter(([name]) => !names.includes(name))));
}

/** Schema of an object with exactly one member, such as a variant of an output. */
export function singleMember(name: string, schema: Json): JsonObject {
  return object(
    ["type", "object"],
    ["properties", object([name, schema])],
    ["required", [name]],
    ["additionalProperties", false],
  );
}

/** Changes the schema of each property. */
export function withProperties(schema: JsonObject, change: (property: JsonObject) => Json): JsonObject {
  if (schema.get("properties") === undefined) return schema;
  const changed = [...namedSchemas(schema, "properties")].map(
    ([name, property]) => [name, property instanceof JsonObject ? change(property) : property] as const,
  );
  return withKeyword(schema, "properties", object(...changed));
}

/** Adds the limits of `many` ports to a schema of ports. Schemas in metadata do not contain them. */
export function withListBounds(ports: JsonObject, root: JsonObject): JsonObject {
  return withProperties(ports, (port) => boundedList(port, root));
}

/** Adds `minItems` and `maxItems` to the schema of a `many` port (protocol.md section 2). */
function boundedList(schema: JsonObject, root: JsonObject): Json {
  const target = dereferenced(schema, root);
  if (!(target instanceof JsonObject) || target.get("type") !== "array") return schema;
  const limit = (keyword: string, other: number) => {
    const value = target.get(keyword);
    return typeof value === "number" ? value : other;
  };
  const least = Math.max(1, limit("minItems", 1));
  const most = Math.min(MAX_VALUES, limit("maxItems", MAX_VALUES));
  return withKeyword(withKeyword(schema, "minItems", least), "maxItems", most);
}

/** Keywords that contain schemas. The values of all other keywords are data. */
const ONE = ["items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"];
const LIST = ["prefixItems", "anyOf", "oneOf", "allOf", "items"];
const NAMED = ["properties", "patternProperties", "dependentSchemas", ...DEFINITIONS];

/** How a keyword contains schemas: one, a list, or by name; undefined if it contains data. */
export function nestingOf(name: string, value: unknown): "one" | "list" | "named" | undefined {
  if (Array.isArray(value)) return LIST.includes(name) ? "list" : undefined;
  if (NAMED.includes(name)) return "named";
  return ONE.includes(name) ? "one" : undefined;
}

/** Replaces each direct subschema of a schema. */
export function mapSchemas(schema: JsonObject, change: (inner: Json) => Json): JsonObject {
  const entries = [...schema.members].map(([name, value]): [string, Json] => {
    const nesting = nestingOf(name, value);
    if (nesting === "one") return [name, change(value)];
    if (nesting === "list") return [name, (value as readonly Json[]).map(change)];
    if (nesting === undefined || !(value instanceof JsonObject)) return [name, value];
    return [name, new JsonObject(new Map([...value.members].map(([each, inner]) => [each, change(inner)])))];
  });
  return new JsonObject(new Map(entries));
}

/** Secret ports of an input schema, and whether each is required. */
export function secretPorts(schema: Json | undefined): ReadonlyMap<string, boolean> {
  if (!(schema instanceof JsonObject)) return new Map();
  const isSecret = (given: Json | undefined, hops = 0): boolean => {
    if (given === undefined || hops > MAX_HOPS) return false;
    if (keyword(given, "writeOnly") === true || isSecret(keyword(given, "items"), hops + 1)) return true;
    const target = dereferenced(given, schema);
    return target !== given && isSecret(target, hops + 1);
  };
  const secrets = [...namedSchemas(schema, "properties")].filter(([, property]) => isSecret(property));
  return new Map(secrets.map(([name]) => [name, listAt(schema, "required").includes(name)]));
}

const MAX_HOPS = 16;
