/**
 * Rewrites output schemas of internally and adjacently tagged enums (serde's `tag`, and `tag` with `content`) as
 * externally tagged ones, the only form that defines ports (protocol.md section 2).
 */

import {
  dereferenced,
  keyword,
  listAt,
  namedSchemas,
  singleMember,
  valuesOf,
  withKeyword,
  withoutKeywords,
} from "../contract/schema-reader.js";
import { type Json, JsonObject, object } from "../text/json.js";
import { mergeSchemas, UnmergeableSchemas } from "./merge-schemas.js";

/** An externally tagged output. */
export interface Retagged {
  readonly output: JsonObject;
  readonly tag: string;
  /** Name of the member that held the content, in adjacently tagged outputs. */
  readonly content: string | undefined;
}

/**
 * Moves the tag of each variant out of its object. Undefined unless all variants are objects with the same required
 * member, which is one constant string in each.
 */
export function withTagsOutside(output: JsonObject): Retagged | undefined {
  const root = dereferenced(output, output);
  const oneOf = listAt(root, root instanceof JsonObject && root.members.has("oneOf") ? "oneOf" : "anyOf");
  if (oneOf.length === 0) return undefined;
  const variants = oneOf.map((variant) => mergedVariant(output, variant));
  if (!variants.every((variant) => variant !== undefined)) return undefined;
  const tag = tagOf(variants);
  if (tag === undefined) return undefined;
  const content = contentOf(output, variants, tag);
  const rewritten = variants.map((variant) => outside(variant, tag, content));
  const whole = new JsonObject(new Map([...output.members, ...(root as JsonObject).members]));
  const others = withoutKeywords(whole, ["$ref", "anyOf", "type", "required", "properties"]);
  return { output: withKeyword(others, "oneOf", rewritten), tag, content };
}

/** A variant merged with the definitions that it refers to; undefined if they cannot be merged. */
function mergedVariant(document: JsonObject, variant: Json): JsonObject | undefined {
  if (!(variant instanceof JsonObject)) return undefined;
  const target = dereferenced(variant, document);
  const all = listAt(variant, "allOf").map((part) => dereferenced(part, document));
  const named = target === variant ? all : [target, ...all];
  if (!named.every((part) => part instanceof JsonObject)) return undefined;
  try {
    return mergeSchemas([withoutKeywords(variant, ["$ref", "allOf"]), ...named]);
  } catch (error) {
    if (error instanceof UnmergeableSchemas) return undefined;
    throw error;
  }
}

/** The only string that a schema allows; undefined if it allows others. */
function constantOf(schema: Json | undefined): string | undefined {
  const [value, ...others] = (schema instanceof JsonObject && valuesOf(schema)) || [];
  return typeof value === "string" && others.length === 0 ? value : undefined;
}

function tagOf(variants: readonly JsonObject[]): string | undefined {
  const [first] = variants;
  if (first === undefined) return undefined;
  return [...namedSchemas(first, "properties").keys()].find((name) => {
    const texts = variants.map((variant) =>
      listAt(variant, "required").includes(name)
        ? constantOf(namedSchemas(variant, "properties").get(name))
        : undefined,
    );
    return !texts.includes(undefined) && new Set(texts).size === texts.length;
  });
}

/** Name of the member that contains an object with the ports. No variant has another member except the tag. */
function contentOf(document: JsonObject, variants: readonly JsonObject[], tag: string): string | undefined {
  const others = variants.map((variant) =>
    [...namedSchemas(variant, "properties").keys()].filter((name) => name !== tag),
  );
  const names = new Set(others.flat());
  const [content] = names;
  if (content === undefined || names.size > 1) return undefined;
  const isObject = (schema: Json | undefined) => {
    return keyword(dereferenced(schema, document), "properties") instanceof JsonObject;
  };
  const contents = variants.flatMap((variant) => namedSchemas(variant, "properties").get(content) ?? []);
  return contents.every(isObject) ? content : undefined;
}

function outside(variant: JsonObject, tag: string, content: string | undefined): Json {
  const members = new Map(namedSchemas(variant, "properties"));
  const name = constantOf(members.get(tag)) ?? "";
  members.delete(tag);
  const description = variant.get("description");
  const documented = (schema: JsonObject) =>
    description === undefined ? schema : withKeyword(schema, "description", description);
  if (members.size === 0) return documented(object(["const", name]));
  const required = listAt(variant, "required").filter((each) => each !== tag);
  const inside = new Map(withoutKeywords(variant, ["description"]).members)
    .set("properties", new JsonObject(members))
    .set("required", required);
  const payload = (content === undefined ? undefined : members.get(content)) ?? new JsonObject(inside);
  return documented(singleMember(name, payload));
}
