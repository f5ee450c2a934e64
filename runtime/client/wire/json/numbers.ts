/** Reads and prints JSON numbers, like serde_json and like JavaScript (protocol.md section 5). */

import type { Buffer } from "#platform/bytes";
import { MAX_U64 } from "../protocol.js";
import { DOUBLE, LARGE_INTEGER, SMALL_INTEGER } from "./document.js";

/** Kind of an integer text that is `-0` or has at least 16 digits. */
export function integerKind(bytes: Buffer, negative: boolean, digits: number, end: number): number {
  const count = end - digits;
  if (count < 16 || count > 20) return DOUBLE;
  const text = bytes.toString("latin1", digits, end);
  if (count === 16 && Number(text) <= Number.MAX_SAFE_INTEGER) return SMALL_INTEGER;
  const limit = negative ? "9223372036854775808" : "18446744073709551615";
  if (count < limit.length) return LARGE_INTEGER;
  return count === limit.length && text <= limit ? LARGE_INTEGER : DOUBLE;
}

/** Doubles nearest to 10^0 … 10^308. `10 ** n` differs for some n (protocol.md section 5). */
const POWERS_OF_TEN = Float64Array.from({ length: 309 }, (_, n) => Number(`1e${n}`));

/** Sign, integer digits, fraction digits and exponent. */
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE](.+))?$/;

/**
 * Reads a double with serde_json's default algorithm, which does not round correctly (protocol.md section 5).
 *
 * @returns ±Infinity if the number is out of range
 */
export function serdeDouble(bytes: Buffer, start: number, end: number): number {
  const [, sign, whole = "", fraction = "", power = "0"] = NUMBER.exec(bytes.toString("latin1", start, end)) ?? [];
  const integer = takeDigits(0n, whole);
  const all = takeDigits(integer.significand, fraction);
  let exponent = Number(power) + whole.length - integer.taken - all.taken;
  let value = Number(all.significand);
  while (Math.abs(exponent) > 308) {
    if (value === 0) break;
    if (exponent > 0) return sign === "-" ? -Infinity : Infinity;
    value /= 1e308;
    exponent += 308;
  }
  if (value !== 0) {
    if (exponent >= 0) value *= POWERS_OF_TEN[exponent] as number;
    else value /= POWERS_OF_TEN[-exponent] as number;
  }
  return sign === "-" ? -value : value;
}

/** Appends decimal digits to a significand, as many as fit into a u64. */
function takeDigits(before: bigint, digits: string): { readonly significand: bigint; readonly taken: number } {
  const held = before === 0n ? "" : String(before);
  const zeros = held === "" ? digits.length - digits.replace(/^0+/, "").length : 0;
  for (let count = Math.min(digits.length - zeros, 20 - held.length); ; count--) {
    const significand = BigInt(held + digits.slice(zeros, zeros + count));
    if (significand <= MAX_U64) return { significand, taken: zeros + count };
  }
}

/**
 * Prints a finite double like serde_json, always with a point or an exponent: `1.0`, `0.00001`, `1e+16`, `-0.0`.
 *
 * @param legacy print like serde_json before 1.0.147: no `+` in the exponent
 */
export function formatDouble(value: number, legacy = false): string {
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const magnitude = Math.abs(value);
  // Within these bounds JavaScript prints the same digits as serde_json, without an exponent.
  if (magnitude >= 1e-5 && magnitude < 1e16) return Number.isInteger(value) ? `${value}.0` : String(value);
  const text = value.toExponential();
  return legacy ? text.replace("+", "") : text;
}

/** Prints a safe integer as digits and any other finite number as a double; undefined for other values. */
export function formatNumber(value: number): string | undefined {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) return String(value);
  // Plain digits beyond 2^53 would be read as an exact integer.
  return Number.isFinite(value) ? formatDouble(value) : undefined;
}
