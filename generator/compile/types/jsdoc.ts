/** Converts JSDoc to schema keywords. Reads only a fixed list of tags, as text. Never executes or loads anything. */

import { closest } from "svc-runtime/internal/generator";
import { type Json, readJson } from "../../text/json.js";
import { CONSTRAINTS, type ConstraintKeyword } from "../keywords.js";
import type { Doc } from "../model.js";
import type { Program } from "../project/program.js";
import { ts } from "../project/typescript.js";
import { linksOf, originOf } from "./type-syntax.js";

/** Content of one comment, independent of the type that it documents. */
export interface Comment {
  readonly description: string;
  readonly annotations: readonly (readonly [keyword: string, value: Json])[];
  readonly constraints: readonly Constraint[];
  /** Constraints of some parts of a union, which do not apply to this member of the union. */
  readonly unshared: readonly Constraint[];
  readonly notSecret: boolean;
  /** Values of `@default` and `@example`, with the annotations that publish them. */
  readonly examples: readonly {
    readonly tag: ts.JSDocTag;
    readonly value: Json;
    readonly annotation: readonly [keyword: string, value: Json];
  }[];
  /** The same comment for a text, where `@example 12345` means "12345". */
  readonly onText: () => Comment;
  /** Texts of `@acknowledge`. */
  readonly acknowledged: readonly { readonly tag: ts.JSDocTag; readonly text: string }[];
  /** Unknown tags whose names are similar to known ones. */
  readonly misspellings: readonly { readonly tag: ts.JSDocTag; readonly problem: string }[];
}

export type ConstraintTag = ConstraintKeyword | "asType" | "secret";

export interface Constraint {
  readonly tag: ConstraintTag;
  readonly text: string;
  readonly node: ts.JSDocTag;
}

const ANNOTATION_TAGS = ["title", "default", "example", "deprecated"];
/** Tags that set constraints, in the order in which they are applied. */
const CONSTRAINT_TAGS: readonly ConstraintTag[] = [
  "asType",
  ...(Object.keys(CONSTRAINTS) as ConstraintKeyword[]),
  "secret",
];
/** JSON Schema keywords that are not supported as tags. */
const UNCHECKED_TAGS: readonly string[] = ["minProperties", "maxProperties"];
export const KNOWN_TAGS: readonly string[] = [...ANNOTATION_TAGS, ...CONSTRAINT_TAGS, "notSecret", "acknowledge"];

/** Comments of symbols and nodes, parsed once for all tools. */
export class Comments {
  readonly #symbols = new Map<ts.Symbol, Comment>();
  readonly #nodes = new Map<ts.Node, Comment>();
  readonly #checker: ts.TypeChecker;
  readonly #isForeign: Program["isForeign"];

  constructor({ checker, isForeign }: Program) {
    this.#checker = checker;
    this.#isForeign = isForeign;
  }

