/**
 * JSDoc as schema: an allow-list of tags, read as text. Nothing in a comment is ever executed, required or followed;
 * unknown tags are ignored.
 */

import { type Json, readJson } from "../../json.js";
import { closest } from "../diagnostics/did-you-mean.js";
import { CONSTRAINTS, type ConstraintKeyword } from "../keywords.js";
import type { Doc } from "../model.js";
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

export type ConstraintTag = ConstraintKeyword | "asType" | "secret";

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

/** What tags of other generators are called here. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  integer: "asType integer",
  int: "asType integer",
  TJS: "asType integer, and the other tags without TJS-",
};

/** The known tag that a name misspells or abbreviates (`minimun`, `MinLength`, `max`). */
function similarTag(name: string): string | undefined {
  if (Object.hasOwn(OTHER_NAMES, name)) return OTHER_NAMES[name];
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

export function parseJsonOrText(text: string): Json {
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
