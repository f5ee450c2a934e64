/** JSON for authors of tools, without the rounding of JSON.parse and JSON.stringify (protocol.md section 5). */

import { JsonError } from "./wire/json/error.js";
import { exactValue, plainText } from "./wire/json/untyped-json.js";

/** A value of a JSON text: an integer beyond ±(2^53−1) is a bigint, every other number a number. */
export type ExactJson =
  | null
  | boolean
  | string
  | number
  | bigint
  | readonly ExactJson[]
  | { readonly [name: string]: ExactJson };

/**
 * Reads a JSON text with exact integers, such as the answer of another server. An integer that a `number` holds exactly
 * is a `number`, as JSON.parse gives it, so that counts and indexes need no conversion; one beyond ±(2^53−1), of any
 * length, is a `bigint`. A number with a point or an exponent is the nearest double, as it is for JSON.parse.
 *
 * At most 127 levels of nesting; the last of repeated members counts.
 *
 * @example
 * ```ts run
 * import { readJson, writeJson } from "svc-runtime";
 *
 * const order = readJson('{"id": 9007199254740993, "items": 2}');
 * console.log(order); // { id: 9007199254740993n, items: 2 }
 * console.log(writeJson(order)); // {"id":9007199254740993,"items":2}
 * ```
 *
 * @throws {@link JsonError} with the byte where reading stopped
 */
export function readJson(text: string | Uint8Array): ExactJson {
  if (typeof text !== "string") return exactValue(text) as ExactJson;
  if (!text.isWellFormed()) throw new JsonError("lone surrogate", Buffer.from(text).indexOf("\ufffd"));
  return exactValue(Buffer.from(text)) as ExactJson;
}

/**
 * Writes a value as JSON text: a `bigint` as its digits, a `Date` as RFC 3339 text, bytes as base64, and every number so
 * that {@link readJson} gives the same value. Integral numbers beyond ±(2^53−1) are written with a point or an exponent,
 * because their digits may be rounded. Members keep their order; those that are undefined are omitted; `toJSON` is called.
 *
 * @throws TypeError with the place of a value that JSON cannot carry: a function, NaN, a Map, a cycle
 */
export function writeJson(value: unknown): string {
  return plainText(value, [], null);
}
