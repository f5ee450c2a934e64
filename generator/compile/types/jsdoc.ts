/**
 * JSDoc as schema: an allow-list of tags, read as text. Nothing in a comment is ever executed, required or followed;
 * unknown tags are ignored.
 */

import { bigintRange, FORMAT_NAMES } from "svc-runtime/internal/generator";
import { type Json, readJson } from "../../json.js";
import { closest } from "../diagnostics/did-you-mean.js";
import {
  CONSTRAINTS,
  type Constrainable,
  type ConstraintKeyword,
  keywordsOf,
  NUMBER_FORMATS,
  SHAPES,
} from "../keywords.js";
import { type Doc, partsOf, type Shape } from "../model.js";
import { ts } from "../project/typescript.js";

/** The content of one comment, independent of the type that it documents. */
export interface Comment {
  readonly description: string;
  readonly annotations: readonly (readonly [keyword: string, value: Json])[];
  readonly constraints: readonly Constraint[];
  readonly notSecret: boolean;
  /** The values of `@default` and `@example`. */
  readonly examples: readonly { readonly tag: ts.JSDocTag; readonly value: Json }[];
  /** The same comment on text, where `@example 12345` is the text "12345". */
  readonly onText: () => Comment;
  /** The texts of `@acknowledge`. */
  readonly acknowledged: readonly { readonly tag: ts.JSDocTag; readonly text: string }[];
  /** Unknown tags with a name close to a known one. */
  readonly misspellings: readonly { readonly tag: ts.JSDocTag; readonly problem: string }[];
}

type ConstraintTag = ConstraintKeyword | "asType" | "secret";

export interface Constraint {
  readonly tag: ConstraintTag;
  readonly text: string;
  readonly node: ts.JSDocTag;
}

const ANNOTATION_TAGS = ["title", "default", "example", "deprecated"];
/** The tags that set constraints, in the order in which they are applied. */
const CONSTRAINT_TAGS: readonly ConstraintTag[] = [
  "asType",
  ...(Object.keys(CONSTRAINTS) as ConstraintKeyword[]),
  "secret",
];
/** Keywords of JSON Schema that look like a check, and are none. */
const UNCHECKED_TAGS: readonly string[] = ["minProperties", "maxProperties"];
/** All tags that svc-gen reads. */
export const KNOWN_TAGS: readonly string[] = [...ANNOTATION_TAGS, ...CONSTRAINT_TAGS, "notSecret", "acknowledge"];

/** The comments of symbols; a merged symbol has those of all its declarations. Each is parsed once for all tools. */
export class Comments {
  readonly #known = new Map<ts.Symbol, Comment>();
  readonly #checker: ts.TypeChecker;

  constructor(checker: ts.TypeChecker) {
    this.#checker = {
      ...checker,
      // TypeScript finds an inherited comment through this method, so the found member must not keep an outdated one.
      getPropertyOfType: (type, name) => {
        const property = checker.getPropertyOfType(type, name);
        if (property !== undefined) forgetComment(property);
        return property;
      },
    };
  }

  of(symbol: ts.Symbol): Comment {
    let found = this.#known.get(symbol);
    if (found === undefined) {
      found = this.#read(symbol);
      this.#known.set(symbol, found);
    }
    return found;
  }

  #read(symbol: ts.Symbol): Comment {
    const { declarations = [] } = symbol;
    forgetComment(symbol);
    const isAttached = declarations.some((each) => ts.getJSDocCommentsAndTags(each).length > 0);
    const inline = isAttached ? "" : declarations.map(inlineDescription).join("\n").trim();
    const text = inline === "" ? ts.displayPartsToString(symbol.getDocumentationComment(this.#checker)) : inline;
    return parseComment(text, declarations);
  }
}

/**
 * Makes TypeScript parse the comment of a symbol again. TypeScript caches a comment in its symbol, and under `--watch`
 * a symbol outlives its program, while an inherited comment may come from another file that changed.
 */
