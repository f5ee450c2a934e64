/** Lossless values of JSON documents (protocol.md section 3), and indented JSON text. */

import { DOUBLE, kindAt } from "./document.js";
import { foldTape, scalarOf } from "./read.js";
import { parseJson } from "./scan.js";

/** A double with an integral value, as opposed to an integer: `1.0`, `1e3`, `-0`, digits beyond u64. */
export class JsonDouble {
  constructor(readonly value: number) {}
}

/**
 * An object in textual order. A repeated member has its first position and its last value, and is listed in `repeated`.
 */
export class JsonObject {
  constructor(
    readonly members: ReadonlyMap<string, JsonValue>,
    readonly repeated: readonly string[],
  ) {}
}

/**
 * A lossless JSON value. An integer is a number within ±(2^53−1), a bigint beyond. A double is a number, but a
 * {@link JsonDouble} when its value is integral, as in `1.0`.
 */
export type JsonValue = null | boolean | string | number | bigint | JsonDouble | JsonValue[] | JsonObject;

/**
 * Parses one document.
 *
 * @throws {@link JsonError}
 */
export function readJson(bytes: Uint8Array): JsonValue {
  return foldTape<JsonValue>(parseJson(bytes), 0, {
    scalar: (document, entry) => {
      const value = scalarOf(document, entry);
      return kindAt(document, entry) === DOUBLE && Number.isInteger(value) ? new JsonDouble(value as number) : value;
    },
    array: (items) => items,
    object: (names, values) => {
      const members = new Map<string, JsonValue>();
      const repeated = new Set<string>();
      for (const [i, name] of names.entries()) {
        if (members.has(name)) repeated.add(name);
        members.set(name, values[i] as JsonValue);
      }
      return new JsonObject(members, [...repeated]);
    },
  });
}

/** Formats a JSON text with one member or item per line, indented by two spaces; names and scalars keep their spelling. */
export function prettyJson(text: string): string {
  let pretty = "";
  let line = "\n";
  for (let at = 0, end = 0; at < text.length; at = end) {
    const first = text[at] as string;
    end = at + 1;
    if (first === '"') {
      end = endOfString(text, at);
      pretty += text.slice(at, end);
    } else if (first === "{" || first === "[") {
      while (isSpace(text.charCodeAt(end))) end++;
      const isEmpty = text[end] === "}" || text[end] === "]";
      if (isEmpty) end++;
      else line += "  ";
      pretty += isEmpty ? `${first}${first === "{" ? "}" : "]"}` : first + line;
    } else if (first === "}" || first === "]") {
      line = line.slice(0, -2);
      pretty += line + first;
    } else if (first === ",") pretty += first + line;
    else if (first === ":") pretty += ": ";
    else if (!isSpace(first.charCodeAt(0))) pretty += first;
  }
  return pretty;
}

/** The position after a string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    if (quote < 0) return text.length;
    let escapes = 0;
    while (text[quote - 1 - escapes] === "\\") escapes++;
    if (escapes % 2 === 0) return quote + 1;
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

/** Formats an array or object whose items or members are formatted already. */
export function indentedBlock(open: string, parts: readonly string[], close: string): string {
  if (parts.length === 0) return open + close;
  // A JSON text has no line breaks inside its strings.
  return `${`${open}\n${parts.join(",\n")}`.replaceAll("\n", "\n  ")}\n${close}`;
}
