/** Applies the constraints of JSDoc tags to shapes of types, and finds constraints that no value can satisfy. */

import { bigintRange, FORMAT_NAMES } from "svc-runtime/internal/generator";
import type { Json } from "../../text/json.js";
import {
  CONSTRAINTS,
  type Constrainable,
  type ConstraintKeyword,
  keywordsOf,
  NUMBER_FORMATS,
  SHAPES,
} from "../keywords.js";
import { keywordValue, partsOf, type Shape, tupleLengths } from "../model.js";
import { type Constraint, type ConstraintTag, parseJsonOrText } from "./jsdoc.js";

/** Error of a constraint: its value is invalid, or no part of the type accepts it. */
export type ConstraintError = { readonly kind: "value" | "place"; readonly detail: string };

/**
 * Adds a constraint to the part of a type that it applies to: the type itself, branches of a union, or elements of a
 * list.
 */
export function constrain(shape: Shape, constraint: Constraint): Shape | ConstraintError {
  const keyword = parseConstraint(constraint);
  if (typeof keyword === "string") return { kind: "value", detail: `@${constraint.tag} ${keyword}` };
  const isOther =
    constraint.tag === "format"
      ? isSecret(shape)
      : constraint.tag === "secret" && !isSecret(shape) && formatOf(shape) !== undefined;
  if (isOther) {
    return { kind: "place", detail: "@secret and @format exclude each other: a secret has the format password" };
  }
  const result = applyConstraint(shape, constraint.tag, keyword.value);
  return result ?? { kind: "place", detail: misplacedTag(shape, constraint.tag, keyword.value) };
}

/** Message for a tag that does not apply to the type. */
function misplacedTag(shape: Shape, tag: ConstraintTag, value: Json): string {
  const on = targetOf(tag);
  if (shape.kind === "wrapped" || (shape.kind === "array" && on !== "lists"))
    return misplacedTag(shape.item, tag, value);
  if (shape.kind === "union" && tag === "secret")
    return "@secret applies to text only, and a part of this union is not text";
  if (shape.kind === "number" && tag === "format" && !INTEGER_FORMATS.includes(value)) {
    return `@format on a number expects one of ${Object.keys(NUMBER_FORMATS).join(", ")}`;
  }
  if (shape.kind === "number" && tag === "format") {
    return `@format ${value} needs the type bigint, because a number is exact only to ±(2^53−1)`;
  }
  if (shape.kind === "bigint" && on === "numbers" && tag !== "asType")
    return `@${tag} on a bigint expects a whole number`;
  if (shape.kind === "bigint" && tag === "format") return '@format on a bigint expects "int64" or "uint64"';
  if (shape.kind === "date" && tag === "format") return '@format on a Date expects "date-time"';
  if (shape.kind === "object" && on === "objects") {
    return `@${tag} applies to objects without an index signature only`;
  }
  return `@${tag} applies to ${on}, not to ${SHAPE_NAMES[shape.kind]}`;
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

/** Whether a text is a valid argument of a tag. */
export function isArgument(tag: ConstraintTag, text: string): boolean {
  return typeof parseConstraint({ tag, text }) !== "string";
}

/** Value of the keyword, or a message about the values that the tag accepts. */
function parseConstraint({ tag, text }: Pick<Constraint, "tag" | "text">): { value: Json } | string {
  if (tag === "asType") return text === "integer" ? { value: text } : 'expects "integer"';
  // Text after the tag is a remark for readers, as after @notSecret.
  if (tag === "secret") return { value: true };
  const number = /^-?\d/.test(text) ? parseJsonOrText(text) : text;
  switch (CONSTRAINTS[tag].takes) {
    case "name":
      return /^[a-z][a-z0-9-]*$/.test(text) ? { value: text } : "expects the name of a format";
    case "true":
      return text === "" || text === "true" ? { value: true } : "takes no value";
    case "boolean":
      return text === "true" || text === "false" ? { value: text === "true" } : 'expects "true" or "false"';
    case "regex":
      return parseRegex(text);
    case "count":
      return typeof number === "number" && Number.isSafeInteger(number) && number >= 0
        ? { value: number }
        : "expects a whole number from 0";
    case "positive":
      if (typeof number !== "number" && typeof number !== "bigint") return "expects a number";
      return number > 0 ? { value: number } : "expects a number above 0";
    case "number":
      return typeof number === "number" || typeof number === "bigint" ? { value: number } : "expects a number";
  }
}

function parseRegex(text: string): { value: Json } | string {
  if (text === "") return "expects a regular expression";
  const literal = /^\/(.+)\/([dgimsuvy]*)$/s.exec(text);
  if (literal !== null) {
    const [, source = "", flags = ""] = literal;
    const without = flags === "" ? "slashes" : "slashes and flags";
    return `expects a regular expression without ${without}: write ${source}, or \\/${source}\\/ if the pattern contains the slashes`;
  }
  try {
    new RegExp(text, "u");
    return { value: text };
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^.*: /s, "") : "";
    return `expects a regular expression (with the flag u): ${reason}`;
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
      ? withDocKeyword(withDocKeyword(shape, "format", "password"), "writeOnly", true)
      : undefined;
  }
  if (tag === "format" && shape.kind === "bigint") {
    return json === "int64" || json === "uint64" ? { ...shape, format: json } : undefined;
  }
  if (tag === "format" && shape.kind === "number") {
    const range = typeof json === "string" && Object.hasOwn(NUMBER_FORMATS, json) ? NUMBER_FORMATS[json] : undefined;
    return range && withRange(withDocKeyword({ ...shape, integer: true }, tag, json), range);
  }
  // Equivalent to `[name: string]: never`, after which no object literal may have other members.
  if (tag === "additionalProperties" && shape.kind === "object") {
    return shape.indexes.length === 0 ? { ...shape, closed: json === false } : undefined;
  }
  if (!isApplicable(shape, tag, json)) return undefined;
  const result = withDocKeyword(shape, tag, json);
  const format = shape.kind === "number" ? keywordValue(shape, "format") : undefined;
  return format === undefined
    ? result
    : withRange(result, NUMBER_FORMATS[format as string] as (typeof NUMBER_FORMATS)[string]);
}