function forgetComment(symbol: ts.Symbol): void {
  delete (symbol as { documentationComment?: unknown }).documentationComment;
}

/**
 * Whether a JSDoc comment before a declaration begins on the line of the previous token, where TypeScript attaches it
 * to nothing. A plain description on the declaration's own line does not count: {@link inlineDescription} reads it.
 */
export function hasDetachedComment(declaration: ts.Node): boolean {
  return detachedComments(declaration).some((comment) => plainDescription(declaration, comment) === undefined);
}

/** The description that precedes a declaration on the same line, where TypeScript does not attach it. */
function inlineDescription(declaration: ts.Node): string {
  const texts = detachedComments(declaration).map((comment) => plainDescription(declaration, comment) ?? "");
  return texts.filter((text) => text !== "").join("\n");
}

function detachedComments(declaration: ts.Node): readonly ts.CommentRange[] {
  const { text } = declaration.getSourceFile();
  const behind = ts.getTrailingCommentRanges(text, declaration.pos) ?? [];
  return behind.filter(
    ({ pos, end }) => text.startsWith("/**", pos) && end - pos > "/***/".length && end <= declaration.getStart(),
  );
}

/** The text of a comment without tags that ends on the line of the declaration; undefined for any other. */
function plainDescription(declaration: ts.Node, { pos, end }: ts.CommentRange): string | undefined {
  const { text } = declaration.getSourceFile();
  if (/[\r\n]/.test(text.slice(end, declaration.getStart()))) return undefined;
  const alone = ts.createSourceFile("comment.ts", `${text.slice(pos, end)}\nlet x;`, ts.ScriptTarget.ESNext, true);
  const [doc] = alone.statements.flatMap((statement) => ts.getJSDocCommentsAndTags(statement)).filter(ts.isJSDoc);
  return doc === undefined || doc.tags !== undefined ? undefined : (ts.getTextOfJSDocComment(doc.comment) ?? "");
}

/** Reads the comment of one node. */
export function readNodeComment(node: ts.Node): Comment {
  const blocks = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  const description = blocks.map((block) => ts.getTextOfJSDocComment(block.comment) ?? "").join("\n");
  return parseComment(description, [node]);
}

function normalizedText(text: string): string {
  return text.replace(/\r\n?/g, "\n").trim();
}

function parseComment(text: string, declarations: readonly ts.Node[], read = parseJsonOrText): Comment {
  const tags = declarations
    .flatMap((declaration) => ts.getJSDocTags(declaration))
    .map((tag) => ({ tag, name: tag.tagName.text, text: tagText(tag) }));
  const annotations: [string, Json][] = [];
  const examples: Json[] = [];
  for (const { name, text } of tags) {
    if (!ANNOTATION_TAGS.includes(name)) continue;
    if (name === "example") examples.push(read(text));
    else if (name === "title") annotations.push(["title", text]);
    else if (name === "default") annotations.push(["default", read(text)]);
    else annotations.push(["deprecated", true]);
  }
  if (examples.length > 0) annotations.push(["examples", examples]);
  // Comments of dependencies cannot be corrected in the project, so they cause no diagnostics.
  const own = tags.filter(({ tag }) => !tag.getSourceFile().isDeclarationFile);
  return {
    description: normalizedText(text),
    annotations,
    constraints: CONSTRAINT_TAGS.flatMap((known) =>
      tags.filter(({ name }) => name === known).map(({ text, tag }) => ({ tag: known, text, node: tag })),
    ),
    notSecret: tags.some(({ name }) => name === "notSecret"),
    examples: own
      .filter(({ name }) => name === "default" || name === "example")
      .map(({ tag, text }) => ({ tag, value: read(text) })),
    onText: () => parseComment(text, declarations, parseText),
    acknowledged: own.filter(({ name }) => name === "acknowledge"),
    misspellings: own.flatMap(({ tag, name }) => {
      if (KNOWN_TAGS.includes(name)) return [];
      if (UNCHECKED_TAGS.includes(name)) return [{ tag, problem: "nothing checks it: check it in invoke" }];
      const meant = similarTag(name);
      return meant === undefined ? [] : [{ tag, problem: `did you mean @${meant}?` }];
    }),
  };
}

