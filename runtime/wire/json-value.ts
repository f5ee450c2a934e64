/** Lossless values of JSON documents (protocol.md section 3), and indented JSON text. */

import { DOUBLE, foldTape, parseJson, quote, scalarOf } from "./json.js";

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
 * A lossless JSON value: integers within ±(2^53−1) are numbers and larger ones bigints; doubles with a fraction are
 * numbers and integral ones {@link JsonDouble}s.
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
  const document = parseJson(Buffer.from(text));
  interface Block {
    readonly lines: readonly string[];
  }
  const { lines } = foldTape<Block>(document, 0, {
    scalar: ({ bytes, tape }, entry) => ({ lines: [bytes.toString("utf8", tape[entry + 1], tape[entry + 2])] }),
    array: (items) => block("[", items, "]"),
    object: (names, values) =>
      block(
        "{",
        values.map(({ lines: [first, ...rest] }, i) => ({
          lines: [`${quote(names[i] as string)}: ${first}`, ...rest],
        })),
        "}",
      ),
  });
  return lines.join("\n");

  function block(open: string, parts: readonly Block[], close: string): Block {
    if (parts.length === 0) return { lines: [open + close] };
    const inner = parts.flatMap(({ lines }, i) => {
      const last = lines.length - 1;
      return lines.map((line, j) => `  ${line}${j === last && i < parts.length - 1 ? "," : ""}`);
    });
    return { lines: [open, ...inner, close] };
  }
}
