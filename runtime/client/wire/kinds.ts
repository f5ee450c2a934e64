/** Names of kinds and ranges of values, for messages. */

import { MAX_I64, MAX_U64, MIN_I64 } from "./protocol.js";

export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "an array";
  if (value instanceof Promise) return "a Promise that was not awaited";
  switch (typeof value) {
    case "bigint":
      return "an integer";
    case "object":
      return "an object";
    default:
      return `a ${typeof value}`;
  }
}

const FORMAT_BOUNDS = { int64: [MIN_I64, MAX_I64], uint64: [0n, MAX_U64] } as const;

/** Bounds of a bigint codec (protocol.md section 5) and the name of the range in messages. */
export function bigintRange(format: "int64" | "uint64" | undefined): { min: bigint; max: bigint; name: string } {
  const [min, max] = format === undefined ? ([MIN_I64, MAX_U64] as const) : FORMAT_BOUNDS[format];
  return { min, max, name: format === undefined ? "an integer from -2^63 to 2^64-1" : `an ${format} integer` };
}
