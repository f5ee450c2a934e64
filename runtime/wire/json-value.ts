/** Lossless values of JSON documents (protocol.md section 3), and indented JSON text. */

import { Buffer } from "#platform/bytes";
import { DOUBLE, foldTape, parseJson, scalarOf } from "./json.js";

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
      return document.tape[entry] === DOUBLE && Number.isInteger(value) ? new JsonDouble(value as number) : value;
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

/** Formats a JSON text with one member or item per line, indented by two spaces; scalars keep their spelling. */
export function prettyJson(text: string): string {
  parseJson(Buffer.from(text));
  let indent = "\n";
  return text.replace(/"(?:[^"\\]|\\.)*"|[[{]\s*[\]}]|[[\]{},:]|\s+/g, (token) => {
    if (token === ",") return `,${indent}`;
    if (token === ":") return ": ";
    if (token === "[" || token === "{") {
      indent += "  ";
      return token + indent;
    }
    if (token === "]" || token === "}") {
      indent = indent.slice(0, -2);
      return indent + token;
    }
    return token.startsWith('"') ? token : token.replace(/\s+/g, "");
  });
}

/** Formats an array or object whose items or members are formatted already. */
export function indentedBlock(open: string, parts: readonly string[], close: string): string {
  if (parts.length === 0) return open + close;
  // A JSON text has no line breaks inside its strings.
  return `${`${open}\n${parts.join(",\n")}`.replaceAll("\n", "\n  ")}\n${close}`;
}
