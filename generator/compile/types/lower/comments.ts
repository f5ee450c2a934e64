/** Adds JSDoc to shapes: comments of aliases, enums, types and members with their constraints and tags. */

import { didYouMean, FORMAT_NAMES } from "svc-runtime/internal/generator";
import { readAcknowledged } from "../../diagnostics/acknowledge.js";
import { isNever, partsOf, type Shape } from "../../model.js";
import { ts } from "../../project/typescript.js";
import { conflictingTags, constrain, isSecret, uncheckedFormat } from "../constraints.js";
import { enumMembers } from "../declared-order.js";
import { annotate, type Comment, type Comments, endOfTag, idleComments, readNodeComment } from "../jsdoc.js";
import { slowPart } from "../slow-patterns.js";
import { isDataRef } from "../type-predicates.js";
import { MAX_DEPTH } from "../type-syntax.js";
import type { Lowering, Use, Where } from "./lowering.js";

const { TypeFlags } = ts;

/** Adds the comments of the aliases through which the syntax refers to the type. */
export function addAliasComments(lowering: Lowering, shape: Shape, use: Use): Shape {
  let result = shape;
  for (const comment of aliasComments(lowering, use)) {
    result = addComment(lowering, result, comment, use);
    if (comment.notSecret) lowering.notSecret.add(result);
  }
  return result;
}

/** Adds the enum's comment to a union of all its members, or a member's comment to that member. */
export function addEnumComment(lowering: Lowering, shape: Shape, types: readonly ts.Type[], use: Use): Shape {
  const symbol = enumSymbol(
    lowering,
    types.filter(({ flags }) => !(flags & (TypeFlags.Null | TypeFlags.Undefined))),
  );
  if (symbol === undefined || shape.kind === "ref") return shape;
  const comment = lowering.types.comments.of(symbol);
  recordTags(lowering, comment, use, shape);
  const doc = annotate({ ...comment, description: enumDescription(lowering.types.comments, symbol) }, shape.doc);
  return doc === undefined ? shape : { ...shape, doc };
}

function enumSymbol(lowering: Lowering, types: readonly ts.Type[]): ts.Symbol | undefined {
  const [first] = types;
  if (first === undefined || !types.every(({ flags }) => flags & TypeFlags.EnumLiteral)) return undefined;
  const base = lowering.checker.getBaseTypeOfLiteralType(first);
  const members = base.isUnion() ? base.types : [base];
  const isWhole = members.length === types.length && types.every((type) => members.includes(type));
  return isWhole ? base.getSymbol() : types.length === 1 ? first.getSymbol() : undefined;
}

function aliasComments(lowering: Lowering, { subject, syntax }: Use): Comment[] {
  const comments: Comment[] = [];
  let at = lowering.syntax.resolve(syntax);
  for (let hops = 0; at !== undefined && hops < MAX_DEPTH; hops++) {
    const alias = lowering.syntax.alias(at);
    if (alias === undefined) break;
    if (isDataRef(alias.declaration)) break;
    if (!lowering.program.program.isSourceFileDefaultLibrary(alias.declaration.getSourceFile())) {
      comments.unshift(readNodeComment(alias.declaration));
    }
    const node = lowering.own(alias.declaration);
    const { above = [], behind = [] } = node === undefined ? {} : idleComments(node);
    for (const comment of [...above, ...behind]) {
      const detail = above.includes(comment) ? undefined : `it follows ${alias.declaration.name.text}`;
      lowering.report(comment.code, { subject, node: alias.declaration, comment }, detail);
    }
    at = lowering.syntax.resolve(alias.body);
  }
  return comments;
}

function addComment(lowering: Lowering, shape: Shape, given: Comment, use: Use): Shape {
  if (isNever(shape)) return shape;
  const constrained = addConstraints(lowering, shape, given, use);
  const comment = onShape(given, constrained);
  recordTags(lowering, comment, use, constrained);
  const doc = annotate(comment, constrained.doc);
  return doc === undefined ? constrained : { ...constrained, doc };
}

