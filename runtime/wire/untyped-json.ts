/**
 * Plain JavaScript values as JSON texts and back, for callers that have no contract (protocol.md section 5): integers
 * exact, dates and bytes in the forms that the typed codecs read.
 */

import { asBuffer } from "./bytes.js";
import { type Path, pathText } from "./fault.js";
import { ARRAY, build, formatDouble, type JsonDocument, MAX_DEPTH, parseJson, quote, scalarOf } from "./json.js";
import { bigintRange, kindOf } from "./mismatch.js";

/** A value that has no JSON text. The message says where and which rule, never the value. */
export class PlainValueError extends TypeError {
  override readonly name = "PlainValueError";
}

const BIGINT = bigintRange(undefined);

/**
 * The JSON text of a value: a bigint as its exact digits, a safe integer as digits, any other number as a double, a
 * `Date` as RFC 3339 text, bytes as base64, members that are undefined left out, `toJSON` followed.
 *
 * @param path where the value stands, for messages
 * @throws {@link PlainValueError}
 */
export function plainText(value: unknown, path: Path = []): string {
  return write(value, path, 0);
}

function write(value: unknown, path: Path, depth: number): string {
  switch (typeof value) {
    case "string":
      return text(value, path);
    case "boolean":
      return String(value);
    case "bigint":
      if (value < BIGINT.min || value > BIGINT.max) fail(path, BIGINT.name, "one outside its range");
      return String(value);
    case "number":
      if (Number.isSafeInteger(value) && !Object.is(value, -0)) return String(value);
      // Digits beyond 2^53 would be read as an exact integer, which a number is not.
      return Number.isFinite(value) ? formatDouble(value) : fail(path, "a finite number", String(value));
    case "object":
      return value === null ? "null" : writeObject(value, path, depth);
    default:
      return fail(path, "a JSON value", kindOf(value));
  }
}

function writeObject(value: object, path: Path, depth: number): string {
  if (depth === MAX_DEPTH) fail(path.slice(0, 8), `at most ${MAX_DEPTH} levels of nesting`, "more, or a cycle");
  if (value instanceof Uint8Array) {
    return `"${asBuffer(value).toString("base64")}"`;
  }
  if (value instanceof Date) return date(value, path);
  if (Array.isArray(value)) {
    // Array.from, because map skips the holes of a sparse array.
    return `[${Array.from(value, (item: unknown, i) => write(item, [...path, i], depth + 1)).join(",")}]`;
  }
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") return write(toJSON.call(value), path, depth + 1);
  if (value instanceof Map || value instanceof Set || ArrayBuffer.isView(value)) {
    fail(path, "a JSON value", `a ${value.constructor.name}`);
  }
  const members: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    const at = [...path, name];
    if (member !== undefined) members.push(`${text(name, at)}:${write(member, at, depth + 1)}`);
  }
  return `{${members.join(",")}}`;
}

function text(value: string, path: Path): string {
  return value.isWellFormed() ? quote(value) : fail(path, "well-formed text", "a lone surrogate");
}

function date(value: Date, path: Path): string {
  const year = value.getUTCFullYear();
  // RFC 3339 has four digits for the year.
  return year >= 0 && year <= 9999
    ? `"${value.toISOString()}"`
    : fail(path, "a Date of the years 0 to 9999", "another");
}

function fail(path: Path, expected: string, got: string): never {
  const place = pathText(path);
  throw new PlainValueError(`${place === "" ? "value" : place}: expected ${expected}, got ${got}`);
}

/**
 * The value of a JSON text: integers beyond ±(2^53−1) are bigints, every other number is a number; of a repeated member
 * the last counts.
 *
 * @throws {@link JsonError}
 */
export function plainValue(bytes: Uint8Array): unknown {
  return plainValueOf(parseJson(bytes), 0);
}

/** The value of one entry of a checked document; by JSON.parse where that loses and misreads nothing. */
export function plainValueOf(document: JsonDocument, entry: number): unknown {
  const { bytes, tape, large, escapedNames } = document;
  if ((tape[entry] as number) >= ARRAY && !large && !escapedNames) {
    return JSON.parse(bytes.toString("utf8", tape[entry + 1], tape[entry + 2]));
  }
  return build<unknown>(document, entry, {
    scalar: scalarOf,
    array: (items) => items,
    object: (names, values) => {
      const object: Record<string, unknown> = {};
      for (const [i, name] of names.entries()) setMember(object, name, values[i]);
      return object;
    },
  });
}

/** Sets an own member, `__proto__` included. */
export function setMember<T>(object: Record<string, T>, name: string, value: T): void {
  if (name === "__proto__") {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[name] = value;
  }
}
