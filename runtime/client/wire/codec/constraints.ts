/** Compiles the constraints of codecs, at start-up, to functions that return a mismatch or undefined. */

import type { IntegerBounds, ListConstraints, NumberBounds, TextConstraints } from "./contract.js";
import { Mismatch } from "./mismatch.js";

/**
 * Maximum length of a text, in UTF-16 units, that is matched against a pattern or format; a longer text is a mismatch.
 * Limits the quadratic time and the stack depth of backtracking regular expressions.
 */
export const MAX_MATCHED_LENGTH = 65_536;

const violation = (expected: string, got: string) => new Mismatch(expected, got, true);

export type Check<T> = (value: T) => Mismatch | undefined;

/** Combines checks to one; undefined if there are none. */
function every<T>(checks: readonly Check<T>[]): Check<T> | undefined {
  const [first, second] = checks;
  if (second === undefined) return first;
  return (value) => {
    for (const check of checks) {
      const mismatch = check(value);
      if (mismatch !== undefined) return mismatch;
    }
    return undefined;
  };
}

export function numberCheck(bounds: NumberBounds): Check<number | bigint> | undefined {
  return boundsCheck(bounds, "a number");
}

/**
 * Whether a value is a multiple of a step, by their shortest decimal forms: 19.99 is a multiple of 0.01, although a
 * division of the two doubles has a remainder.
 */
export function isMultiple(value: number | bigint, step: number | bigint): boolean {
  if (typeof value === "bigint" && typeof step === "bigint") return value % step === 0n;
  if (Number.isSafeInteger(value) && Number.isSafeInteger(step)) return Number(value) % Number(step) === 0;
  const [of, by] = [decimalOf(value), decimalOf(step)];
  if (of === undefined || by === undefined) return false;
  const shift = 10n ** BigInt(Math.abs(of.exponent - by.exponent));
  return of.exponent > by.exponent ? (of.digits * shift) % by.digits === 0n : of.digits % (by.digits * shift) === 0n;
}

/** A number as `digits` · 10^`exponent`, from its shortest decimal form; undefined if it is not finite. */
export function decimalOf(value: number | bigint): { readonly digits: bigint; readonly exponent: number } | undefined {
  const found = /^(-?\d+)(?:\.(\d+))?(?:e(.+))?$/.exec(String(value));
  if (found === null) return undefined;
  const [, whole = "", fraction = "", exponent = 0] = found;
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

export function integerCheck(bounds: IntegerBounds): Check<bigint> | undefined {
  const exact: { -readonly [Keyword in keyof NumberBounds]: bigint } = {};
  for (const keyword of BOUNDS) {
    const digits = bounds[keyword];
    if (digits !== undefined) exact[keyword] = BigInt(digits);
  }
  return boundsCheck(exact, "an integer");
}

const BOUNDS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"] as const;

/** Bounds of both number types: JavaScript compares a number with a bigint exactly. */
function boundsCheck<Value extends number | bigint, Bound extends number | bigint>(
  bounds: { readonly [Keyword in keyof NumberBounds]: Bound },
  kind: string,
): Check<Value> | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = bounds;
  const checks: Check<Value>[] = [];
  const check = (
    bound: Bound | undefined,
    fits: (value: Value, bound: Bound) => boolean,
    words: string,
    got: string,
  ) => {
    if (bound !== undefined) checks.push((value) => (fits(value, bound) ? undefined : violation(words, got)));
  };
  check(minimum, (value, bound) => value >= bound, `${kind} of at least ${minimum}`, "a smaller one");
  check(maximum, (value, bound) => value <= bound, `${kind} of at most ${maximum}`, "a larger one");
  check(exclusiveMinimum, (value, bound) => value > bound, `${kind} above ${exclusiveMinimum}`, "a smaller one");
  check(exclusiveMaximum, (value, bound) => value < bound, `${kind} below ${exclusiveMaximum}`, "a larger one");
  check(multipleOf, isMultiple, `a multiple of ${multipleOf}`, "another number");
  return every(checks);
}

/** Checks of text formats, by name. */
export type Formats = Readonly<Record<string, (text: string) => boolean>>;

/** @param formats without them, no format is checked */
export function textCheck(
  { minLength, maxLength, patterns = [], format }: TextConstraints,
  formats: Formats | undefined,
): Check<string> | undefined {
  const checks: Check<string>[] = [];
  if (minLength !== undefined || maxLength !== undefined) {
    checks.push((text) => {
      const length = codePoints(text);
      if (minLength !== undefined && length < minLength) {
        return violation(`at least ${minLength} characters`, String(length));
      }
      return maxLength !== undefined && length > maxLength
        ? violation(`at most ${maxLength} characters`, String(length))
        : undefined;
    });
  }
  for (const pattern of patterns) {
    const expression = new RegExp(pattern, "u");
    checks.push(matchCheck((text) => expression.test(text), `a string that matches ${pattern}`));
  }
  if (format !== undefined && formats !== undefined) {
    const matches = Object.hasOwn(formats, format) ? formats[format] : undefined;
    if (matches === undefined) throw new RangeError(`contract: no format is called ${JSON.stringify(format)}`);
    checks.push(matchCheck(matches, `a string of the format ${format}`));
  }
  return every(checks);
}

function matchCheck(matches: (text: string) => boolean, expected: string): Check<string> {
  return (text) => {
    if (text.length > MAX_MATCHED_LENGTH) {
      return violation(`${expected}, of at most ${MAX_MATCHED_LENGTH} characters`, String(text.length));
    }
    return matches(text) ? undefined : violation(expected, "another string");
  };
}

/** Length of a text in code points, as in JSON Schema. A lone surrogate counts as one. */
function codePoints(text: string): number {
  return text.replace(/[\ud800-\udbff][\udc00-\udfff]/g, "_").length;
}

export function countCheck({ minItems, maxItems }: ListConstraints): Check<number> | undefined {
  if (minItems === undefined && maxItems === undefined) return undefined;
  return (count) => {
    if (minItems !== undefined && count < minItems) return violation(`at least ${minItems} items`, String(count));
    return maxItems !== undefined && count > maxItems
      ? violation(`at most ${maxItems} items`, String(count))
      : undefined;
  };
}

/**
 * Mismatch of a list that has two equal items; undefined if all items differ.
 *
 * @param texts one for each item; items are equal if their texts are
 */
export function repetition(texts: Iterable<string>): Mismatch | undefined {
  const places = new Map<string, number>();
  let place = 0;
  for (const text of texts) {
    const first = places.get(text);
    if (first !== undefined) return violation("unique items", `equal items at ${first} and ${place}`);
    places.set(text, place++);
  }
  return undefined;
}
