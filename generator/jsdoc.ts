/**
 * JSDoc as schema: an allow-list of tags, read as text. Nothing in a comment is ever executed, required or followed; a
 * tag that is not in the list means nothing.
 */

import { ts } from "./compiler.js";
import { type Json, readJson } from "./json.js";
import type { Doc, Shape } from "./model.js";

/** What one comment says, before it is known which type it is for. */
export interface Comment {
  readonly description: string;
  readonly annotations: readonly (readonly [keyword: string, value: Json])[];
  readonly constraints: readonly Constraint[];
  readonly notSecret: boolean;
}

export interface Constraint {
  readonly tag: string;
  readonly text: string;
}

const ANNOTATIONS = ["title", "default", "example", "deprecated"];
const CONSTRAINTS = [
  "asType",
  "format",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "uniqueItems",
];

const NUMERIC = new Set(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]);
const COUNTS = new Set(["minLength", "maxLength", "minItems", "maxItems"]);
const TEXTUAL = new Set(["minLength", "maxLength", "pattern", "format"]);
const LISTS = new Set(["minItems", "maxItems", "uniqueItems"]);

/** Reads the comments of a declaration (of all declarations of a merged one). */
export function readComment(checker: ts.TypeChecker, symbol: ts.Symbol | undefined): Comment {
  const declarations = symbol?.declarations ?? [];
  const description = ts
    .displayPartsToString(symbol?.getDocumentationComment(checker) ?? [])
    .replace(/\r\n?/g, "\n")
    .trim();
  return comment(description, declarations);
}

/** Whether a JSDoc comment stands before a declaration on the line of what is before it: TypeScript attaches it to nothing. */
export function hasStrayComment(declaration: ts.Node): boolean {
  const { text } = declaration.getSourceFile();
  const behind = ts.getTrailingCommentRanges(text, declaration.pos) ?? [];
  return behind.some(
    ({ pos, end }) => text.startsWith("/**", pos) && end - pos > "/***/".length && end <= declaration.getStart(),
  );
}

/** Reads the comment of one node. */
export function readNodeComment(node: ts.Node): Comment {
  const blocks = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  const description = blocks.map((block) => ts.getTextOfJSDocComment(block.comment) ?? "").join("\n");
  return comment(description.replace(/\r\n?/g, "\n").trim(), [node]);
}

function comment(description: string, declarations: readonly ts.Node[]): Comment {
  const tags = declarations
    .flatMap((declaration) => ts.getJSDocTags(declaration))
    .map((tag) => [tag.tagName.text, textOf(tag)] as const);
  const annotations: [string, Json][] = [];
  const examples: Json[] = [];
  for (const [name, text] of tags) {
    if (!ANNOTATIONS.includes(name)) continue;
    if (name === "example") examples.push(value(text));
    else if (name === "title") annotations.push(["title", text]);
    else if (name === "default") annotations.push(["default", value(text)]);
    else annotations.push(["deprecated", true]);
  }
  if (examples.length > 0) annotations.push(["examples", examples]);
  return {
    description,
    annotations,
    constraints: CONSTRAINTS.flatMap((tag) => tags.filter(([name]) => name === tag).map(([, text]) => ({ tag, text }))),
    notSecret: tags.some(([name]) => name === "notSecret"),
  };
}

/** The text of a tag as it stands in the source, without the asterisks of the comment. */
function textOf(tag: ts.JSDocTag): string {
  const source = tag.getSourceFile().text;
  return source
    .slice(tag.tagName.end, tag.end)
    .replace(/\*\/$/, "")
    .replace(/\r\n?/g, "\n")
    .replace(/\n[ \t]*\*?[ \t]?/g, "\n")
    .trim();
}

function value(text: string): Json {
  try {
    return readJson(text);
  } catch {
    return text;
  }
}

/** The annotations as keywords; an outer comment wins over an inner one. */
export function annotate({ description, annotations }: Comment, inner?: Doc): Doc | undefined {
  const keywords = new Map(inner?.keywords);
  for (const [keyword, json] of annotations) keywords.set(keyword, json);
  const text = description === "" ? inner?.description : description;
  if (text === undefined && keywords.size === 0) return undefined;
  return { ...(text === undefined ? {} : { description: text }), keywords: [...keywords] };
}

/** A constraint that cannot be: its value is wrong, or no part of the type can take it. */
export type Complaint = { readonly kind: "value" | "place"; readonly detail: string };

/** Puts a constraint where it belongs: on the type itself, the branches of a union, or the elements of a list. */
export function constrain(shape: Shape, constraint: Constraint): Shape | Complaint {
  const keyword = parse(constraint);
  if (typeof keyword === "string") return { kind: "value", detail: `@${constraint.tag} ${keyword}` };
  const result = apply(shape, constraint.tag, keyword.value);
  return result ?? { kind: "place", detail: `@${constraint.tag}` };
}

function parse({ tag, text }: Constraint): { value: Json } | string {
  if (tag === "asType") return text === "integer" ? { value: text } : 'takes "integer"';
  if (tag === "format") return /^[a-z][a-z0-9-]*$/.test(text) ? { value: text } : "takes the name of a format";
  if (tag === "uniqueItems") return text === "" || text === "true" ? { value: true } : "takes no value";
  if (tag === "pattern") {
    try {
      new RegExp(text, "u");
      return text === "" ? "takes a regular expression" : { value: text };
    } catch {
      return "takes a regular expression (with the flag u)";
    }
  }
  const json = /^-?\d/.test(text) ? value(text) : text;
  if (COUNTS.has(tag)) {
    return typeof json === "number" && Number.isSafeInteger(json) && json >= 0
      ? { value: json }
      : "takes a whole number from 0";
  }
  if (typeof json !== "number" && typeof json !== "bigint") return "takes a number";
  if (tag === "multipleOf" && json <= 0) return "takes a number above 0";
  return { value: json };
}

function apply(shape: Shape, tag: string, json: Json): Shape | undefined {
  if (shape.kind === "union") {
    const branches = shape.branches.map((branch) => apply(branch, tag, json));
    if (branches.every((branch) => branch === undefined)) return undefined;
    return { ...shape, branches: branches.map((branch, index) => branch ?? (shape.branches[index] as Shape)) };
  }
  if (shape.kind === "array" && !LISTS.has(tag)) {
    const item = apply(shape.item, tag, json);
    return item === undefined ? undefined : { ...shape, item };
  }
  if (tag === "asType") return shape.kind === "number" ? { ...shape, integer: true } : undefined;
  if (tag === "format" && shape.kind === "bigint") {
    return json === "int64" || json === "uint64" ? { ...shape, format: json } : undefined;
  }
  return applies(shape, tag, json) ? withKeyword(shape, tag, json) : undefined;
}

function applies(shape: Shape, tag: string, json: Json): boolean {
  switch (shape.kind) {
    case "json":
      return tag !== "format";
    case "number":
      return NUMERIC.has(tag);
    case "bigint":
      return NUMERIC.has(tag) && (typeof json === "bigint" || Number.isInteger(json));
    case "string":
      return TEXTUAL.has(tag);
    case "date":
      return tag === "format" && json === "date-time";
    case "array":
    case "tuple":
      return LISTS.has(tag);
    default:
      return false;
  }
}

function withKeyword(shape: Shape, tag: string, json: Json): Shape {
  if (shape.kind === "date") return shape;
  const keywords = (shape.doc?.keywords ?? []).filter(([name]) => name !== tag);
  return { ...shape, doc: { ...shape.doc, keywords: [...keywords, [tag, json]] } };
}
