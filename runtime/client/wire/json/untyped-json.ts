/**
 * Converts plain JavaScript values to JSON and back without a contract (protocol.md section 5). Integers are exact;
 * dates and bytes have the same forms as in typed codecs.
 */

import { asBuffer } from "../bytes.js";
import { formatDateTime } from "../date-time.js";
import { type Path, pathText } from "../fault.js";
import { bigintRange, kindOf } from "../kinds.js";
import { MAX_DEPTH } from "../protocol.js";
import { ARRAY, endAt, type JsonDocument, kindAt, startAt } from "./document.js";
import { formatNumber } from "./numbers.js";
import { quote } from "./print.js";
import { exactScalarOf, foldTape, scalarOf } from "./read.js";
import { parseJson } from "./scan.js";

/** A value that cannot be written as JSON. The message has the path and the rule, never the value. */
export class PlainValueError extends TypeError {
  override readonly name = "PlainValueError";
}

const BIGINT = bigintRange(undefined);

/**
 * Writes a value as JSON text: a bigint or safe integer as digits, any other number as a double, a `Date` as RFC 3339
 * text, bytes as base64. Omits undefined members and calls `toJSON`.
 *
 * @param path path of the value, for messages
 * @param integers allowed range of a bigint; null for no limit
 * @throws {@link PlainValueError}
 */
export function plainText(value: unknown, path: Path = [], integers: Range | null = BIGINT): string {
  return write(value, path, 0, integers);
}

type Range = ReturnType<typeof bigintRange>;

function write(value: unknown, path: Path, depth: number, integers: Range | null): string {
  switch (typeof value) {
    case "string":
      return text(value, path);
    case "boolean":
      return String(value);
    case "bigint":
      if (integers !== null && (value < integers.min || value > integers.max))
        fail(path, integers.name, "one outside its range");
      return String(value);
    case "number":
      return formatNumber(value) ?? fail(path, "a finite number", String(value));
    case "object":
      return value === null ? "null" : writeObject(value, path, depth, integers);
    default:
      return fail(path, "a JSON value", kindOf(value));
  }
}

function writeObject(value: object, path: Path, depth: number, integers: Range | null, isOwn = true): string {
  if (depth === MAX_DEPTH) fail(path.slice(0, 8), `at most ${MAX_DEPTH} levels of nesting`, "more, or a cycle");
  if (value instanceof Uint8Array) {
    return `"${asBuffer(value).toString("base64")}"`;
  }
  if (value instanceof Date) return date(value, path);
  if (Array.isArray(value)) {
    // `Array.from` visits the holes of a sparse array; `map` skips them.
    return `[${Array.from(value, (item: unknown, i) => write(item, [...path, i], depth + 1, integers)).join(",")}]`;
  }
  const { toJSON } = value as { toJSON?: unknown };
  // Called once, like `JSON.stringify`: ignores `toJSON` of the returned value.
  if (isOwn && typeof toJSON === "function") {
    const given: unknown = toJSON.call(value);
    if (typeof given !== "object" || given === null) return write(given, path, depth, integers);
    return writeObject(given, path, depth, integers, false);
  }
  // Instances of an author's class are accepted. Built-in objects such as `Map` are not: their content is not
  // enumerable.
  const name = Object.prototype.toString.call(value).slice(8, -1);
  if (name !== "Object") fail(path, "a JSON value", /^[AEIOU]/.test(name) ? `an ${name}` : `a ${name}`);
  const members: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    const at = [...path, name];
    if (member !== undefined) members.push(`${text(name, at)}:${write(member, at, depth + 1, integers)}`);
  }
  return `{${members.join(",")}}`;
}

function text(value: string, path: Path): string {
  return value.isWellFormed() ? quote(value) : fail(path, "well-formed text", "a lone surrogate");
}

function date(value: Date, path: Path): string {
  const text = formatDateTime(value);
  return text === undefined
    ? fail(path, "a Date of the years 0 to 9999", "an invalid Date or another year")
    : `"${text}"`;
}

function fail(path: Path, expected: string, got: string): never {
  const place = pathText(path);
  throw new PlainValueError(`${place === "" ? "value" : place}: expected ${expected}, got ${got}`);
}

/**
 * Reads a JSON text. An integer beyond ±(2^53−1) is a bigint, every other number is a number. A repeated member has its
 * last value.
 *
 * @throws {@link JsonError}
 */
export function plainValue(bytes: Uint8Array): unknown {
  return plainValueOf(parseJson(bytes), 0);
}

/** Value of one entry of a parsed document. Uses `JSON.parse` where that is lossless. */
export function plainValueOf(document: JsonDocument, entry: number): unknown {
  const { bytes, large, escapedNames } = document;
  if (kindAt(document, entry) >= ARRAY && !large && !escapedNames) {
    return JSON.parse(bytes.toString("utf8", startAt(document, entry), endAt(document, entry)));
  }
  return foldPlain(document, entry, scalarOf);
}

/**
 * Reads a JSON text like `plainValue`, but an integer outside i64 and u64 is a bigint too, not a double.
 *
 * @throws {@link JsonError}
 */
export function exactValue(bytes: Uint8Array): unknown {
  const document = parseJson(bytes);
  return document.doubles ? foldPlain(document, 0, exactScalarOf) : plainValueOf(document, 0);
}

function foldPlain(
  document: JsonDocument,
  entry: number,
  scalar: (document: JsonDocument, entry: number) => unknown,
): unknown {
  return foldTape<unknown>(document, entry, {
    scalar,
    array: (items) => items,
    object: (members) => {
      const object: Record<string, unknown> = {};
      for (const [name, value] of members) setMember(object, name, value);
      return object;
    },
  });
}

/** Sets an absent member to `undefined` if `Object.prototype` has the name, such as `constructor`. */
export function setAbsent<T>(object: Record<string, T | undefined>, name: string): void {
  if (name in Object.prototype) setMember(object, name, undefined);
}

/** Sets an own property, even for the name `__proto__`. */
export function setMember<T>(object: Record<string, T>, name: string, value: T): void {
  if (name === "__proto__") {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[name] = value;
  }
}