/** The known tag that a name misspells or abbreviates (`minimun`, `MinLength`, `max`). */
function similarTag(name: string): string | undefined {
  const begins = name.length >= 3 ? KNOWN_TAGS.find((known) => known.startsWith(name.toLowerCase())) : undefined;
  // Tags of other tools are short words too (@file, @type), so only a nearer name counts as a misspelling.
  return closest(name, KNOWN_TAGS, Math.min(2, Math.floor(name.length * 0.4)))[0] ?? begins;
}

/**
 * The end of the part of a tag that a diagnostic marks: its first line, without the end of the comment. Undefined for a
 * node that is no tag.
 */
export function endOfTag(node: ts.Node): number | undefined {
  const isTag = node.kind >= ts.SyntaxKind.FirstJSDocTagNode && node.kind <= ts.SyntaxKind.LastJSDocTagNode;
  if (!isTag) return undefined;
  const [line = ""] = node.getSourceFile().text.slice(node.getStart(), node.end).split(/\r?\n/, 1);
  return node.getStart() + line.replace(/\*\/$/, "").trimEnd().length;
}

/** The source text of a tag, without the asterisks of the comment. */
function tagText(tag: ts.JSDocTag): string {
  const source = tag.getSourceFile().text;
  return source
    .slice(tag.tagName.end, tag.end)
    .replace(/\*\/$/, "")
    .replace(/\r\n?/g, "\n")
    .replace(/\n[ \t]*\*?[ \t]?/g, "\n")
    .trim();
}

function parseJsonOrText(text: string): Json {
  try {
    return readJson(text);
  } catch {
    return text;
  }
}

/** The value of a tag on text: a JSON string, null, or the text as it is written. */
function parseText(text: string): Json {
  const value = parseJsonOrText(text);
  return value === null || typeof value === "string" ? value : text;
}

/** The annotations as keywords. An outer comment overrides an inner one. */
export function annotate({ description, annotations }: Comment, inner?: Doc): Doc | undefined {
  const keywords = new Map(inner?.keywords);
  for (const [keyword, json] of annotations) keywords.set(keyword, json);
  const text = description === "" ? inner?.description : description;
  if (text === undefined && keywords.size === 0) return undefined;
  return { ...(text === undefined ? {} : { description: text }), keywords: [...keywords] };
}

/** An error of a constraint: its value is invalid, or no part of the type can take it. */
export type ConstraintError = { readonly kind: "value" | "place"; readonly detail: string };

/**
 * Adds a constraint to the part of a type that it applies to: the type itself, branches of a union, or elements of a
 * list.
 */
export function constrain(shape: Shape, constraint: Constraint): Shape | ConstraintError {
  const keyword = parseConstraint(constraint);
  if (typeof keyword === "string") return { kind: "value", detail: `@${constraint.tag} ${keyword}` };
  const [one, other] = [constraint.tag === "format", constraint.tag === "secret"];
  if ((one && isSecret(shape)) || (other && !isSecret(shape) && formatOf(shape) !== undefined)) {
    return { kind: "place", detail: "@secret and @format exclude each other: a secret has the format password" };
  }
  const result = applyConstraint(shape, constraint.tag, keyword.value);
  return result ?? { kind: "place", detail: misplacedTag(shape, constraint.tag, keyword.value) };
}

