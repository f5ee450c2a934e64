/** Members inside the ports of an input that the tool does not declare. A server ignores them without an error. */

import { didYouMean, itemsOf, membersByName } from "svc-runtime/internal/generator";
import { quoted } from "../compile/diagnostics/quote.js";
import { dereferenced, keyword, listAt, namedSchemas } from "../contract/schema-reader.js";
import { type Json, JsonObject, readJson } from "../text/json.js";
import { type InputDocument, isKind } from "./port-texts.js";

/** Maximum number of messages. */
const MAX_FOUND = 5;

/**
 * One message for each undeclared member. Skips unions of several object types and objects with index signatures,
 * because another branch, or the index signature, may allow the name.
 */
export function undeclaredMembers(document: InputDocument, inputSchema: string): string[] {
  const root = readJson(inputSchema);
  const found: string[] = [];
  if (!(root instanceof JsonObject)) return found;
  const visit = (entry: number, given: Json | undefined, at: string): void => {
    const schema = nestingSchema(given, root);
    if (schema === undefined || found.length >= MAX_FOUND) return;
    if (isKind(document, entry, "[")) {
      for (const item of itemsOf(document, entry)) visit(item, keyword(schema, "items"), `${at}[]`);
    }
    const declared = namedSchemas(schema, "properties");
    if (!isKind(document, entry, "{") || declared.size === 0 || isOpen(schema)) return;
    for (const [name, value] of membersByName(document, entry)) {
      const place = at === "" ? name : `${at}.${name}`;
      if (declared.has(name)) visit(value, declared.get(name), place);
      else found.push(messageOf(place, name, schema, [...declared.keys()]));
    }
  };
  visit(0, root, "");
  return found.slice(0, MAX_FOUND);
}

/** The schema that applies to objects and arrays; undefined if there are several. */
function nestingSchema(given: Json | undefined, root: JsonObject): Json | undefined {
  const schema = dereferenced(given, root);
  const union = [...listAt(schema, "anyOf"), ...listAt(schema, "oneOf")].map((each) => dereferenced(each, root));
  if (union.length === 0) return schema;
  const nested = union.filter((each) => each !== undefined && !SCALARS.has(String(keyword(each, "type"))));
  return nested.length === 1 ? nested[0] : undefined;
}

const SCALARS = new Set(["null", "string", "number", "integer", "boolean"]);

function isOpen(schema: Json): boolean {
  const others = keyword(schema, "additionalProperties");
  return (others !== undefined && others !== false) || keyword(schema, "patternProperties") !== undefined;
}

function messageOf(place: string, name: string, schema: Json, declared: readonly string[]): string {
  const effect = keyword(schema, "additionalProperties") === false ? "refuses" : "ignores";
  const near = didYouMean(name, declared);
  const hint = near === "" ? `; declared here: ${declared.slice(0, 5).join(", ")}` : near;
  return `${quoted(place)}: the tool does not declare this member and ${effect} it${hint}`;
}
