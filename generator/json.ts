/**
 * JSON whose objects keep their textual order. JavaScript objects sort integer-like keys, and the order of members is
 * the order of ports, so schemas never pass through one.
 */

import { foldTape, JsonError, parseJson, scalarOf, startAt, textOf } from "svc-runtime/internal/generator";

export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;

/** An object as an ordered map. A repeated name keeps its first position and its last value, as in `Map.set`. */
export class JsonObject {
  constructor(readonly members: ReadonlyMap<string, Json>) {}

  get(name: string): Json | undefined {
    return this.members.get(name);
  }
}

/** Makes an ordered object from pairs. Pairs that are `undefined` or `false` are left out. */
export function object(...pairs: readonly (readonly [string, Json] | undefined | false)[]): JsonObject {
  const members = new Map<string, Json>();
  for (const pair of pairs) if (pair) members.set(pair[0], pair[1]);
  return new JsonObject(members);
}

type Plain = Json | readonly Plain[] | { readonly [name: string]: Plain | undefined };

/**
 * Ordered JSON from an object literal. Members that are `undefined` are left out. JavaScript sorts names that are
 * integers, so those need {@link object}.
 */
export function ordered(members: { readonly [name: string]: Plain | undefined }): JsonObject {
  return orderedValue(members) as JsonObject;
}

function orderedValue(value: Plain): Json {
  if (value === null || typeof value !== "object" || value instanceof JsonObject) return value;
  if (Array.isArray(value)) return value.map(orderedValue);
  return object(
    ...Object.entries(value).map(([name, member]) => member !== undefined && ([name, orderedValue(member)] as const)),
  );
}

/** Prints compact JSON. */
export function printJson(value: Json): string {
  if (typeof value === "bigint") return value.toString();
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (!(value instanceof JsonObject)) return `[${value.map(printJson).join(",")}]`;
  return `{${Array.from(value.members, ([name, member]) => `${JSON.stringify(name)}:${printJson(member)}`).join(",")}}`;
}

/**
 * Parses JSON. Integers beyond ±(2^53−1) become bigints.
 *
 * @throws {@link JsonError} that names the byte
 */
export function readJson(text: string): Json {
  return foldTape<Json>(parseJson(Buffer.from(text)), 0, {
    scalar: (document, entry) => {
      const value = scalarOf(document, entry);
      if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
      if (!Number.isFinite(value)) throw new JsonError("number out of range", startAt(document, entry));
      // The protocol reads integers beyond 64 bits as doubles; in a schema their digits stay.
      const digits = textOf(document, entry, "sent").toString("latin1");
      return /^-?\d+$/.test(digits) ? BigInt(digits) : value;
    },
    array: (items) => items,
    object: (names, values) => new JsonObject(new Map(names.map((name, i) => [name, values[i] as Json]))),
  });
}

/** Whether the error is that of a recursion for which the data nests too deeply. */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.startsWith("Maximum call stack");
}
