/**
 * Equality of decoded values for `uniqueItems`: the order of members and the spelling of numbers and dates mean nothing, and
 * undeclared members are not there, so that a tool never gets two equal items.
 */

import { asBuffer } from "./bytes.js";
import { repetition } from "./constraints.js";
import { sha256 } from "./hash.js";
import type { Mismatch } from "./mismatch.js";

/** What is wrong with decoded items of which no two may be equal. */
export function repeatedItem(items: readonly unknown[]): Mismatch | undefined {
  return items.length < 2 ? undefined : repetition(items.map(comparableText));
}

/** Texts of containers: lists within lists that must differ compare each only once. */
const known = new WeakMap<object, string>();
/** Length from which on a text is known by its hash. */
const LONG = 128;

/** A text that two decoded values share exactly when they are equal. Takes O(n log n) for n members. */
function comparableText(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      // The digits of an integral double, so that it equals the exact integer, if there is one.
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
    if (text.length > LONG) text = `hash ${sha256(Buffer.from(text)).toString("base64")}`;
    known.set(value, text);
  }
  return text;
}

function membersText(object: object): string {
  const members = Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${comparableText(member)}`).join(",")}}`;
}
