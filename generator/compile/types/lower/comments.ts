/** Adds JSDoc to shapes: comments of aliases, enums, types and members with their constraints and tags. */

import { didYouMean, FORMAT_NAMES } from "svc-runtime/internal/generator";
import { readAcknowledged } from "../../diagnostics/acknowledge.js";
import { distinctShapes, isNever, partsOf, type Shape } from "../../model.js";
import { ts } from "../../project/typescript.js";
import { conflictingTags, constrain, isSecret, uncheckedFormat } from "../constraints.js";
import { enumMembers } from "../declared-order.js";
import {
  annotate,
  type Comment,
  type Comments,
  type Constraint,
  endOfTag,
  idleComments,
  NO_COMMENT,
} from "../jsdoc.js";
import { slowPart } from "../slow-patterns.js";
import { MAX_DEPTH, type MappedType } from "../type-syntax.js";
import type { Lowering, Use, Where } from "./lowering.js";

const { TypeFlags } = ts;

/** Lowers a type by each syntax that denotes it, and adds the comments on the way to that syntax. */
export function lowerSources(lowering: Lowering, type: ts.Type, use: Use, make: (use: Use) => Shape): Shape {
  const { isPart = false, ...whole } = use;
  const sources = lowering.sources.sources(type, use.syntax, isPart);
  if (sources.length === 0 || sources.some(({ isOpen }) => isOpen)) reportOutOfReach(lowering, type, use);
  const shapes = sources.map(({ syntax, comments }) => {
    let result = make({ ...whole, syntax, written: use.syntax });
    for (const { comment, alias, isForPart } of comments) {
      if (alias !== undefined) reportIdleComments(lowering, alias, use.subject);
      result = addComment(lowering, result, comment, use, isForPart);
      if (comment.notSecret) lowering.notSecret.add(result);
    }
    return result;
  });
  if (shapes.length > 0) return unionOfSources(shapes);
  const syntax = isPart ? undefined : use.syntax;
  return make({ ...whole, syntax, written: syntax });
}

function unionOfSources(shapes: readonly Shape[]): Shape {
  const branches = distinctShapes(shapes.flatMap((shape) => (shape.kind === "union" ? shape.branches : [shape])));
  const [only] = shapes;
  return only !== undefined && (shapes.length === 1 || branches.length === 1) ? only : { kind: "union", branches };
}

/** Reports constraints of declarations to which a syntax refers, if svc-gen cannot follow them to the type. */
export function reportOutOfReach(lowering: Lowering, type: ts.Type, use: Use, names?: readonly string[]): void {
  reportLost(lowering, lowering.sources.taggedWith(type, use.syntax, names), use);
}

