/** Template literal types as regular expressions that accept what TypeScript accepts. */

import { ts } from "./compiler.js";

/** What JavaScript reads as a finite number: `isFinite(+text)`, and that is what `${number}` takes. */
const NUMBER =
  "(?:\\s+|\\s*(?:[+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)\\s*)";
const BIGINT = "-?(?:0|[1-9][0-9]*|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)";
/** A character that no number has. */
const IN_NO_NUMBER = /[^\s0-9a-fA-FxXoO.+-]/u;

/** `Uppercase<string>` and its kin: texts that the mapping leaves as they are, by their first and their other characters. */
const MAPPED: Readonly<Record<string, readonly [first: string, other: string]>> = {
  Uppercase: ["\\P{Changes_When_Uppercased}", "\\P{Changes_When_Uppercased}"],
  Lowercase: ["\\P{Changes_When_Lowercased}", "\\P{Changes_When_Lowercased}"],
  Capitalize: ["\\P{Changes_When_Uppercased}", "[\\s\\S]"],
  Uncapitalize: ["\\P{Changes_When_Lowercased}", "[\\s\\S]"],
};

/** The pattern of a template literal type or a mapped string, without anchors; undefined when a placeholder has none. */
export function textPattern(
  type: ts.TemplateLiteralType | ts.StringMappingType,
  checker: ts.TypeChecker,
): string | undefined {
  return new TextPattern(checker).of(type);
}

/**
 * TypeScript does not search: a placeholder ends where the text behind it comes first, or after one character when there
 * is none, and the last takes what is left; `${string}:${number}` does not take "a:b:1". Written so, an expression also
 * takes no more than linear time.
 */
class TextPattern {
  private ends = 0;

  constructor(private readonly checker: ts.TypeChecker) {}

  /** @param next the text behind it; undefined at the end */
  of(type: ts.Type, next?: string): string | undefined {
    const { flags } = type;
    if (flags & (ts.TypeFlags.String | ts.TypeFlags.Any)) return characters("[\\s\\S]", next);
    if (flags & ts.TypeFlags.StringMapping) return mapped(type as ts.StringMappingType, next);
    if (flags & ts.TypeFlags.Number) return next === "" ? "[\\s0-9]" : this.ending(NUMBER, next);
    if (flags & ts.TypeFlags.BigInt) return next === "" ? "[0-9]" : this.ending(BIGINT, next);
    const pattern = this.other(type);
    return pattern && this.ending(pattern, next);
  }

  private other(type: ts.Type): string | undefined {
    if (type.flags & ts.TypeFlags.TemplateLiteral) return this.template(type as ts.TemplateLiteralType);
    if (type.isStringLiteral() || type.isNumberLiteral()) return escaped(String(type.value));
    if (type.isUnion()) {
      const parts = type.types.map((part) => this.of(part));
      return parts.includes(undefined) ? undefined : `(?:${parts.sort().join("|")})`;
    }
    if (type.isIntersection()) {
      // What brands a primitive says nothing about its text.
      const [base, ...more] = type.types.filter((part) => !(part.flags & ts.TypeFlags.Object));
      return base === undefined || more.length > 0 ? undefined : this.of(base);
    }
    const simple = ts.TypeFlags.BooleanLiteral | ts.TypeFlags.Null | ts.TypeFlags.Undefined;
    return type.flags & simple ? this.checker.typeToString(type) : undefined;
  }

  private template({ texts, types }: ts.TemplateLiteralType): string | undefined {
    let pattern = escaped(texts[0] ?? "");
    for (const [index, type] of types.entries()) {
      const next = texts[index + 1] ?? "";
      const inner = this.of(type, index + 1 < types.length ? next : undefined);
      if (inner === undefined) return undefined;
      pattern += inner + escaped(next);
    }
    return pattern;
  }

  /** A pattern that might run over `next`, ended there. */
  private ending(pattern: string, next: string | undefined): string {
    const isNumber = pattern === NUMBER || pattern === BIGINT;
    if (next === undefined || (isNumber && IN_NO_NUMBER.test(next))) return pattern;
    const end = `end${++this.ends}`;
    return `(?=${characters("[\\s\\S]", next)}(?<${end}>${escaped(next)}[\\s\\S]*)$)${pattern}(?=\\k<${end}>$)`;
  }
}

/** Characters of one kind up to `next`: all that are left without it, one when it is empty. */
function characters(kind: string, next: string | undefined): string {
  if (next === undefined) return `${kind}*`;
  if (next === "") return kind;
  return [...next].length === 1 && kind === "[\\s\\S]" ? `[^${escaped(next)}]*` : `(?:(?!${escaped(next)})${kind})*`;
}

function mapped({ symbol, type }: ts.StringMappingType, next: string | undefined): string | undefined {
  const [first, other] = MAPPED[symbol.name] ?? [];
  if (first === undefined || other === undefined || !(type.flags & ts.TypeFlags.String)) return undefined;
  if (first === other || next === "") return characters(first, next);
  return `(?:${next === undefined ? "" : `(?!${escaped(next)})`}${first}${characters(other, next)})?`;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
