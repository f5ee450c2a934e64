/**
 * A schema as the alternatives of values that it accepts: the common form of draft 7, as typescript-json-schema writes
 * it, and 2020-12, as svc-gen does.
 */

import { type Json, JsonObject, object, printJson } from "../json.js";

/** One level of a schema. Schemas of inner values stay as they are written. */
export interface Alternatives {
  /** Whether every value is accepted. */
  readonly any: boolean;
  /** Kinds of scalars and single values, in the words of messages: `string`, `date-time`, `"a"`, `null`. */
  readonly scalars: ReadonlySet<string>;
  /** Patterns of texts. */
  readonly patterns: ReadonlySet<string>;
  readonly objects: readonly ObjectForm[];
  readonly lists: readonly ListForm[];
}

export interface ObjectForm {
  /** The schema, which identifies the form. */
  readonly node: JsonObject;
  readonly members: ReadonlyMap<string, { readonly schema: Json; readonly required: boolean }>;
  readonly patterns: ReadonlyMap<string, Json>;
  /** The schema of all other members; `true` takes any, `false` none. */
  readonly others: Json;
}

export interface ListForm {
  readonly node: JsonObject;
  readonly items: readonly Json[];
  /** The schema of the items behind; `true` takes any, `false` none. */
  readonly others: Json;
  /** How many items there are at least. */
  readonly least: number;
}

/** @param root the schema whose definitions the references name */
export function alternativesOf(schema: Json, root: JsonObject): Alternatives {
  const found = { any: false, scalars: new Set<string>(), patterns: new Set<string>() };
  const objects: ObjectForm[] = [];
  const lists: ListForm[] = [];
  const open = new Set<Json>();
  const visit = (each: Json): void => {
    if (each === false || isNothing(each) || open.has(each)) return;
    open.add(each);
    const node = each instanceof JsonObject ? each : object();
    const values =
      list(node.get("enum")) ?? (node.get("const") === undefined ? undefined : [node.get("const") as Json]);
    const branches = list(node.get("anyOf")) ?? list(node.get("oneOf"));
    const reference = node.get("$ref");
    const types = [node.get("type") ?? []].flat() as Json[];
    if (typeof reference === "string") visit(resolveReference(reference, root));
    else if (branches !== undefined) branches.forEach(visit);
    else if (values !== undefined) for (const value of values) found.scalars.add(printJson(value));
    else if (types.length === 0) found.any = true;
    else for (const type of types) addType(type, node);
  };
  const addType = (type: Json, node: JsonObject): void => {
    if (type === "object") objects.push(objectForm(node));
    else if (type === "array") lists.push(listForm(node));
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

function objectForm(node: JsonObject): ObjectForm {
  const required = list(node.get("required")) ?? [];
  const members = [...membersOf(node.get("properties"))].map(
    ([name, schema]) => [name, { schema, required: required.includes(name) }] as const,
  );
  return {
    node,
    members: new Map(members),
    patterns: membersOf(node.get("patternProperties")),
    others: othersOf(node.get("additionalProperties")),
  };
}

function listForm(node: JsonObject): ListForm {
  const items = node.get("items");
  const places = list(node.get("prefixItems")) ?? list(items) ?? [];
  const others = othersOf(Array.isArray(items) || items === undefined ? node.get("additionalItems") : items);
  const most = node.get("maxItems");
  const isFixed = typeof most === "number" && most === places.length;
  return { node, items: places, others: isFixed ? false : others, least: Number(node.get("minItems") ?? 0) };
}

/** `{}` and an absent schema take everything, `{ not: {} }` takes nothing. */
function othersOf(schema: Json | undefined): Json {
  if (schema === undefined || (schema instanceof JsonObject && schema.members.size === 0)) return true;
  return isNothing(schema) ? false : schema;
}

function isNothing(schema: Json): boolean {
  const not = schema instanceof JsonObject ? schema.get("not") : undefined;
  return not instanceof JsonObject && not.members.size === 0;
}

function resolveReference(reference: string, root: JsonObject): Json {
  const [, group = "", name = ""] = reference.split("/");
  return membersOf(root.get(group)).get(decodeURIComponent(name)) ?? true;
}

const list = (json: Json | undefined) => (Array.isArray(json) ? (json as readonly Json[]) : undefined);

const membersOf = (json: Json | undefined): ReadonlyMap<string, Json> =>
  json instanceof JsonObject ? json.members : new Map();
