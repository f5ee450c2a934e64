/** Compares two schemas of one type: each must accept every value of the other. */

import { truncated } from "svc-runtime/internal/generator";
import { type ExcludedValue, excludedValues } from "../../contract/inclusion/inclusion.js";
import { SchemaNodes, type SchemaPlace } from "../../contract/inclusion/schema-node.js";
import { listAt, mapSchemas, pointerStep, referenceOf, typeNames, withKeyword } from "../../contract/schema-reader.js";
import { type Json, JsonObject, object, printJson } from "../../text/json.js";
import { memberSubject } from "../model.js";

/** Difference that neither the notation nor the wire format explains. */
export interface Disagreement {
  /** Path of the type or member, such as `Sum.Input.items[].when`. */
  readonly subject: string;
  readonly ours: string;
  readonly library: string;
}

/**
 * Compares svc-gen's schema of an input or output with the library's.
 *
 * @param ours without the keywords of JSDoc tags, which the library does not read
 * @throws TooLarge if the schemas have too many alternatives to compare
 */
export function compareReadings(
  ours: JsonObject,
  library: JsonObject,
  subject: string,
  variants: boolean,
): Disagreement[] {
  const nodes = new SchemaNodes();
  const rootOf = (schema: Json) => nodes.node({ schema: schema as JsonObject, pointer: "" }, schema, "");
  const [own, other] = [rootOf(withOpenObjects(withoutExcused(ours, variants))), rootOf(inOurNotation(library))];
  const options = { sendsNull: false, exact: false };
  const more = excludedValues(own, other, { ...options, isSamePattern: agreeOnNeighbours });
  const fewer = excludedValues(other, own, { ...options, isSamePattern: (one, two) => agreeOnNeighbours(two, one) });
  const found = [
    ...more.map((each) => disagreement(each, subject, each.sent, each.taken, ["accepts", "refuses"])),
    ...fewer.map((each) => disagreement(each, subject, each.taken, each.sent, ["refuses", "accepts"])),
  ];
  // The first disagreement about each subject.
  const first = new Map(found.toReversed().map((each) => [each.subject, each]));
  return [...first.values()].reverse();
}

function disagreement(
  { certain, what }: ExcludedValue,
  root: string,
  own: SchemaPlace | undefined,
  other: SchemaPlace | undefined,
  [ours, library]: readonly [string, string],
): Disagreement {
  const subject = subjectOf(root, own?.pointer ?? "");
  if (certain) return { subject, ours: `${ours} ${what}`, library: `${library} ${what}` };
  const text = (place: SchemaPlace | undefined) => (place === undefined ? "any value" : shortened(place.schema));
  return { subject, ours: text(own), library: text(other) };
}

const shortened = (schema: Json) => truncated(printJson(schema), 120);

/** Subject of a position in a schema. The parts of a definition follow its name in parentheses. */
function subjectOf(root: string, pointer: string): string {
  const steps = pointer.split("/").map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  let subject = root;
  for (let at = 1; at < steps.length; at++) {
    const [keyword, next = ""] = [steps[at], steps[at + 1]];
    if (keyword === "items") subject += "[]";
    else if (keyword === "additionalProperties") subject += "{}";
    else {
      at++;
      if (keyword === "properties") subject = memberSubject(subject, next);
      else if (keyword === "prefixItems") subject += `[${next}]`;
      else if (keyword === "patternProperties") subject += "{}";
      else if (keyword === "$defs") subject += ` (${next})`;
    }
  }
  return subject;
}

/**
 * Changes svc-gen's schema where the library's differs only because of the position: in `many` ports, and in variants.
 */
function withoutExcused(root: JsonObject, variants: boolean): JsonObject {
  const changeMembers = (schema: Json, change: (inner: Json) => Json): Json => {
    const properties = schema instanceof JsonObject ? schema.get("properties") : undefined;
    if (!(schema instanceof JsonObject && properties instanceof JsonObject)) return schema;
    const changed = [...properties.members].map(([name, inner]): [string, Json] => [name, change(inner)]);
    return withKeyword(schema, "properties", new JsonObject(new Map(changed)));
  };
  /** A `many` port omits optional items, so its schema does not allow null for them. The library's does. */
  const port = (schema: Json): Json => {
    const places = listAt(schema, "prefixItems");
    if (!(schema instanceof JsonObject) || places.length === 0) return schema;
    const least = Number(schema.get("minItems") ?? 0);
    const orNull = (place: Json, at: number) =>
      at < least ? place : object(["anyOf", [place, object(["type", "null"])]]);
    return withKeyword(schema, "prefixItems", places.map(orNull));
  };
  const ports = (schema: Json) => changeMembers(schema, port);
  if (!variants) return ports(root) as JsonObject;
  /** A variant allows no second tag; a TypeScript object type allows further members. */
  const variant = (schema: Json): Json => {
    if (!(schema instanceof JsonObject) || !schema.members.has("properties")) return schema;
    return changeMembers(withKeyword(schema, "additionalProperties", true), ports);
  };
  return withKeyword(root, "oneOf", listAt(root, "oneOf").map(variant));
}

/** Adds that an object allows other members, so that a difference in this is a difference in values. */
function withOpenObjects(schema: Json): Json {
  if (!(schema instanceof JsonObject)) return schema;
  if (schema.members.size === 0) return true;
  const inner = mapSchemas(schema, withOpenObjects);
  const isOpen = typeNames(inner).includes("object") && !inner.members.has("additionalProperties");
  return isOpen ? withKeyword(inner, "additionalProperties", true) : inner;
}

/**
 * Converts a schema of the library from draft 7 to 2020-12. The library writes a slash in a name as `%2F`, because a JSON
 * pointer is split at slashes.
 */
function inOurNotation(schema: Json): Json {
  if (!(schema instanceof JsonObject)) return schema;
  const not = schema.get("not");
  if (not instanceof JsonObject && not.members.size === 0) return false;
  const members = new Map(mapSchemas(schema, inOurNotation).members);
  const [, group = "", name = ""] = (referenceOf(schema) ?? "").split("/");
  if (name !== "") members.set("$ref", `#/${group}/${encodeURIComponent(pointerStep(decodeURIComponent(name)))}`);
  const [places, further] = [schema.get("items"), schema.get("additionalItems")];
  if (Array.isArray(places)) {
    members.set("prefixItems", members.get("items") as Json).set("items", inOurNotation(further ?? true));
    members.delete("additionalItems");
  }
  const branches = listAt(schema, "anyOf");
  const types = branches.flatMap((branch) =>
    branch instanceof JsonObject && branch.members.size === 1 ? typeNames(branch) : [],
  );
  if (types.length === branches.length && types.includes("object")) members.set("type", types).delete("anyOf");
  return withOpenObjects(new JsonObject(members));
}

/**
 * Whether two patterns agree about a text that the library's pattern accepts, and about that text with a character before
 * it. The patterns themselves differ: svc-gen's follow TypeScript's rules.
 */
function agreeOnNeighbours(ours: string, library: string): boolean {
  const content = library.replace(/^\^(?:\(\?!\(\?:.*?\)\$\))?/, "").replace(/\$$/, "");
  const text = content
    .replaceAll(".*", "~")
    .replaceAll(/\[0-9\][*+]/g, "7")
    .replaceAll(/\\(.)/g, "$1");
  const [mine, theirs] = [new RegExp(ours, "u"), new RegExp(library, "u")];
  return [text, `?${text}`].every((each) => mine.test(each) === theirs.test(each));
}
