/** Equality of decoded values for `uniqueItems`. Ignores the order of members and the spelling of numbers and dates. */

import { textDigest } from "#platform/bytes";
import { asBuffer } from "../bytes.js";
import { repetition } from "./constraints.js";
import type { Mismatch } from "./mismatch.js";

/** Mismatch of an array that has two equal items; undefined if all items differ. */
export function repeatedItem(items: readonly unknown[]): Mismatch | undefined {
  return items.length < 2 ? undefined : repetition(items.map(comparableText));
}

/** Comparable texts of arrays and objects, cached because nested unique arrays compare the same values again. */
const known = new WeakMap<object, string>();
/** Texts of at least this length (UTF-16 units) are replaced by their hash. */
const MIN_HASHED_LENGTH = 128;

/** Text of a value; two values are equal exactly if their texts are equal. O(n log n) for n members. */
function comparableText(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      // An integral double equals the exact integer with the same digits.
      return Number.isInteger(value) && Math.abs(value) < 2 ** 64 ? String(BigInt(value)) : String(value);
    case "object":
      return value === null ? "null" : objectText(value);
    default:
      return String(value);
  }
}

function objectText(value: object): string {
  if (value instanceof Date) return `date ${value.getTime()}`;
  if (value instanceof Uint8Array) return `bytes ${asBuffer(value).toString("base64")}`;
  let text = known.get(value);
  if (text === undefined) {
    text = Array.isArray(value) ? `[${value.map(comparableText).join(",")}]` : membersText(value);
    if (text.length > MIN_HASHED_LENGTH) text = `hash ${textDigest(text)}`;
    known.set(value, text);
  }
  return text;
}

function membersText(object: object): string {
  const members = Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${comparableText(member)}`).join(",")}}`;
}
