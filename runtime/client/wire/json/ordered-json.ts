/**
 * JSON values whose objects keep their textual order, for schemas: the order of members is the order of ports, and
 * JavaScript objects sort integer-like keys.
 */

import { exactScalarOf, foldTape } from "./read.js";
import { parseJson } from "./scan.js";

/** A JSON value. An integer beyond ±(2^53−1), of any length, is a bigint; every other number is a number. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;

/** Object as an ordered map. A repeated name keeps its first position and its last value, like `Map.set`. */
export class JsonObject {
  constructor(readonly members: ReadonlyMap<string, Json>) {}

  get(name: string): Json | undefined {
    return this.members.get(name);
  }
}

/**
 * Parses one document.
 *
 * @throws {@link JsonError} with the byte offset where parsing stopped
 */
export function readOrdered(bytes: Uint8Array): Json {
  return foldTape<Json>(parseJson(bytes), 0, {
    scalar: exactScalarOf,
    array: (items) => items,
    object: (members) => new JsonObject(new Map(members)),
  });
}
