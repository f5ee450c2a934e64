/** JSON for authors of tools, without the rounding of JSON.parse and JSON.stringify (protocol.md section 5). */

import { JsonError } from "svc-client/internal/wire/json/error";
import { exactValue, plainText } from "svc-client/internal/wire/json/untyped-json";

/** A JSON value. Integers beyond ±(2^53−1) are bigints; all other numbers are numbers. */
export type ExactJson =
  | null
  | boolean
  | string
  | number
  | bigint
  | readonly ExactJson[]
  | { readonly [name: string]: ExactJson };

/**
 * Parses a JSON text with exact integers. An integer within ±(2^53−1) is a `number`, as with JSON.parse, so that counts
 * and indexes need no conversion. An integer beyond that, of any length, is a `bigint`. A number with a point or an
 * exponent is the nearest double, as with JSON.parse.
 *
 * Nesting is limited to 127 levels. A repeated member has its last value.
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
 * @throws {@link JsonError} with the byte offset of the error
 */
export function readJson(text: string | Uint8Array): ExactJson {
  if (typeof text !== "string") return exactValue(text) as ExactJson;
  if (!text.isWellFormed()) throw new JsonError("lone surrogate", Buffer.from(text).indexOf("\ufffd"));
  return exactValue(Buffer.from(text)) as ExactJson;
}

/**
 * Serialises a value as JSON: a `bigint` as its digits, a `Date` as RFC 3339 text, bytes as base64, and numbers so that
 * {@link readJson} returns the same value. Integral numbers beyond ±(2^53−1) are written with a point or an exponent,
 * because their digits may be rounded. Members keep their order, undefined members are omitted, and `toJSON` is called.
 *
 * @throws TypeError with the path of a value that JSON cannot represent: a function, NaN, a Map, a cycle
 */
export function writeJson(value: unknown): string {
  return plainText(value, [], null);
}