export function addConstraints(lowering: Lowering, shape: Shape, comment: Comment, use: Use): Shape {
  if (isNever(shape)) return shape;
  let result = shape;
  for (const constraint of comment.constraints) {
    const isForeign = lowering.program.isForeign(constraint.node.getSourceFile());
    const at = { ...use, node: isForeign ? use.node : constraint.node };
    const before = lowering.definitions.resolve(result);
    const next =
      constraint.tag === "secret" && lowering.side === "output"
        ? { kind: "place" as const, detail: "@secret applies to inputs only: callers see the whole result" }
        : constrain(before, constraint);
    // A dependency's tag may be meant for another tool, and the project cannot correct it.
    if (isForeign && ("detail" in next || conflictingTags(next) !== undefined)) continue;
    if ("detail" in next) {
      lowering.report(next.kind === "value" ? "SVC170" : "SVC171", at, next.detail);
      continue;
    }
    result = next;
    const tags = conflictingTags(result);
    if (tags !== undefined && conflictingTags(before) === undefined) lowering.report("SVC172", at, tags);
    if (constraint.tag === "pattern") checkPattern(lowering, constraint.text, comment, at);
    const format =
      !isForeign && constraint.tag === "format" && lowering.side === "input" ? uncheckedFormat(result) : undefined;
    if (format !== undefined)
      lowering.report(
        "SVC175",
        at,
        format === "password"
          ? "password; use @secret to mark a secret"
          : `${format}${didYouMean(format, FORMAT_NAMES)}`,
      );
  }
  return result;
}

/** Reports a slow pattern: matching one text can block the server, or any other program that checks the pattern. */
function checkPattern(lowering: Lowering, pattern: string, { constraints }: Comment, at: Where): void {
  const slow = slowPart(pattern);
  if (slow?.growth === "exponential") lowering.report("SVC177", at, slow.part);
  const limits = constraints.filter(({ tag }) => tag === "maxLength").map(({ text }) => Number(text));
  const isShort = limits.some((limit) => limit <= MAX_QUADRATIC_LENGTH);
  if (slow?.growth === "quadratic" && lowering.side === "input" && !isShort) lowering.report("SVC178", at, slow.part);
}

/** Records misspelled tags, acknowledged notes and example values. */
export function recordTags(
  lowering: Lowering,
  comment: Comment,
  { subject }: { readonly subject: string },
  shape?: Shape,
  optional = false,
): void {
  for (const { tag, problem } of comment.misspellings) {
    lowering.report("SVC174", { subject, node: tag }, `@${tag.tagName.text}; ${problem}`);
  }
  for (const { tag, text } of comment.acknowledged) {
    const read = readAcknowledged(text);
    if ("problem" in read) lowering.report("SVC170", { subject, node: tag }, read.problem);
    else lowering.acknowledged.push({ codes: read.codes, subject, place: lowering.program.at(tag, endOfTag(tag)) });
  }
  if (shape === undefined) return;
  for (const { tag, value } of comment.examples) {
    lowering.examples.push({ value, shape, optional, subject, place: lowering.program.at(tag, endOfTag(tag)) });
  }
}

/** Reports inputs with names like secrets, unless the member, an alias or an enclosing type declares otherwise. */
export function reportSecrets(lowering: Lowering, root: Shape): void {
  const seen = new Set<Shape>();
  const visit = (shape: Shape): void => {
    if (lowering.notSecret.has(shape) || seen.has(shape)) return;
    seen.add(shape);
    const secret = lowering.secrets.get(shape);
    if (secret !== undefined && !isSecret(shape)) lowering.report("SVC154", secret, secret.detail);
    if (shape.kind === "ref") visit(lowering.definitions.resolve(shape));
    else for (const part of partsOf(shape)) visit(part);
  };
  visit(root);
}

export function addTypeComment<S extends Shape>(lowering: Lowering, shape: S, type: ts.Type, use: Use): S {
  const symbol = type.getSymbol();
  if (symbol === undefined || !(symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class))) return shape;
  if (isNever(shape)) return shape;
  const comment = lowering.types.comments.of(symbol);
  // Constraints do not change the kind of a shape.
  const documented = addComment(lowering, shape, comment, use) as S;
  if (comment.notSecret) lowering.notSecret.add(documented);
  return documented;
}

/** Comment with the values that its tags have for this shape. */
export function onShape(comment: Comment, shape: Shape): Comment {
  return shape.kind === "string" && comment.annotations.length > 0 ? comment.onText() : comment;
}

/** For an enum, its comment and a line for each documented member; for a member, its own comment. */
function enumDescription(comments: Comments, symbol: ts.Symbol): string {
  const { description } = comments.of(symbol);
  if (!(symbol.flags & ts.SymbolFlags.Enum)) return description;
  const lines = enumMembers(symbol).flatMap((member) => {
    const own = (member as { symbol?: ts.Symbol }).symbol;
    const text = own === undefined ? "" : comments.of(own).description;
    return text === "" ? [] : [`${member.name.getText()}: ${text}`];
  });
  return [description, ...lines].filter((each) => each !== "").join("\n");
}

/** Maximum length of a text for which a pattern of quadratic time is still fast. */
const MAX_QUADRATIC_LENGTH = 1000;
