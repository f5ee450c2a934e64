/** Reads and prints JSON numbers, like serde_json and like JavaScript (protocol.md section 5). */

import type { Buffer } from "#platform/bytes";
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

/**
 * Reads a double with serde_json's default algorithm, which does not round correctly (protocol.md section 5).
 *
 * @returns ±Infinity if the number is out of range
 */
export function serdeDouble(bytes: Buffer, start: number, end: number): number {
  let position = start;
  const negative = bytes[position] === 0x2d;
  if (negative) position++;
  const significand = new Significand();
  let exponent = 0;
  let overflowed = false;
  for (; position < end; position++) {
    const digit = (bytes[position] as number) - 0x30;
    if (digit < 0 || digit > 9) break;
    if (overflowed || !significand.take(digit)) {
      overflowed = true;
      exponent++;
    }
  }
  if (bytes[position] === 0x2e && position < end) {
    let full = false;
    for (position++; position < end; position++) {
      const digit = (bytes[position] as number) - 0x30;
      if (digit < 0 || digit > 9) break;
      if (full) continue;
      if (significand.take(digit)) exponent--;
      else full = true;
    }
  }
  if (position < end) exponent += Number(bytes.toString("latin1", position + 1, end));

  let value = significand.double();
  while (Math.abs(exponent) > 308) {
    if (value === 0) break;
    if (exponent > 0) return negative ? -Infinity : Infinity;
    value /= 1e308;
    exponent += 308;
  }
  if (value !== 0) {
    if (exponent >= 0) value *= POWERS_OF_TEN[exponent] as number;
    else value /= POWERS_OF_TEN[-exponent] as number;
  }
  return negative ? -value : value;
}

/**
 * A u64 built from decimal digits. Keeps the first 15 digits and the others in two numbers, so that only one BigInt is
 * created.
 */
class Significand {
  #high = 0;
  #highDigits = 0;
  #low = 0;
  #lowDigits = 0;

  /** Appends a digit, or returns false if the result would exceed u64. */
  take(digit: number): boolean {
    if (this.#high === 0 || this.#highDigits < 15) {
      this.#high = this.#high * 10 + digit;
      if (this.#high !== 0) this.#highDigits++;
      return true;
    }
    if (this.#lowDigits === 5) return false;
    // 19 digits always fit; 20 digits fit up to 18446744073709551615.
    if (this.#lowDigits === 4) {
      const nineteen = this.#exact();
      if (nineteen > 1844674407370955161n || (nineteen === 1844674407370955161n && digit > 5)) return false;
    }
    this.#low = this.#low * 10 + digit;
    this.#lowDigits++;
    return true;
  }

  double(): number {
    return this.#lowDigits === 0 ? this.#high : Number(this.#exact());
  }

  #exact(): bigint {
    return BigInt(this.#high) * 10n ** BigInt(this.#lowDigits) + BigInt(this.#low);
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

/**
 * Whether a double is certainly spelled as serde_json prints it: with a point, at most 15 digits, at least 1e-5. False
 * means unknown.
 */
export function isPrintedDouble(bytes: Buffer, start: number, end: number): boolean {
  const first = bytes[start] === 0x2d ? start + 1 : start;
  const digits = end - first - 1;
  if (digits > 15) return false;
  let point = first;
  while (point < end && bytes[point] !== 0x2e) {
    if (((bytes[point] as number) | 0x20) === 0x65) return false;
    point++;
  }
  if (point === end) return false;
  let zeros = bytes[first] === 0x30;
  for (let at = point + 1; at < end; at++) {
    const byte = bytes[at] as number;
    if ((byte | 0x20) === 0x65) return false;
    if (byte !== 0x30) zeros = false;
    // Five zeros after `0.`: the number is below 1e-5.
    if (zeros && at - point === 5) return false;
  }
  return bytes[end - 1] !== 0x30 || end - point === 2;
}

/**
 * JavaScript's value of a double's text. For up to 15 digits without an exponent, only the division rounds, so the
 * result is exact.
 */
export function double(bytes: Buffer, start: number, end: number): number {
  const first = bytes[start] === 0x2d ? start + 1 : start;
  if (end - first > 16) return Number(bytes.toString("latin1", start, end));
  let significand = 0;
  let decimals = -1;
  for (let at = first; at < end; at++) {
    const digit = (bytes[at] as number) - 0x30;
    if (digit >= 0 && digit <= 9) {
      significand = significand * 10 + digit;
      if (decimals >= 0) decimals++;
    } else if (bytes[at] === 0x2e) {
      decimals = 0;
    } else {
      return Number(bytes.toString("latin1", start, end));
    }
  }
  const value = significand / (POWERS_OF_TEN[Math.max(decimals, 0)] as number);
  return first > start ? -value : value;
}

/** Value of a small integer's text. */
export function smallInteger(bytes: Buffer, start: number, end: number): number {
  const negative = bytes[start] === 0x2d;
  let value = 0;
  for (let at = negative ? start + 1 : start; at < end; at++) value = value * 10 + ((bytes[at] as number) - 0x30);
  return negative ? -value : value;
}
