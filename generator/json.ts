/**
 * JSON whose objects keep their textual order. JavaScript objects sort integer-like keys, and the order of members is
 * the order of ports, so schemas never pass through one.
 */

import { foldTape, JsonError, parseJson, scalarOf } from "svc-runtime/internal/generator";

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
      const [start, end] = [document.tape[entry + 1] as number, document.tape[entry + 2]];
      if (!Number.isFinite(value)) throw new JsonError("number out of range", start);
      // The protocol reads integers beyond 64 bits as doubles; in a schema their digits stay.
      const digits = document.bytes.toString("latin1", start, end);
      return /^-?\d+$/.test(digits) ? BigInt(digits) : value;
    },
    array: (items) => items,
    object: (names, values) => new JsonObject(new Map(names.map((name, i) => [name, values[i] as Json]))),
  });
}