/** The message for a tag on a type that it does not apply to. */
function misplacedTag(shape: Shape, tag: ConstraintTag, value: Json): string {
  const on = targetOf(tag);
  if (shape.kind === "wrapped" || (shape.kind === "array" && on !== "lists"))
    return misplacedTag(shape.item, tag, value);
  if (shape.kind === "union" && tag === "secret")
    return "@secret is for text, and not every part of this union is text";
  if (shape.kind === "number" && tag === "format" && !INTEGER_FORMATS.includes(value)) {
    return `@format on a number is one of ${Object.keys(NUMBER_FORMATS).join(", ")}`;
  }
  if (shape.kind === "number" && tag === "format") {
    return `@format ${value} is for a bigint, since a number is exact to ±(2^53−1) only: declare bigint`;
  }
  if (shape.kind === "bigint" && on === "numbers" && tag !== "asType")
    return `@${tag} takes a whole number on a bigint`;
  if (shape.kind === "bigint" && tag === "format") return '@format is "int64" or "uint64" on a bigint';
  if (shape.kind === "date" && tag === "format") return '@format is "date-time" on a Date';
  if (shape.kind === "object" && on === "objects") {
    return `@${tag} is for objects without an index signature`;
  }
  return `@${tag} is for ${on}, not for ${SHAPE_NAMES[shape.kind]}`;
}

const INTEGER_FORMATS: readonly Json[] = ["int64", "uint64"];

function targetOf(tag: ConstraintTag): Constrainable {
  return tag === "asType" ? "numbers" : tag === "secret" ? "text" : CONSTRAINTS[tag].on;
}

const SHAPE_NAMES: Readonly<Record<Shape["kind"], string>> = {
  json: "any JSON value",
  null: "null",
  boolean: "a boolean",
  date: "a Date",
  bytes: "a Uint8Array",
  string: "text",
  number: "a number",
  bigint: "a bigint",
  literal: "a literal",
  array: "a list",
  wrapped: "a wrapped value",
  tuple: "a tuple",
  object: "an object",
  union: "any part of this union",
  ref: "an object",
};

/** The value of the keyword, or a message about the values that the tag takes. */
function parseConstraint({ tag, text }: Constraint): { value: Json } | string {
  if (tag === "asType") return text === "integer" ? { value: text } : 'takes "integer"';
  // Words behind the tag are for people, as behind @notSecret.
  if (tag === "secret") return { value: true };
  const number = /^-?\d/.test(text) ? parseJsonOrText(text) : text;
  switch (CONSTRAINTS[tag].takes) {
    case "name":
      return /^[a-z][a-z0-9-]*$/.test(text) ? { value: text } : "takes the name of a format";
    case "true":
      return text === "" || text === "true" ? { value: true } : "takes no value";
    case "boolean":
      return text === "true" || text === "false" ? { value: text === "true" } : 'takes "true" or "false"';
    case "regex":
      return parseRegex(text);
    case "count":
      return typeof number === "number" && Number.isSafeInteger(number) && number >= 0
        ? { value: number }
        : "takes a whole number from 0";
    case "positive":
      if (typeof number !== "number" && typeof number !== "bigint") return "takes a number";
      return number > 0 ? { value: number } : "takes a number above 0";
    case "number":
      return typeof number === "number" || typeof number === "bigint" ? { value: number } : "takes a number";
  }
}

function parseRegex(text: string): { value: Json } | string {
  if (text === "") return "takes a regular expression";
  const literal = /^\/(.+)\/([dgimsuvy]*)$/s.exec(text);
  if (literal !== null) {
    const [, source = "", flags = ""] = literal;
    const without = flags === "" ? "slashes" : "slashes and flags";
    return `takes a regular expression without ${without}: write ${source}, or \\/${source}\\/ if the slashes are meant`;
  }
  try {
    new RegExp(text, "u");
    return { value: text };
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^.*: /s, "") : "";
    return `takes a regular expression (with the flag u): ${reason}`;
  }
}