/** Reports constraints of the project that do not apply to a value derived from their declaration, nor to a part of it. */
function reportLost(lowering: Lowering, constraints: readonly Constraint[], use: Use, shape?: Shape): void {
  const holds = (part: Shape, node: ts.Node): boolean =>
    (part.doc?.keywords ?? []).some((keyword) => lowering.tagPlaces.get(keyword) === node) ||
    partsOf(part).some((inner) => holds(inner, node));
  const own = constraints.filter(
    ({ node }) => lowering.own(node) !== undefined && !(shape !== undefined && holds(shape, node)),
  );
  const tags = own.map(({ tag, text }) => `@${tag} ${text}`.trim()).join(" ");
  const places = own.map(({ node }) => node);
  if (own.length > 0) lowering.report("SVC198", use, tags, undefined, places);
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

/** Reports comments around a member or alias of the project whose tags have no effect. */
export function reportIdleComments(lowering: Lowering, declaration: ts.Node, subject: string): void {
  if (lowering.own(declaration) === undefined) return;
  for (const comment of idleComments(declaration)) {
    lowering.report(comment.code, { subject, node: declaration, comment });
  }
}

export function addComment(lowering: Lowering, shape: Shape, given: Comment, use: Use, isForPart = false): Shape {
  if (isNever(shape)) return shape;
  const constrained = addConstraints(lowering, shape, given, use, isForPart);
  const comment = onShape(given, constrained);
  recordTags(lowering, comment, use, constrained);
  const doc = annotate(comment, constrained.doc);
  return doc === undefined ? constrained : { ...constrained, doc };
}

/**
 * Applies the constraints of a comment to a shape, and reports those that do not apply.
 *
 * @param isForPart whether a constraint that does not apply to this type may be for another one
 */
export function addConstraints(lowering: Lowering, shape: Shape, comment: Comment, use: Use, isForPart = false): Shape {
  if (isNever(shape)) return shape;
  let result = shape;
  reportLost(lowering, comment.unshared, use, shape);
  for (const constraint of comment.constraints) {
    const isForeign = lowering.program.isForeign(constraint.node.getSourceFile());
    const at = { ...use, node: isForeign ? use.node : constraint.node };
    const before = lowering.definitions.resolve(result);
    if (constraint.tag === "format" && UNKNOWN_FORMATS.includes(constraint.text) && isNumeric(before)) {
      lowering.report("SVC199", at, `@format ${constraint.text}; the schema has the type number without a format`);
      continue;
    }
    const next =
      constraint.tag === "secret" && lowering.side === "output"
        ? { kind: "place" as const, detail: "@secret applies to inputs only: callers see the whole result" }
        : constrain(before, constraint);
    // A dependency's tag may be meant for another tool, and the project cannot correct it.
    if (isForeign && ("detail" in next || conflictingTags(next) !== undefined)) continue;
    if ("detail" in next) {
      if (next.kind === "place" && use.isMapped) reportLost(lowering, [constraint], use, before);
      else if (next.kind === "place" && isForPart) lowering.unapplied.push({ constraint, at, detail: next.detail });
      else lowering.report(next.kind === "value" ? "SVC170" : "SVC171", at, next.detail);
      continue;
    }
    result = next;
    lowering.applied.add(constraint.node);
    recordPlaces(lowering.tagPlaces, result, constraint.node);
    const conflict = conflictingTags(before) === undefined ? conflictingTags(result) : undefined;
    if (conflict !== undefined) {
      const places = conflict.flatMap((tag) => lowering.tagPlaces.get(tag) ?? []);
      const others = new Set(places.filter((node) => node !== constraint.node));
      lowering.report("SVC172", at, conflict.map((tag) => `@${tag.join(" ")}`).join(" "), undefined, [...others]);
    }
    reportDoubts(lowering, constraint, comment, at, result);
  }
  return result;
}

/** Reports a constraint that was applied, but is there twice, has a slow pattern or a format that is not checked. */
function reportDoubts(lowering: Lowering, { tag, text, node }: Constraint, comment: Comment, at: Where, after: Shape) {
  if (tag === "pattern") checkPattern(lowering, text, comment, at);
  const isRepeated = (other: Constraint) =>
    other.tag === tag && other.node.parent === node.parent && other.node.pos < node.pos;
  if (comment.constraints.some(isRepeated)) lowering.report("SVC196", at, `@${tag} is there twice, and both apply`);
  const isOwnInput = lowering.side === "input" && lowering.own(node) !== undefined;
  const format = tag === "format" && isOwnInput ? uncheckedFormat(after) : undefined;
  if (format === undefined) return;
  const advice = format === "password" ? "; use @secret to mark a secret" : didYouMean(format, FORMAT_NAMES);
  lowering.report("SVC175", at, `${format}${advice}`);
}

/** Records the tag that set each keyword. */
function recordPlaces(places: Lowering["tagPlaces"], shape: Shape, node: ts.Node): void {
  for (const keyword of shape.doc?.keywords ?? []) if (!places.has(keyword)) places.set(keyword, node);
  if (shape.kind !== "object") for (const part of partsOf(shape)) recordPlaces(places, part, node);
}

/** Formats of other generators for numbers, which svc-gen ignores. */
const UNKNOWN_FORMATS: readonly string[] = ["int64", "uint64", "double", "float"];

/** Whether a value has numbers, and no bigint to which a format would apply. */
function isNumeric(shape: Shape): boolean {
  const kinds = [shape, ...(shape.kind === "object" ? [] : partsOf(shape))];
  return kinds.some(({ kind }) => kind === "number") && kinds.every(({ kind }) => kind !== "bigint");
}

/** Reports a pattern that is slow, probably wrong, or unknown to the regular expressions of other languages. */
function checkPattern(lowering: Lowering, pattern: string, { constraints }: Comment, at: Where): void {
  if (/(?<!\\)\$[ \n]/.test(pattern)) {
    lowering.report("SVC196", at, "it matches no text, because text follows $: write remarks above the tags");
  } else if (COUNTED.test(pattern) && !/[\^$]|\\b|\(\?/i.test(pattern)) {
    lowering.report(
      "SVC196",
      at,
      "it matches a part of the text: begin it with ^ and end it with $, or write .* around it",
    );
  }
  const engines = OTHER_ENGINES.flatMap(([syntax, detail]) => (syntax.test(pattern) ? [detail] : []));
  if (engines.length > 0) lowering.report("SVC197", at, engines.join(", and "));
  const slow = slowPart(pattern);
  if (slow?.growth === "exponential") lowering.report("SVC177", at, slow.part);
  const limits = constraints.filter(({ tag }) => tag === "maxLength").map(({ text }) => Number(text));
  const isShort = limits.some((limit) => limit <= MAX_QUADRATIC_LENGTH);
  if (slow?.growth === "quadratic" && lowering.side === "input" && !isShort) lowering.report("SVC178", at, slow.part);
}

/** Repetition of a class or group, as in rules for whole values. */
const COUNTED = /(?:[\])]|\\[dw])(?:[+*]|\{\d)/i;

/** Syntax of JavaScript's regular expressions that other engines refuse. */
const OTHER_ENGINES: readonly (readonly [syntax: RegExp, detail: string])[] = [
  [/\(\?<?[=!]/, "look-around does not compile in Go and in Rust's regex"],
  [/\\[1-9]|\\k</, "back-references do not compile in Go and in Rust's regex"],
  [/\\p\{/i, "\\p{…} does not compile in Python's re"],
];

/** Records misspelled tags, acknowledged notes and example values. */
export function recordTags(
  lowering: Lowering,
  comment: Comment,
  { subject }: { readonly subject: string },
  shape?: Shape,
  optional = false,
): void {
  for (const { tag, problem } of comment.misspellings) {
    const code = tag.tagName.text === "TJS-type" ? "SVC199" : "SVC174";
    lowering.report(code, { subject, node: tag }, `@${tag.tagName.text}; ${problem}`);
  }
  for (const { tag, text } of comment.acknowledged) {
    const read = readAcknowledged(text);
    if ("problem" in read) lowering.report("SVC170", { subject, node: tag }, read.problem);
    else lowering.acknowledged.push({ codes: read.codes, subject });
  }
  if (shape === undefined) return;
  for (const { tag, value, annotation } of comment.examples) {
    const foreign = lowering.own(tag) === undefined ? { foreign: annotation } : {};
    if (shape.kind === "string" && foreign.foreign === undefined && /^'.*'$/s.test(String(value))) {
      lowering.report("SVC196", { subject, node: tag }, "the quotes are part of the value: remove them");
    }
    const place = lowering.program.at(tag, endOfTag(tag));
    lowering.examples.push({ value, shape, optional, subject, place, ...foreign });
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
  if (isNever(shape)) return shape;
  const closing = closingTag(lowering, type, 0);
  const closed =
    closing === undefined
      ? shape
      : (addConstraints(lowering, shape, { ...NO_COMMENT, constraints: [closing] }, use, true) as S);
  const symbol = type.getSymbol();
  if (symbol === undefined || !(symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class))) return closed;
  const comment = lowering.types.comments.of(symbol);
  // Constraints do not change the kind of a shape.
  const documented = addComment(lowering, closed, comment, use) as S;
  if (comment.notSecret) lowering.notSecret.add(documented);
  return documented;
}

/** The `@additionalProperties` of an object type: its own, or else of a type that it derives from. */
function closingTag(lowering: Lowering, type: ts.Type, depth: number): Constraint | undefined {
  const { comments } = lowering.types;
  const isClosing = ({ tag }: Constraint) => tag === "additionalProperties";
  const own = [type.aliasSymbol, type.getSymbol()]
    .flatMap((symbol) => (symbol === undefined ? [] : comments.of(symbol).constraints))
    .find(isClosing);
  if (own !== undefined || depth > MAX_DEPTH) return own;
  const { target = type } = type as Partial<ts.TypeReference>;
  // Sets `modifiersType`.
  lowering.checker.getPropertiesOfType(type);
  const { modifiersType: source } = type as MappedType;
  const origins = type.isIntersection()
    ? type.types
    : target.isClassOrInterface()
      ? lowering.checker.getBaseTypes(target)
      : source === undefined
        ? []
        : [source];
  const found = origins.flatMap((each) => closingTag(lowering, each, depth + 1) ?? []);
  return found.find(({ text }) => text === "false") ?? found[0];
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
