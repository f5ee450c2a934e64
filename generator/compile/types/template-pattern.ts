/** Regular expressions that accept the same texts as template literal types. */

import { escapeRegex } from "../../text/escape-regex.js";
import { ts } from "../project/typescript.js";

/** Texts that `${number}` accepts: those for which `isFinite(+text)`. */
const NUMBER =
  "(?:\\s+|\\s*(?:[+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)\\s*)";
const BIGINT = "-?(?:0|[1-9][0-9]*|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)";
const NUMBER_ATOMS = /\\.|\[[^\]]+\]|[0-]/g;
const ANY = "[\\s\\S]";

/**
 * Pattern of a template literal type, without anchors; undefined if a placeholder has no pattern.
 *
 * Like TypeScript, the pattern does not backtrack. A placeholder before a text ends at the first occurrence of that
 * text; a placeholder directly before another one takes one character; the last takes the rest. So
 * `${string}:${number}` does not accept "a:b:1". The pattern takes linear time and has no back references, which other
 * regex engines often lack.
 */
export function textPattern(type: ts.TemplateLiteralType): string | undefined {
  return placeholder(type, undefined, []);
}

/**
 * @param next text after the placeholder; undefined at the end
 * @param around texts that must not begin within the placeholder's text
 */
function placeholder(type: ts.Type, next: string | undefined, around: readonly string[]): string | undefined {
  const { flags } = type;
  const one = next === "";
  const ends = next ? [...around, next] : around;
  if (flags & (ts.TypeFlags.String | ts.TypeFlags.Any)) return one ? before(ANY, ends) : repeated(ANY, ends);
  if (flags & ts.TypeFlags.Number) return one ? before("[\\s0-9]", ends) : number(NUMBER, ends);
  if (flags & ts.TypeFlags.BigInt) return one ? before("[0-9]", ends) : number(BIGINT, ends);
  if (type.isIntersection()) {
    // Object types in the intersection are brands, which do not restrict the text.
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

function number(pattern: string, ends: readonly string[]): string {
  return pattern.replace(NUMBER_ATOMS, (atom) => before(atom, ends));
}

function text(literal: string, ends: readonly string[]): string {
  return [...literal].map((character) => before(escapeRegex(character), ends)).join("");
}

/** Any number of characters of a kind, up to the first of `ends`. */
function repeated(kind: string, ends: readonly string[]): string {
  const [end, ...more] = ends;
  const isCharacter = end !== undefined && more.length === 0 && [...end].length === 1;
  return kind === ANY && isCharacter ? `[^${escapeRegex(end)}]*` : `${before(kind, ends)}*`;
}

/** A character of a kind at a position where none of `ends` begins. */
function before(kind: string, ends: readonly string[]): string {
  const mayBegin = (end: string) => new RegExp(`^${kind}$`, "u").test(String.fromCodePoint(end.codePointAt(0) ?? 0));
  const not = ends.filter(mayBegin).map((end) => `(?!${escapeRegex(end)})`);
  return not.length === 0 ? kind : `(?:${not.join("")}${kind})`;
}
