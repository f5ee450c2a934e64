/**
 * JSON values whose objects keep their textual order. JavaScript objects sort integer-like keys, and the order of members
 * is the order of ports, so schemas never pass through one.
 */

import { exactScalarOf, foldTape } from "./read.js";
import { parseJson } from "./scan.js";

/** An integer beyond ±(2^53−1), of any length, is a bigint, every other number a number. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;

/** An object as an ordered map. A repeated name keeps its first position and its last value, as in `Map.set`. */
export class JsonObject {
  constructor(readonly members: ReadonlyMap<string, Json>) {}

  get(name: string): Json | undefined {
    return this.members.get(name);
  }
}

/**
 * Parses one document.
 *
 * @throws {@link JsonError} with the byte where reading stopped
 */
export function readOrdered(bytes: Uint8Array): Json {
  return foldTape<Json>(parseJson(bytes), 0, {
    scalar: exactScalarOf,
    array: (items) => items,
    object: (names, values) => new JsonObject(new Map(names.map((name, i) => [name, values[i] as Json]))),
  });
}