function applyConstraint(shape: Shape, tag: ConstraintTag, json: Json): Shape | undefined {
  if (shape.kind === "union") {
    const branches = shape.branches.map((branch) => applyConstraint(branch, tag, json));
    const refuses = (branch: Shape | undefined, index: number) =>
      branch === undefined && (tag !== "secret" || shape.branches[index]?.kind !== "null");
    if (tag === "secret" ? branches.some(refuses) : branches.every(refuses)) return undefined;
    return { ...shape, branches: branches.map((branch, index) => branch ?? (shape.branches[index] as Shape)) };
  }
  if (shape.kind === "wrapped" || (shape.kind === "array" && targetOf(tag) !== "lists")) {
    const item = applyConstraint(shape.item, tag, json);
    return item === undefined ? undefined : { ...shape, item };
  }
  if (tag === "asType") return shape.kind === "number" ? { ...shape, integer: true } : undefined;
  if (tag === "secret") {
    return shape.kind === "string"
      ? withKeyword(withKeyword(shape, "format", "password"), "writeOnly", true)
      : undefined;
  }
  if (tag === "format" && shape.kind === "bigint") {
    return json === "int64" || json === "uint64" ? { ...shape, format: json } : undefined;
  }
  if (tag === "format" && shape.kind === "number") {
    const range = typeof json === "string" && Object.hasOwn(NUMBER_FORMATS, json) ? NUMBER_FORMATS[json] : undefined;
    return range && withRange(withKeyword({ ...shape, integer: true }, tag, json), range);
  }
  // Like `[name: string]: never` in the type, with which no object literal has other members.
  if (tag === "additionalProperties" && shape.kind === "object") {
    return shape.indexes.length === 0 ? { ...shape, closed: json === false } : undefined;
  }
  if (!isApplicable(shape, tag, json)) return undefined;
  const result = withKeyword(shape, tag, json);
  const format = shape.kind === "number" ? shape.doc?.keywords.find(([name]) => name === "format") : undefined;
  return format === undefined
    ? result
    : withRange(result, NUMBER_FORMATS[format[1] as string] as (typeof NUMBER_FORMATS)[string]);
}

/** A shape with the bounds of a range, where its own are not narrower. */
function withRange(shape: Shape, [least, most]: (typeof NUMBER_FORMATS)[string]): Shape {
  const bounds = numbersOf(shape, ["minimum", "maximum"]);
  const [low = least, high = most] = [bounds.get("minimum"), bounds.get("maximum")];
  const narrowed = withKeyword(shape, "minimum", low > least ? low : least);
  return withKeyword(narrowed, "maximum", high < most ? high : most);
}

function isApplicable(shape: Shape, keyword: ConstraintKeyword, json: Json): boolean {
  if (shape.kind === "json") return keyword !== "format" && keyword !== "additionalProperties";
  if (shape.kind === "date") return keyword === "format" && json === "date-time";
  if (shape.kind === "bigint" && typeof json !== "bigint" && !Number.isInteger(json)) return false;
  return SHAPES[CONSTRAINTS[keyword].on].includes(shape.kind);
}

function withKeyword(shape: Shape, tag: string, json: Json): Shape {
  if (shape.kind === "date") return shape;
  const keywords = (shape.doc?.keywords ?? []).filter(([name]) => name !== tag);
  return { ...shape, doc: { ...shape.doc, keywords: [...keywords, [tag, json]] } };
}

/** The format of a text shape that is published and not checked, if any. */
export function uncheckedFormat(shape: Shape): string | undefined {
  const format = formatOf(shape);
  return format !== undefined && !FORMAT_NAMES.includes(format) ? format : undefined;
}

/** The first format of a text, also of one in a union or a list. */
function formatOf(shape: Shape): string | undefined {
  if (shape.kind === "union") return shape.branches.map(formatOf).find((found) => found !== undefined);
  if (shape.kind === "array") return formatOf(shape.item);
  const [, format] = shape.doc?.keywords.find(([keyword]) => keyword === "format") ?? [];
  return shape.kind === "string" && format !== undefined ? String(format) : undefined;
}

