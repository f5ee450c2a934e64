/** Applies the constraints of JSDoc tags to shapes of types, and finds constraints that no value can satisfy. */

import { bigintRange, decimalOf, FORMAT_NAMES } from "svc-runtime/internal/generator";
import type { Json } from "../../text/json.js";
import {
  CONSTRAINTS,
  type Constrainable,
  type ConstraintKeyword,
  keywordsOf,
  NUMBER_FORMATS,
  plainInteger,
  SHAPES,
} from "../keywords.js";
import { type Doc, keywordValue, partsOf, type Shape, tupleLengths } from "../model.js";
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
  return result ?? { kind: "place", detail: misplacedTag(shape, constraint.tag) };
}

/** Message for a tag that does not apply to the type. */
function misplacedTag(shape: Shape, tag: ConstraintTag): string {
  const on = targetOf(tag);
  if (shape.kind === "wrapped" || (shape.kind === "array" && on !== "lists")) return misplacedTag(shape.item, tag);
  if (shape.kind === "union" && tag === "secret")
    return "@secret applies to text only, and a part of this union is not text";
  if (shape.kind === "number" && tag === "format") {
    return `@format on a number expects one of ${Object.keys(NUMBER_FORMATS).join(", ")}`;
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

/**
 * Returns the shape with the constraint; undefined if the tag does not apply to it. In a union, the tag applies to the
 * branches that it fits; `@secret` must fit all except null.
 */
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
    if (json !== "int64" && json !== "uint64") return undefined;
    return (shape.format ?? json) === json ? { ...shape, format: json } : withDocKeyword(shape, tag, json);
  }
  if (tag === "format" && shape.kind === "number") {
    const range = typeof json === "string" && Object.hasOwn(NUMBER_FORMATS, json) ? NUMBER_FORMATS[json] : undefined;
    if (range === undefined) return undefined;
    const integer = withDocKeyword({ ...shape, integer: true }, tag, json);
    return withDocKeyword(withDocKeyword(integer, "minimum", range[0]), "maximum", range[1]);
  }
  // Equivalent to `[name: string]: never`, after which no object literal may have other members.
  if (tag === "additionalProperties" && shape.kind === "object") {
    return shape.indexes.length === 0 ? { ...shape, closed: shape.closed || (json === false && "tag") } : undefined;
  }
  return isApplicable(shape, tag, json) ? withDocKeyword(shape, tag, json) : undefined;
}

function isApplicable(shape: Shape, keyword: ConstraintKeyword, json: Json): boolean {
  if (shape.kind === "json") return keyword !== "format" && keyword !== "additionalProperties";
  if (shape.kind === "date") return keyword === "format" && json === "date-time";
  if (shape.kind === "bigint" && typeof json !== "bigint" && !Number.isInteger(json)) return false;
  return SHAPES[CONSTRAINTS[keyword].on].includes(shape.kind);
}

/** Adds a keyword. Of two values of one keyword, keeps the stricter one, or both if neither includes the other. */
function withDocKeyword(shape: Shape, tag: string, json: Json): Shape {
  if (shape.kind === "date") return shape;
  const keywords = shape.doc?.keywords ?? [];
  const known = keywords.find(([name]) => name === tag)?.[1];
  const strict = known === undefined ? json : stricter(shape, tag, known, json);
  if (strict === known || keywords.some(([name, value]) => name === tag && value === json)) return shape;
  const others = strict === undefined ? keywords : keywords.filter(([name]) => name !== tag);
  return { ...shape, doc: { ...shape.doc, keywords: [...others, [tag, strict ?? json]] } };
}

