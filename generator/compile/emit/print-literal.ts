import { unicodeEscapes } from "svc-runtime/internal/generator";
import { type Json, JsonObject, printJson, readJson } from "../../text/json.js";

/** Maximum length of a line with several members. */
const WIDTH = 120;

/**
 * Prints a value as TypeScript source with printable characters only, so that no text can end a literal, line or
 * comment, or change the writing direction. Uses the quotes that need fewer escapes, like formatters.
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

/**
 * Like {@link literal}, but prints one member per line if a single line would be too long.
 *
 * @param indent white space before the value's line
 * @param before length of the text before the value on that line
 */
export function literalLines(value: unknown, indent: string, before = 0): string {
  if (typeof value !== "object" || value === null) return literal(value);
  const inner = `${indent}  `;
  const [open, close, space] = Array.isArray(value) ? ["[", "]", ""] : ["{", "}", " "];
  const members = Array.isArray(value)
    ? value.map((item) => literalLines(item, inner))
    : Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([name, member]) => `${name}: ${literalLines(member, inner, name.length + 2)}`);
  const line = members.length === 0 ? `${open}${close}` : `${open}${space}${members.join(", ")}${space}${close}`;
  const fits = indent.length + before + line.length < WIDTH && !members.some((member) => member.includes("\n"));
  return fits ? line : `${open}\n${members.map((member) => `${inner}${member},\n`).join("")}${indent}${close}`;
}

/**
 * Prints a schema's text as a string literal over several lines: one member per line where a line would be too long.
 */
export function schemaLines(text: string): string {
  const lines = linesOf(readJson(text));
  return lines.length === 1 ? literal(text) : `'${lines.map(inSingleQuotes).join("\\\n")}'`;
}

function linesOf(value: Json, before = "", after = ""): string[] {
  if (typeof value !== "object" || value === null) return [`${before}${printJson(value)}${after}`];
  const members =
    value instanceof JsonObject
      ? Array.from(value.members, ([name, member]) => [`${JSON.stringify(name)}:`, member] as const)
      : value.map((item) => ["", item] as const);
  const [open, close] = value instanceof JsonObject ? ["{", "}"] : ["[", "]"];
  const lines = members.map(([name, member], at) => linesOf(member, name, at + 1 < members.length ? "," : ""));
  const line = `${before}${open}${lines.map(([first = ""]) => first).join("")}${close}${after}`;
  const fits = line.length < WIDTH && lines.every(({ length }) => length === 1);
  return fits ? [line] : [`${before}${open}`, ...lines.flat(), `${close}${after}`];
}

/** Prints the name of a property, in quotes if necessary. */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : stringLiteral(name);
}

function stringLiteral(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  const countOf = (quote: string) => text.split(quote).length;
  return countOf('"') <= countOf("'") ? doubleQuoted(text) : `'${inSingleQuotes(text)}'`;
}

function doubleQuoted(text: string): string {
  return escapeInvisible(JSON.stringify(text)).replace(/<(?=[/!])/g, "\\u003c");
}

function inSingleQuotes(text: string): string {
  return doubleQuoted(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
}

/** Texts that need no escapes in double quotes. */
const PLAIN = /^[ !#-;=-[\]-~]*$/;

/** Escapes invisible characters. In the printed code, they occur only in string literals. */
function escapeInvisible(code: string): string {
  return code.replace(/[^\n\x20-\x7e\p{L}\p{N}\p{P}\p{S}]/gu, unicodeEscapes);
}