function withRange(shape: Shape, [least, most]: (typeof NUMBER_FORMATS)[string]): Shape {
  const bounds = numbersOf(shape, ["minimum", "maximum"]);
  const [low = least, high = most] = [bounds.get("minimum"), bounds.get("maximum")];
  const narrowed = withDocKeyword(shape, "minimum", low > least ? low : least);
  return withDocKeyword(narrowed, "maximum", high < most ? high : most);
}

function isApplicable(shape: Shape, keyword: ConstraintKeyword, json: Json): boolean {
  if (shape.kind === "json") return keyword !== "format" && keyword !== "additionalProperties";
  if (shape.kind === "date") return keyword === "format" && json === "date-time";
  if (shape.kind === "bigint" && typeof json !== "bigint" && !Number.isInteger(json)) return false;
  return SHAPES[CONSTRAINTS[keyword].on].includes(shape.kind);
}

function withDocKeyword(shape: Shape, tag: string, json: Json): Shape {
  if (shape.kind === "date") return shape;
  const keywords = (shape.doc?.keywords ?? []).filter(([name]) => name !== tag);
  return { ...shape, doc: { ...shape.doc, keywords: [...keywords, [tag, json]] } };
}

/** Format of a text shape that appears in the schema but is not checked, if any. */
export function uncheckedFormat(shape: Shape): string | undefined {
  const format = formatOf(shape);
  return format !== undefined && !FORMAT_NAMES.includes(format) ? format : undefined;
}

/** First format of a text, including texts in a union or list. */
function formatOf(shape: Shape): string | undefined {
  if (shape.kind === "union") return shape.branches.map(formatOf).find((found) => found !== undefined);
  if (shape.kind === "array") return formatOf(shape.item);
  const format = keywordValue(shape, "format");
  return shape.kind === "string" && format !== undefined ? String(format) : undefined;
}

/** Whether `@secret` marks a text or any part of a type. Does not follow references. */
export function isSecret(shape: Shape): boolean {
  return keywordValue(shape, "writeOnly") !== undefined || partsOf(shape).some(isSecret);
}

/** Tags of a shape that no value can satisfy together, as source text; undefined if there is no conflict. */
export function conflictingTags(shape: Shape): string | undefined {
  switch (shape.kind) {
    case "union":
      return shape.branches.map(conflictingTags).find((found) => found !== undefined);
    case "array":
      return emptyCountRange(shape, "lists") ?? conflictingTags(shape.item);
    case "tuple":
      return emptyCountRange(shape, "lists", ...tupleLengths(shape));
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

/** Tags for a length or count that allow no value between `least` and `most`. */
function emptyCountRange(shape: Shape, on: "text" | "lists", least = 0, most = Number.POSITIVE_INFINITY) {
  const [min, max] = keywordsOf(on, "count") as [min: ConstraintKeyword, max: ConstraintKeyword];
  const tags = numbersOf(shape, [min, max]);
  const from = Math.max(least, Number(tags.get(min) ?? least));
  const to = Math.min(most, Number(tags.get(max) ?? most));
  return from <= to ? undefined : printTags(tags);
}

/** Tags for a range that contains no number; for integers, no multiple of the step. */
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

/** First integer from a bound; with an integer `step`, the first multiple of it. */
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