/** Value of a keyword that is equivalent to two values together; undefined if there is none. */
function stricter(shape: Shape, tag: string, one: Json, other: Json): Json | undefined {
  const [first, second] = [one, other] as [number | bigint, number | bigint];
  if (/max/i.test(tag)) return second < first ? second : first;
  if (/min/i.test(tag)) return second > first ? second : first;
  if (tag === "multipleOf") return commonMultiple(first, second);
  if (tag !== "format" || shape.kind !== "number") return one === other ? one : undefined;
  const [size, otherSize] = [one, other].map((name) =>
    NUMBER_FORMATS[name as string]?.reduce((least, most) => most - least),
  );
  return (size ?? 0) <= (otherSize ?? 0) ? one : other;
}

/** Least common multiple of two steps, by their decimal digits. */
function commonMultiple(one: number | bigint, other: number | bigint): number | bigint {
  const decimals = [one, other].flatMap((step) => decimalOf(step) ?? []);
  const exponent = Math.min(...decimals.map((each) => each.exponent));
  const [first = 1n, second = 1n] = decimals.map((each) => each.digits * 10n ** BigInt(each.exponent - exponent));
  let [divisor, rest] = [first, second];
  while (rest > 0n) [divisor, rest] = [rest, divisor % rest];
  const multiple = (first / divisor) * second;
  return exponent < 0 ? Number(`${multiple}e${exponent}`) : plainInteger(multiple * 10n ** BigInt(exponent));
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

type Keyword = Doc["keywords"][number];

/** Tags of a shape that no value can satisfy together; undefined if there is no conflict. */
export function conflictingTags(shape: Shape): readonly Keyword[] | undefined {
  switch (shape.kind) {
    case "union":
      return shape.branches.map(conflictingTags).find((found) => found !== undefined);
    case "array":
      return emptyCountRange(shape, "lists") ?? conflictingTags(shape.item);
    case "tuple":
      return emptyCountRange(shape, "lists", ...tupleLengths(shape));
    case "string":
      return emptyCountRange(shape, "text") ?? differentFormats(shape);
    case "number":
    case "bigint":
      return emptyRange(shape) ?? differentFormats(shape);
    default:
      return undefined;
  }
}

/** Two formats; a bigint has the first one as part of its kind. */
function differentFormats(shape: Shape): readonly Keyword[] | undefined {
  const formats = keywordsIn(shape, ["format"]);
  return formats.length > (shape.kind === "bigint" ? 0 : 1) ? formats : undefined;
}

function keywordsIn({ doc }: Shape, names: readonly string[]): readonly Keyword[] {
  return names.flatMap((name) => (doc?.keywords ?? []).filter(([keyword]) => keyword === name));
}

/** Tags for a length or count that allow no value between `least` and `most`. */
function emptyCountRange(shape: Shape, on: "text" | "lists", least = 0, most = Number.POSITIVE_INFINITY) {
  const [min, max] = keywordsOf(on, "count") as [min: ConstraintKeyword, max: ConstraintKeyword];
  const found = keywordsIn(shape, [min, max]);
  const tags = new Map(found);
  const from = Math.max(least, Number(tags.get(min) ?? least));
  const to = Math.min(most, Number(tags.get(max) ?? most));
  return from <= to ? undefined : found;
}

/** Tags for a range that contains no number. */
function emptyRange(shape: Shape & { kind: "number" | "bigint" }): readonly Keyword[] | undefined {
  const found = keywordsIn(shape, keywordsOf("numbers"));
  const tags = new Map(found as readonly (readonly [string, number | bigint])[]);
  const { min, max } =
    shape.kind === "bigint" ? bigintRange(shape.format) : { min: -Number.MAX_VALUE, max: Number.MAX_VALUE };
  const [low, high] = [tags.get("minimum") ?? min, tags.get("maximum") ?? max];
  const [above, below] = [tags.get("exclusiveMinimum"), tags.get("exclusiveMaximum")];
  const isEmpty =
    low > high ||
    (above !== undefined && above >= high) ||
    (below !== undefined && below <= low) ||
    (above !== undefined && below !== undefined && above >= below);
  return isEmpty ? found : undefined;
}
