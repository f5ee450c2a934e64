/** Template literal types as regular expressions that accept what TypeScript accepts. */

import { ts } from "./compiler.js";

/** What JavaScript reads as a finite number: `isFinite(+text)`, and that is what `${number}` takes. */
const NUMBER =
  "\\s*(?:[+-]?(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)\\s*";
const BIGINT = "-?(?:0|[1-9][0-9]*|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)";

/** `Uppercase<string>` and its kin: texts that the mapping leaves as they are. */
export const UPPERCASED: Readonly<Record<string, string>> = {
  Uppercase: "^\\P{Changes_When_Uppercased}*$",
  Lowercase: "^\\P{Changes_When_Lowercased}*$",
  Capitalize: "^(?:\\P{Changes_When_Uppercased}[\\s\\S]*)?$",
  Uncapitalize: "^(?:\\P{Changes_When_Lowercased}[\\s\\S]*)?$",
};

/** The pattern of a template literal type, without anchors; undefined when a placeholder has none. */
export function templatePattern(type: ts.TemplateLiteralType, checker: ts.TypeChecker): string | undefined {
  let pattern = escaped(type.texts[0] ?? "");
  for (const [index, placeholder] of type.types.entries()) {
    const inner = placeholderPattern(placeholder, checker);
    if (inner === undefined) return undefined;
    pattern += inner + escaped(type.texts[index + 1] ?? "");
  }
  return pattern;
}

function placeholderPattern(type: ts.Type, checker: ts.TypeChecker): string | undefined {
  const { flags } = type;
  if (flags & (ts.TypeFlags.String | ts.TypeFlags.Any)) return "[\\s\\S]*";
  if (flags & ts.TypeFlags.Number) return NUMBER;
  if (flags & ts.TypeFlags.BigInt) return BIGINT;
  if (flags & ts.TypeFlags.TemplateLiteral) return templatePattern(type as ts.TemplateLiteralType, checker);
  if (flags & ts.TypeFlags.StringMapping) return UPPERCASED[type.symbol.name]?.slice(1, -1);
  if (type.isStringLiteral() || type.isNumberLiteral()) return escaped(String(type.value));
  if (type.isUnion()) {
    const parts = type.types.map((part) => placeholderPattern(part, checker));
    return parts.includes(undefined) ? undefined : `(?:${parts.sort().join("|")})`;
  }
  const simple = ts.TypeFlags.BooleanLiteral | ts.TypeFlags.Null | ts.TypeFlags.Undefined;
  return flags & simple ? checker.typeToString(type) : undefined;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
