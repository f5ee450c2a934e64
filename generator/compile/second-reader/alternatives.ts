/**
 * Common form of draft 7 schemas from typescript-json-schema and 2020-12 schemas from svc-gen: the alternatives that a
 * schema accepts.
 */

import { keyword, listAt, namedSchemas, referenceOf, typeNames, valuesOf } from "../../contract/schema-reader.js";
import { type Json, JsonObject, object, printJson } from "../../text/json.js";

/** Alternatives of one level: schemas of members and items are kept as they are. */
export interface Alternatives {
  readonly any: boolean;
  /** Kinds of scalars and literals, as messages name them: `string`, `date-time`, `"a"`, `null`. */
  readonly scalars: ReadonlySet<string>;
  readonly patterns: ReadonlySet<string>;
  readonly objects: readonly ObjectForm[];
  readonly lists: readonly ListForm[];
}

export interface ObjectForm {
  /** Schema of the alternative; also its identity. */
  readonly node: JsonObject;
  readonly members: ReadonlyMap<string, { readonly schema: Json; readonly required: boolean }>;
  readonly patterns: ReadonlyMap<string, Json>;
  /** Schema of all other members: `true` allows any, `false` none. */
  readonly others: Json;
}

export interface ListForm {
  readonly node: JsonObject;
  readonly items: readonly Json[];
  /** Schema of the items after the listed ones: `true` allows any, `false` none. */
  readonly others: Json;
  /** Minimum number of items. */
  readonly least: number;
}

/** @param root schema that contains the definitions */
export function alternativesOf(schema: Json, root: JsonObject): Alternatives {
  const found = { any: false, scalars: new Set<string>(), patterns: new Set<string>() };
  const objects: ObjectForm[] = [];
  const lists: ListForm[] = [];
  const open = new Set<Json>();
  const visit = (each: Json): void => {
    if (each === false || isImpossible(each, root) || open.has(each)) return;
    open.add(each);
    const node = each instanceof JsonObject ? each : object();
    const values = valuesOf(node);
    const branches = list(node.get("anyOf")) ?? list(node.get("oneOf"));
    const types = typeNames(node);
    if (referenceOf(node) !== undefined) visit(target(node, root));
    else if (branches !== undefined) branches.forEach(visit);
    else if (values !== undefined) for (const value of values) found.scalars.add(printJson(value));
    else if (types.length === 0) found.any = true;
    else for (const type of types) addType(type, node);
  };
  const addType = (type: Json, node: JsonObject): void => {
    if (type === "object") objects.push(objectForm(node, root));
    else if (type === "array") lists.push(listForm(node, root));
    else if (type === "boolean") found.scalars.add("true").add("false");
    else if (type === "string") {
      const pattern = node.get("pattern");
      if (typeof pattern === "string") found.patterns.add(pattern);
      else found.scalars.add(String(node.get("contentEncoding") ?? node.get("format") ?? "string"));
    } else found.scalars.add(String(type));
  };
  visit(schema);
  return { ...found, objects, lists };
}

function objectForm(node: JsonObject, root: JsonObject): ObjectForm {
  const required = listAt(node, "required");
  const members = [...namedSchemas(node, "properties")].map(
    ([name, schema]) => [name, { schema, required: required.includes(name) }] as const,
  );
  return {
    node,
    members: new Map(members),
    patterns: namedSchemas(node, "patternProperties"),
    others: othersOf(node.get("additionalProperties"), root),
  };
}

function listForm(node: JsonObject, root: JsonObject): ListForm {
  const items = node.get("items");
  const places = list(node.get("prefixItems")) ?? list(items) ?? [];
  const further = Array.isArray(items) || items === undefined ? node.get("additionalItems") : items;
  const others = othersOf(further, root);
  const most = node.get("maxItems");
  const isFixed = typeof most === "number" && most === places.length;
  return { node, items: places, others: isFixed ? false : others, least: Number(node.get("minItems") ?? 0) };
}

/** Schema of other members or items: true for `{}` or an absent schema, false for `{ not: {} }`. */
function othersOf(schema: Json | undefined, root: JsonObject): Json {
  if (schema === undefined || (schema instanceof JsonObject && schema.members.size === 0)) return true;
  return isImpossible(schema, root) ? false : schema;
}

function isNothing(schema: Json): boolean {
  const not = keyword(schema, "not");
  return not instanceof JsonObject && not.members.size === 0;
}

/** Cached results of {@link isImpossible}; false while a schema is being judged. */
const impossible = new WeakMap<JsonObject, boolean>();

/** Whether a schema accepts no value: it is `{ not: {} }`, or an object or list that requires such a value. */
function isImpossible(schema: Json, root: JsonObject): boolean {
  if (!(schema instanceof JsonObject)) return schema === false;
  const known = impossible.get(schema);
  if (known !== undefined) return known;
  impossible.set(schema, false);
  const branches = list(schema.get("anyOf"));
  const members = namedSchemas(schema, "properties");
  const places = listAt(schema, "items");
  const needed = [
    ...listAt(schema, "required").map((name) => members.get(String(name))),
    ...places.slice(0, Number(schema.get("minItems") ?? 0)),
  ];
  const found =
    isNothing(schema) ||
    (referenceOf(schema) !== undefined && isImpossible(target(schema, root), root)) ||
    branches?.every((branch) => isImpossible(branch, root)) === true ||
    needed.some((each) => each !== undefined && isImpossible(each, root));
  impossible.set(schema, found);
  return found;
}

/**
 * Definition that a reference refers to. The library writes a slash in a name as `%2F`, because a JSON pointer is split
 * at slashes.
 */
function target(node: JsonObject, root: JsonObject): Json {
  const [, group = "", name = ""] = (referenceOf(node) ?? "").split("/");
  return namedSchemas(root, group).get(decodeURIComponent(name)) ?? true;
}

const list = (json: Json | undefined) => (Array.isArray(json) ? (json as readonly Json[]) : undefined);
