/** Template literal types as regular expressions that accept what TypeScript accepts. */

import { ts } from "../project/typescript.js";

/** What JavaScript reads as a finite number: `isFinite(+text)`, and that is what `${number}` takes. */
const NUMBER =
  "(?:\\s+|\\s*(?:[+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)\\s*)";
const BIGINT = "-?(?:0|[1-9][0-9]*|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)";
/** The characters and classes of characters in both. */
const NUMBER_ATOMS = /\\.|\[[^\]]+\]|[0-]/g;
const ANY = "[\\s\\S]";

/** `Uppercase<string>` and its kin: texts that the mapping leaves as they are, by their first and their other characters. */
const MAPPED: Readonly<Record<string, readonly [first: string, other: string]>> = {
  Uppercase: ["\\P{Changes_When_Uppercased}", "\\P{Changes_When_Uppercased}"],
  Lowercase: ["\\P{Changes_When_Lowercased}", "\\P{Changes_When_Lowercased}"],
  Capitalize: ["\\P{Changes_When_Uppercased}", "[\\s\\S]"],
  Uncapitalize: ["\\P{Changes_When_Lowercased}", "[\\s\\S]"],
};

/**
 * The pattern of a template literal type or a mapped string, without anchors; undefined when a placeholder has none.
 *
 * TypeScript does not search: a placeholder ends where the text behind it comes first, or after one character when there
 * is none, and the last takes what is left; `${string}:${number}` does not take "a:b:1". Written so, an expression also
 * takes no more than linear time. It refers back to nothing, which is what engines of other languages lack first.
 */
export function textPattern(type: ts.TemplateLiteralType | ts.StringMappingType): string | undefined {
  return placeholder(type, undefined, []);
}

/**
 * @param next the text behind it; undefined at the end
 * @param around texts of which none may begin within it
 */
function placeholder(type: ts.Type, next: string | undefined, around: readonly string[]): string | undefined {
  const { flags } = type;
  const one = next === "";
  const ends = next ? [...around, next] : around;
  if (flags & (ts.TypeFlags.String | ts.TypeFlags.Any)) return one ? before(ANY, ends) : many(ANY, ends);
  if (flags & ts.TypeFlags.StringMapping) return mapped(type as ts.StringMappingType, one, ends);
  if (flags & ts.TypeFlags.Number) return one ? before("[\\s0-9]", ends) : number(NUMBER, ends);
  if (flags & ts.TypeFlags.BigInt) return one ? before("[0-9]", ends) : number(BIGINT, ends);
  if (type.isIntersection()) {
    // What brands a text says nothing about it.
    const [base, ...more] = type.types.filter((part) => !(part.flags & ts.TypeFlags.Object));
    return base === undefined || more.length > 0 ? undefined : placeholder(base, next, around);
  }
  if (one) return undefined;
  if (type.isStringLiteral() || type.isNumberLiteral()) return text(String(type.value), ends);
  if (flags & ts.TypeFlags.TemplateLiteral) return template(type as ts.TemplateLiteralType, ends);
  return undefined;
}

function template({ texts, types }: ts.TemplateLiteralType, ends: readonly string[]): string | undefined {
  let pattern = text(texts[0] ?? "", ends);
  for (const [index, type] of types.entries()) {
    const next = texts[index + 1] ?? "";
    const inner = placeholder(type, index + 1 < types.length ? next : undefined, ends);
    if (inner === undefined) return undefined;
    pattern += inner + text(next, ends);
  }
  return pattern;
}

function mapped({ symbol, type }: ts.StringMappingType, one: boolean, ends: readonly string[]): string | undefined {
  const [first, other] = MAPPED[symbol.name] ?? [];
  if (first === undefined || other === undefined || !(type.flags & ts.TypeFlags.String)) return undefined;
  if (one) return before(first, ends);
  return first === other ? many(first, ends) : `(?:${before(first, ends)}${many(other, ends)})?`;
}

function number(pattern: string, ends: readonly string[]): string {
  return pattern.replace(NUMBER_ATOMS, (atom) => before(atom, ends));
}

function text(literal: string, ends: readonly string[]): string {
  return [...literal].map((character) => before(escaped(character), ends)).join("");
}

/** Any number of characters of a kind, before the first of `ends`. */
function many(kind: string, ends: readonly string[]): string {
  const [end, ...more] = ends;
  const isCharacter = end !== undefined && more.length === 0 && [...end].length === 1;
  return kind === ANY && isCharacter ? `[^${escaped(end)}]*` : `${before(kind, ends)}*`;
}

/** A character of a kind at which none of `ends` begins. */
function before(kind: string, ends: readonly string[]): string {
  const mayBegin = (end: string) => new RegExp(`^${kind}$`, "u").test(String.fromCodePoint(end.codePointAt(0) ?? 0));
  const not = ends.filter(mayBegin).map((end) => `(?!${escaped(end)})`);
  return not.length === 0 ? kind : `(?:${not.join("")}${kind})`;
}

/** A text as the expression that takes it alone. */
export function escaped(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
