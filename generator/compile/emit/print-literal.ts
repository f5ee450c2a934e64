/** Values and code as TypeScript source without invisible characters. */

import { unicodeEscapes } from "svc-runtime/internal/generator";

/**
 * Prints a value as TypeScript source. Texts have printable characters only, so no name can end a text, a line or a
 * comment, or change the writing direction. Quotes are those that need fewer escapes, as formatters choose them.
 */
export function literal(value: unknown): string {
  if (typeof value === "string") return stringLiteral(value);
  if (typeof value === "bigint") return `${value}n`;
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value === "object") {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    if (members.length === 0) return "{}";
    return `{ ${members.map(([name, member]) => `${name}: ${literal(member)}`).join(", ")} }`;
  }
  throw new TypeError(`no literal for a ${typeof value}`);
}

function stringLiteral(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  const printed = escapeInvisible(JSON.stringify(text)).replace(/<(?=[/!])/g, "\\u003c");
  if (countOf(text, '"') <= countOf(text, "'")) return printed;
  return `'${printed.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** Text that needs no escapes in double quotes. */
const PLAIN = /^[ !#-;=-[\]-~]*$/;

function countOf(text: string, character: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) count++;
  return count;
}

/** Escapes the invisible characters of code, which are in string literals only. */
function escapeInvisible(code: string): string {
  return code.replace(/[^\n\x20-\x7e\p{L}\p{N}\p{P}\p{S}]/gu, unicodeEscapes);
}
