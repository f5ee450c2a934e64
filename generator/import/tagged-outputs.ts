/**
 * Output schemas of internally and adjacently tagged enums (serde's `tag`, and `tag` with `content`), rewritten with the
 * tag outside, which is the only form that has ports (protocol.md section 2).
 */

import { resolveReference } from "../contract/references.js";
import { type Json, JsonObject } from "../json.js";
import { mergeSchemas, UnmergeableSchemas } from "./merge-schemas.js";

/** An output with its tags outside. */
export interface Retagged {
  readonly output: JsonObject;
  /** Name of the member that held the tag. */
  readonly tag: string;
  /** Name of the member that held the content, in adjacently tagged outputs. */
  readonly content: string | undefined;
}

/** Undefined unless every variant is an object with the same required member, of one constant text each. */
export function withTagsOutside(output: JsonObject): Retagged | undefined {
  const reference = output.get("$ref");
  const root = typeof reference === "string" ? resolveReference(output, reference) : output;
  const oneOf = root instanceof JsonObject ? (root.get("oneOf") ?? root.get("anyOf")) : undefined;
  if (!Array.isArray(oneOf) || oneOf.length === 0) return undefined;
  const variants = (oneOf as readonly Json[]).map((variant) => mergedVariant(output, variant));
  if (!variants.every((variant) => variant !== undefined)) return undefined;
  const tag = tagOf(variants);
  if (tag === undefined) return undefined;
  const content = contentOf(output, variants, tag);
  const rewritten = variants.map((variant) => outside(variant, tag, content));
  const members = new Map([...output.members, ...(root as JsonObject).members]);
  for (const name of ["$ref", "anyOf", "type", "required", "properties"]) members.delete(name);
  return { output: new JsonObject(members.set("oneOf", rewritten)), tag, content };
}

/** A variant with the keywords of the definitions that it names; undefined where they have no common form. */
function mergedVariant(document: JsonObject, variant: Json): JsonObject | undefined {
  if (!(variant instanceof JsonObject)) return undefined;
  const all = variant.get("allOf");
  const reference = variant.get("$ref");
  const own = new Map(variant.members);
  own.delete("$ref");
  own.delete("allOf");
  const parts = [...(typeof reference === "string" ? [variant] : []), ...(Array.isArray(all) ? (all as Json[]) : [])];
  const named = parts.map((part) => {
    const target = part instanceof JsonObject ? part.get("$ref") : undefined;
    return typeof target === "string" ? resolveReference(document, target) : part;
  });
  if (!named.every((part) => part instanceof JsonObject)) return undefined;
  try {
    return mergeSchemas([new JsonObject(own), ...named]);
  } catch (error) {
    if (error instanceof UnmergeableSchemas) return undefined;
    throw error;
  }
}

function propertiesOf(schema: JsonObject): ReadonlyMap<string, Json> {
  const properties = schema.get("properties");
  return properties instanceof JsonObject ? properties.members : new Map();
}

function isRequired(schema: JsonObject, name: string): boolean {
  const required = schema.get("required");
  return Array.isArray(required) && required.includes(name);
}

/** The text that a schema admits, if it is the only one. */
function constantOf(schema: Json | undefined): string | undefined {
  if (!(schema instanceof JsonObject)) return undefined;
  const values = schema.get("enum");
  const value = schema.get("const") ?? (Array.isArray(values) && values.length === 1 ? (values[0] as Json) : undefined);
  return typeof value === "string" ? value : undefined;
}

function tagOf(variants: readonly JsonObject[]): string | undefined {
  const [first] = variants;
  if (first === undefined) return undefined;
  return [...propertiesOf(first).keys()].find((name) => {
    const texts = variants.map((variant) =>
      isRequired(variant, name) ? constantOf(propertiesOf(variant).get(name)) : undefined,
    );
    return !texts.includes(undefined) && new Set(texts).size === texts.length;
  });
}

/** The member that holds the content: the only one beside the tag, in every variant that has any, always an object. */
function contentOf(document: JsonObject, variants: readonly JsonObject[], tag: string): string | undefined {
  const others = variants.map((variant) => [...propertiesOf(variant).keys()].filter((name) => name !== tag));
  const names = new Set(others.flat());
  const [content] = names;
  if (content === undefined || names.size > 1) return undefined;
  const isObject = (schema: Json | undefined) => {
    const reference = schema instanceof JsonObject ? schema.get("$ref") : undefined;
    const found = typeof reference === "string" ? resolveReference(document, reference) : schema;
    return found instanceof JsonObject && found.get("properties") instanceof JsonObject;
  };
  const contents = variants.flatMap((variant) => propertiesOf(variant).get(content) ?? []);
  return contents.every(isObject) ? content : undefined;
}

function outside(variant: JsonObject, tag: string, content: string | undefined): Json {
  const members = new Map(propertiesOf(variant));
  const name = constantOf(members.get(tag)) ?? "";
  members.delete(tag);
  const description = variant.get("description");
  const comment: [string, Json][] = description === undefined ? [] : [["description", description]];
  if (members.size === 0) return new JsonObject(new Map<string, Json>([...comment, ["const", name]]));
  const required = variant.get("required");
  const inside = new Map([...variant.members].filter(([keyword]) => keyword !== "description"))
    .set("properties", new JsonObject(members))
    .set("required", Array.isArray(required) ? required.filter((each) => each !== tag) : []);
  const payload = (content === undefined ? undefined : members.get(content)) ?? new JsonObject(inside);
  return new JsonObject(
    new Map<string, Json>([
      ...comment,
      ["type", "object"],
      ["properties", new JsonObject(new Map([[name, payload]]))],
      ["required", [name]],
      ["additionalProperties", false],
    ]),
  );
}