/** Whether a text is marked by `@secret`, or a part of a type is. References are not followed. */
export function isSecret(shape: Shape): boolean {
  return shape.doc?.keywords.some(([name]) => name === "writeOnly") || partsOf(shape).some(isSecret);
}

/** The tags of a shape that no value satisfies together, as source text; undefined when some value does. */
export function conflictingTags(shape: Shape): string | undefined {
  switch (shape.kind) {
    case "union":
      return shape.branches.map(conflictingTags).find((found) => found !== undefined);
    case "array":
      return emptyCountRange(shape, "lists") ?? conflictingTags(shape.item);
    case "tuple": {
      const least = shape.items.length - shape.optional + shape.tail.length;
      const most = shape.rest === undefined ? shape.items.length : Number.POSITIVE_INFINITY;
      return emptyCountRange(shape, "lists", least, most);
    }
    case "string":
      return emptyCountRange(shape, "text");
    case "number":
    case "bigint":
      return emptyRange(shape);
    default:
      return undefined;
  }
}

function numbersOf({ doc }: Shape, names: readonly string[]): ReadonlyMap<string, number | bigint> {
  const found = (doc?.keywords ?? []).filter(([name]) => names.includes(name));
  return new Map(found as (readonly [string, number | bigint])[]);
}

function printTags(tags: ReadonlyMap<string, number | bigint>): string {
  return [...tags].map(([name, number]) => `@${name} ${number}`).join(" ");
}

/** The tags for a length or count of which no value is between `least` and `most`. */
function emptyCountRange(shape: Shape, on: "text" | "lists", least = 0, most = Number.POSITIVE_INFINITY) {
  const [min, max] = keywordsOf(on, "count") as [min: ConstraintKeyword, max: ConstraintKeyword];
  const tags = numbersOf(shape, [min, max]);
  const from = Math.max(least, Number(tags.get(min) ?? least));
  const to = Math.min(most, Number(tags.get(max) ?? most));
  return from <= to ? undefined : printTags(tags);
}

/** The tags for a range without a number; for integers, without a multiple of the step. */
function emptyRange(shape: Shape & { kind: "number" | "bigint" }): string | undefined {
  const tags = numbersOf(shape, keywordsOf("numbers"));
  const bound = (name: string) => tags.get(name);
  const { min: least, max: most } =
    shape.kind === "bigint" ? bigintRange(shape.format) : { min: -Number.MAX_VALUE, max: Number.MAX_VALUE };
  const [low, high] = [bound("minimum") ?? least, bound("maximum") ?? most];
  const [above, below] = [bound("exclusiveMinimum"), bound("exclusiveMaximum")];
  const from = above !== undefined && above >= low ? above : low;
  const to = below !== undefined && below <= high ? below : high;
  const open = from === above || to === below;
  const integral = shape.kind === "bigint" || shape.integer === true;
  const isEmpty = integral
    ? firstMultiple(from, from === above, bound("multipleOf")) > lastInteger(to, to === below)
    : from > to || (open && from >= to);
  return isEmpty ? printTags(tags) : undefined;
}

/** The first integer from a bound on; with an integer `step`, the first multiple of it. */
function firstMultiple(from: number | bigint, exclusive: boolean, step: number | bigint = 1): bigint {
  const ceiling = typeof from === "bigint" ? from : BigInt(Math.ceil(from));
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint and a number of one value are one bound
  const first = exclusive && ceiling == from ? ceiling + 1n : ceiling;
  if (typeof step === "number" && !Number.isInteger(step)) return first;
  const rest = first % BigInt(step);
  return rest === 0n ? first : rest > 0n ? first + BigInt(step) - rest : first - rest;
}

function lastInteger(to: number | bigint, exclusive: boolean): bigint {
  return -firstMultiple(-to, exclusive);
}
