/** Equality of values as JSON Schema defines it for `uniqueItems`: the order of members and the spelling of numbers mean nothing. */

import { asBuffer } from "./bytes.js";

/** A text that two decoded values share exactly when they are equal. Takes O(n log n) for n members. */
export function comparableText(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      // The digits of an integral double, so that it equals the exact integer.
      return Number.isInteger(value) ? String(BigInt(value)) : String(value);
    case "object":
      if (value === null) return "null";
      if (value instanceof Date) return `date ${value.getTime()}`;
      if (value instanceof Uint8Array) return `bytes ${asBuffer(value).toString("base64")}`;
      if (Array.isArray(value)) return `[${value.map(comparableText).join(",")}]`;
      return `{${Object.entries(value)
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([name, member]) => `${JSON.stringify(name)}:${comparableText(member)}`)
        .join(",")}}`;
    default:
      return String(value);
  }
}
