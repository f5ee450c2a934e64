/**
 * Equality of decoded values for `uniqueItems`. The order of members and the spelling of numbers and dates are ignored,
 * and decoded values have no undeclared members, so a tool never gets two equal items.
 */

import { textDigest } from "#platform/bytes";
import { asBuffer } from "../bytes.js";
import { repetition } from "./constraints.js";
import type { Mismatch } from "./mismatch.js";

/** The mismatch of an array that has two equal items; undefined for any other array. */
export function repeatedItem(items: readonly unknown[]): Mismatch | undefined {
  return items.length < 2 ? undefined : repetition(items.map(comparableText));
}

/** Texts of containers, cached so that nested unique arrays compute each once. */
const known = new WeakMap<object, string>();
/** From this length on a text is replaced by its hash. */
const MIN_HASHED_LENGTH = 128;

/** A text that is the same for two decoded values exactly when they are equal. O(n log n) for n members. */
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