  of(symbol: ts.Symbol): Comment {
    return memoized(this.#symbols, symbol, () => this.#read(originOf(symbol)));
  }

  ofNode(node: ts.Node): Comment {
    return memoized(this.#nodes, node, () => parseComment(descriptionOf(node), ts.getJSDocTags(node), this.#isForeign));
  }

  /** Description, constraints and other tags: each of the symbol's own declarations, or else of those it derives from. */
  #read(symbol: ts.Symbol): Comment {
    const declaring = (has: (node: ts.Node) => boolean) => [...new Set(this.#declaring(symbol, has, 0))];
    const texts = declaring((node) => descriptionOf(node) !== "").map(descriptionOf);
    const tagged = [isConstraint, (tag: ts.JSDocTag) => !isConstraint(tag)].flatMap((isWanted) =>
      declaring((node) => ts.getJSDocTags(node).some(isWanted)).flatMap((node) =>
        ts.getJSDocTags(node).filter(isWanted),
      ),
    );
    const comment = parseComment([...new Set(texts)].join("\n"), tagged, this.#isForeign);
    const { containingType } = linksOf(symbol);
    if (!containingType?.isUnion()) return comment;
    // A member of a union has the value of one of its parts, so only the tags of all parts apply.
    const parts = this.#partsOf(symbol, containingType).map((part) => this.of(part));
    const isShared = ({ tag, text }: Constraint) =>
      parts.every(({ constraints }) => constraints.some((other) => other.tag === tag && other.text === text));
    const unshared = comment.constraints.filter((each) => !isShared(each));
    return { ...comment, constraints: comment.constraints.filter(isShared), unshared };
  }

  #declaring(symbol: ts.Symbol, has: (node: ts.Node) => boolean, depth: number): readonly ts.Node[] {
    if (depth > MAX_BASES) return [];
    const { containingType } = linksOf(symbol);
    const own = containingType === undefined ? (symbol.declarations ?? []).filter(has) : [];
    if (own.length > 0) return own;
    const origins = containingType === undefined ? this.#inherited(symbol) : this.#partsOf(symbol, containingType);
    return origins.flatMap((each) => this.#declaring(originOf(each), has, depth + 1));
  }

  /** Base types whose member of this name has no declaration, so that its tags cannot be inherited. */
  untagged(symbol: ts.Symbol): readonly ts.TypeNode[] {
    if (this.of(symbol).constraints.length > 0) return [];
    return basesOf(symbol).flatMap((base) => {
      const member = this.#checker.getPropertyOfType(this.#checker.getTypeAtLocation(base), symbol.name);
      if (member === undefined) return [];
      return originOf(member).declarations === undefined ? [base] : this.untagged(originOf(member));
    });
  }

  #partsOf({ name }: ts.Symbol, { types }: ts.UnionOrIntersectionType): ts.Symbol[] {
    return types.flatMap((type) => this.#checker.getPropertyOfType(type, name) ?? []);
  }

  /** Members of the same name in the base types of the interface or class that declares a member. */
  #inherited(symbol: ts.Symbol): ts.Symbol[] {
    return basesOf(symbol).flatMap(
      (base) => this.#checker.getPropertyOfType(this.#checker.getTypeAtLocation(base), symbol.name) ?? [],
    );
  }
}

/** Base types of the interfaces and classes that declare a member. */
function basesOf({ declarations = [] }: ts.Symbol): readonly ts.ExpressionWithTypeArguments[] {
  return declarations.flatMap(({ parent }) =>
    ts.isInterfaceDeclaration(parent) || ts.isClassLike(parent)
      ? (parent.heritageClauses ?? []).flatMap(({ types }) => types)
      : [],
  );
}

/** Maximum number of base types through which a member inherits its comment. */
const MAX_BASES = 40;

function memoized<Key, Value>(known: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = known.get(key) ?? make();
  known.set(key, found);
  return found;
}

function isConstraint({ tagName }: ts.JSDocTag): boolean {
  return tagName.text === "notSecret" || (CONSTRAINT_TAGS as readonly string[]).includes(tagName.text);
}

/** A comment whose tags have no effect. */
export interface IdleComment extends ts.TextRange {
  readonly code: "SVC147" | "SVC194";
}

/**
 * Comments around a member or alias whose tags have no effect. TypeScript attaches a comment on the line of the previous
 * token to nothing; {@link inlineDescription} reads the description of a member there.
 */
export function idleComments(declaration: ts.Node): readonly IdleComment[] {
  const { text } = declaration.getSourceFile();
  // A separator after the type is part of a member or an alias.
  const { type } = declaration as { readonly type?: ts.Node };
  const ends = [type?.end ?? declaration.end, declaration.end];
  const behind = ends.flatMap((end) => ts.getTrailingCommentRanges(text, end) ?? []);
  const before = ts.isTypeAliasDeclaration(declaration) ? [] : commentsBefore(declaration);
  const detached = [
    ...before.filter((comment) => isJSDoc(text, comment) && plainDescription(declaration, comment) === undefined),
    ...[...behind, ...(type === undefined ? [] : detachedInside(type))].filter(
      (comment) => isJSDoc(text, comment) && hasKnownTag(text.slice(comment.pos, comment.end)),
    ),
  ];
  const above = ts.getLeadingCommentRanges(text, declaration.pos) ?? [];
  return [
    ...detached.map(({ pos, end }) => ({ code: "SVC147" as const, pos, end })),
    ...plainTagged(text, [...before, ...above, ...behind]),
  ];
}

/** Comments inside a type that TypeScript attaches to no node. Members of object types are other declarations. */
function detachedInside(type: ts.Node): readonly ts.CommentRange[] {
  const { text } = type.getSourceFile();
  const attached = new Set<number>();
  const found: ts.CommentRange[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeElement(node)) return;
    for (const { pos } of (node as { readonly jsDoc?: readonly ts.JSDoc[] }).jsDoc ?? []) attached.add(pos);
    for (const at of [node.pos, node.end])
      found.push(...(ts.getLeadingCommentRanges(text, at) ?? []), ...(ts.getTrailingCommentRanges(text, at) ?? []));
    ts.forEachChild(node, visit);
  };
  visit(type);
  return found.filter(({ pos, end }) => pos >= type.pos && end <= type.end && !attached.has(pos));
}

/** Comments that begin with the tag of a constraint, but not with two asterisks. */
function plainTagged(text: string, comments: readonly ts.CommentRange[]): IdleComment[] {
  return comments
    .filter(({ pos, end }) => {
      const [, tag = ""] = /^\/(?:\/|\*(?!\*))\s*@(\w+)/.exec(text.slice(pos, end)) ?? [];
      return (CONSTRAINT_TAGS as readonly string[]).includes(tag);
    })
    .map(({ pos, end }) => ({ code: "SVC194", pos, end }));
}

function hasKnownTag(comment: string): boolean {
  return [...comment.matchAll(/(?<![\w{])@(\w+)/g)].some(([, name = ""]) => KNOWN_TAGS.includes(name));
}

function isJSDoc(text: string, { pos, end }: ts.CommentRange): boolean {
  return text.startsWith("/**", pos) && end - pos > "/***/".length;
}

/** Description before a declaration on the same line, where TypeScript does not attach it. */
function inlineDescription(declaration: ts.Node): string {
  const { text } = declaration.getSourceFile();
  const comments = commentsBefore(declaration).filter((comment) => isJSDoc(text, comment));
  const texts = comments.map((comment) => plainDescription(declaration, comment) ?? "");
  return texts.filter((each) => each !== "").join("\n");
}

/** Comments before a declaration that begin on the line of the previous token. */
function commentsBefore(declaration: ts.Node): readonly ts.CommentRange[] {
  const { text } = declaration.getSourceFile();
  const comments = ts.getTrailingCommentRanges(text, declaration.pos) ?? [];
  return comments.filter(({ end }) => end <= declaration.getStart());
}

/** Text of a comment without tags that ends on the line of the declaration; undefined for other comments. */
function plainDescription(declaration: ts.Node, { pos, end }: ts.CommentRange): string | undefined {
  const { text } = declaration.getSourceFile();
  if (/[\r\n]/.test(text.slice(end, declaration.getStart()))) return undefined;
  const alone = ts.createSourceFile("comment.ts", `${text.slice(pos, end)}\nlet x;`, ts.ScriptTarget.ESNext, true);
  const [doc] = alone.statements.flatMap((statement) => ts.getJSDocCommentsAndTags(statement)).filter(ts.isJSDoc);
  return doc === undefined || doc.tags !== undefined ? undefined : (ts.getTextOfJSDocComment(doc.comment) ?? "");
}

/** Description of a declaration, with its links as they are written. */
function descriptionOf(node: ts.Node): string {
  const blocks = ts.getJSDocCommentsAndTags(node);
  if (blocks.length === 0) return inlineDescription(node);
  const texts = blocks
    .filter((block) => ts.isJSDoc(block) || ts.isJSDocParameterTag(block))
    .map(({ comment = "" }) =>
      typeof comment === "string"
        ? comment
        : comment.map((part) => (part.kind === ts.SyntaxKind.JSDocText ? part.text : part.getText())).join(""),
    );
  return texts.join("\n").replace(/\r\n?/g, "\n").trim();
}

/** @param read converts the text of `@default` and `@example` to a value */
function parseComment(
  text: string,
  given: readonly ts.JSDocTag[],
  isForeign: Program["isForeign"],
  read = parseJsonOrText,
): Comment {
  const tags = given.map((tag) => ({ tag, name: tag.tagName.text, text: tagText(tag) }));
  const reasons = tags.flatMap((tag) => (tag.name === "deprecated" && tag.text !== "" ? [tag.text] : []));
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
  // Diagnostics about a dependency's comment would not help, because the project cannot change it.
  const own = tags.filter(({ tag }) => !isForeign(tag.getSourceFile()));
  return {
    description: [text, ...reasons.map((reason) => `Deprecated: ${reason}`)].filter((each) => each !== "").join("\n"),
    annotations,
    constraints: CONSTRAINT_TAGS.flatMap((known) =>
      tags.filter(({ name }) => name === known).map(({ text, tag }) => ({ tag: known, text, node: tag })),
    ),
    unshared: [],
    notSecret: tags.some(({ name }) => name === "notSecret"),
    examples: tags.flatMap(({ name, tag, text }) => {
      const annotation = annotations.findLast(([keyword]) => keyword === (name === "example" ? "examples" : name));
      const isValue = name === "default" || name === "example";
      return isValue && annotation !== undefined ? [{ tag, value: read(text), annotation }] : [];
    }),
    onText: () => parseComment(text, given, isForeign, parseText),
    acknowledged: own.filter(({ name }) => name === "acknowledge"),
    misspellings: own.flatMap(({ tag, name }) => {
      if (KNOWN_TAGS.includes(name)) return [];
      if (UNCHECKED_TAGS.includes(name)) return [{ tag, problem: "the server does not check it: check it in invoke" }];
      const meant = similarTag(name);
      return meant === undefined ? [] : [{ tag, problem: `did you mean @${meant}?` }];
    }),
  };
}

/** The comment with only what applies to values: its documentation is that of something else. */
export function withoutDocumentation(comment: Comment): Comment {
  const onText = () => withoutDocumentation(comment.onText());
  return { ...comment, description: "", annotations: [], examples: [], onText };
}

/** Tags of other generators, with the corresponding tags of svc-gen. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  integer: "asType integer",
  int: "asType integer",
  "TJS-type": "asType integer",
};

/** Known tag that a name misspells or abbreviates (`minimun`, `MinLength`, `max`). */
export function similarTag(name: string, known: readonly string[] = KNOWN_TAGS): string | undefined {
  if (Object.hasOwn(OTHER_NAMES, name)) return OTHER_NAMES[name];
  const begins = name.length >= 3 ? known.find((each) => each.startsWith(name.toLowerCase())) : undefined;
  // Tags of other tools are often short (@file, @type), so similar short names are not misspellings.
  return closest(name, known, Math.min(2, Math.floor(name.length * 0.4)))[0] ?? begins;
}

/** End of the part of a tag that a diagnostic marks: its first line. Undefined for a node that is not a tag. */
export function endOfTag(node: ts.Node): number | undefined {
  const isTag = node.kind >= ts.SyntaxKind.FirstJSDocTagNode && node.kind <= ts.SyntaxKind.LastJSDocTagNode;
  if (!isTag) return undefined;
  const [line = ""] = node.getSourceFile().text.slice(node.getStart(), node.end).split(/\r?\n/, 1);
  return node.getStart() + line.replace(/\*\/$/, "").trimEnd().length;
}

/** Source text of a tag, without the comment's asterisks. */
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

/** Value of a tag on a text: a JSON string, null, or the literal text. */
function parseText(text: string): Json {
  const value = parseJsonOrText(text);
  return value === null || typeof value === "string" ? value : text;
}

export const NO_COMMENT = parseComment("", [], () => false);

/** Annotations as keywords. An outer comment overrides an inner one. */
export function annotate({ description, annotations }: Comment, inner?: Doc): Doc | undefined {
  const outer = new Map(annotations.map((each) => [each[0], each]));
  const keywords = [...(inner?.keywords ?? []).filter(([keyword]) => !outer.has(keyword)), ...outer.values()];
  const text = description === "" ? inner?.description : description;
  if (text === undefined && keywords.length === 0) return undefined;
  return { ...(text === undefined ? {} : { description: text }), keywords };
}
