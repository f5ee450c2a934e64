/** JSDoc of imported types. Escapes texts, so that none can end the comment or start a tag. */

import { unicodeEscapes } from "svc-runtime/internal/generator";
import { type Json, printJson } from "../text/json.js";

/** A tag of a comment. */
export interface Tag {
  readonly name: string;
  readonly text: string;
}

/** The documentation in a schema. */
export interface Documentation {
  readonly description: string;
  /** `@title`, `@default`, `@example`, `@deprecated`. */
  readonly tags: readonly Tag[];
}

export const NO_DOCUMENTATION: Documentation = { description: "", tags: [] };

/** Prints a comment with a final line break; empty if there is no content. */
export function printComment({ description, tags }: Documentation, constraints: readonly Tag[]): string {
  const text = commentText(description);
  const lines = text === "" ? [] : text.split("\n");
  for (const { name, text: value } of [...constraints, ...tags])
    lines.push(`@${name}${value === "" ? "" : ` ${value}`}`);
  if (lines.length === 0) return "";
  const [only = ""] = lines;
  if (lines.length === 1 && only.length <= 100) return `/** ${only} */\n`;
  return `/**\n${lines.map((line) => (line === "" ? " *" : ` * ${line}`)).join("\n")}\n */\n`;
}

/**
 * Escapes a description for a comment. Adds a backslash before `@` at the start of a word, and before the slash that
 * would end the comment; TypeScript keeps these backslashes in the text. Writes invisible characters except spaces as
 * code points, because some end a line or change the writing direction.
 */
export function commentText(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .split("\n")
    .map((line) =>
      line
        .replaceAll("\t", "  ")
        .replace(INVISIBLE, spelledOut)
        .replaceAll("*/", "*\\/")
        .replace(/(^|[\s{*])@/g, "$1\\@")
        .trimEnd(),
    )
    .join("\n")
    .trim();
}

/** Characters that are neither a space nor visible. */
const INVISIBLE = /[^ \p{L}\p{M}\p{N}\p{P}\p{S}]/gu;

function spelledOut(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Title on one line. */
export function titleText(text: string): string {
  return commentText(text.replace(/\s+/g, " "));
}

/** Value for `@default` or `@example`, as JSON. */
export function valueText(value: Json): string {
  return printJson(value)
    .replaceAll("*/", "*\\/")
    .replace(/(?<=[\s{*"])@/g, "\\u0040")
    .replace(/[^\x20-\x7e\p{L}\p{M}\p{N}\p{P}\p{S}]/gu, unicodeEscapes);
}

/**
 * An equivalent regular expression for `@pattern`; undefined if it is invalid with the flag `u`. Characters that a
 * comment cannot contain are escaped.
 */
export function patternText(pattern: string): string | undefined {
  if (pattern === "" || !isRegex(pattern)) return undefined;
  const text = pattern
    .replaceAll("*/", "*\\/")
    .replace(/^\//, "\\/")
    .replace(/(?<=^|[\s{*])@/g, "\\x40")
    .replace(/^ | $/g, "\\x20")
    .replace(/[^\x20-\x7e\p{L}\p{M}\p{N}\p{P}\p{S}]/gu, spelledOut);
  return isRegex(text) ? text : undefined;
}

function isRegex(text: string): boolean {
  try {
    new RegExp(text, "u");
    return true;
  } catch {
    return false;
  }
}
