/** A parsed JSON document and access to its entries. Only `wire/json` knows the layout of an entry. */

import type { Buffer } from "#platform/bytes";

// Kinds of tape entries.
export const NULL = 0;
export const FALSE = 1;
export const TRUE = 2;
/** An integer within ±(2^53−1). */
export const SMALL_INTEGER = 3;
/** A larger integer that fits i64 or u64. */
export const LARGE_INTEGER = 4;
/** Every other number: `-0`, `1.0`, `1e3`, integers outside i64 and u64. */
export const DOUBLE = 5;
/** A string without escapes. */
export const STRING = 6;
/** A string with at least one escape. */
export const ESCAPED_STRING = 7;
export const ARRAY = 8;
export const OBJECT = 9;

/**
 * Numbers for each tape entry: kind, offset of the first byte, offset after the last byte, tape index after the
 * subtree.
 */
export const STRIDE = 4;

/** Features of a document that `JSON.parse` would lose or misread. */
export interface JsonFacts {
  /** Whether the document contains an integer beyond ±(2^53−1). */
  readonly large: boolean;
  /** Whether it contains a double. */
  readonly doubles: boolean;
  /** Whether a member name has an escape. V8 13.6 to 14.6 (Node 24 to 26) misreads some escaped keys. */
  readonly escapedNames: boolean;
  readonly escapes: boolean;
}

/** A parsed document. Entries are addressed by tape index; the root is entry 0. */
export interface JsonDocument extends JsonFacts {
  readonly bytes: Buffer;
  /** Whether all bytes are ASCII; such strings decode twice as fast. */
  readonly ascii: boolean;
  /** The entries end at index `tape[3]`; the array may be longer. */
  readonly tape: Int32Array;
  /** Whether there is white space outside strings. */
  readonly spaced: boolean;
}

/** Number of values in the subtree of an entry. Member names, arrays and objects count as one each. */
export function valueCount(document: JsonDocument, entry = 0): number {
  return (after(document, entry) - entry) / STRIDE;
}

// Iteration. The items of an array start at `firstIn(array)`; each next item is `after` the previous one, up to
// `after(array)`. The keys of an object start at `firstIn(object)`; each next key is `after` the previous value.

/** Kind of an entry: `NULL` to `OBJECT`. */
export function kindAt({ tape }: JsonDocument, entry: number): number {
  return tape[entry] as number;
}

/** Offset of an entry's first byte. */
export function startAt({ tape }: JsonDocument, entry: number): number {
  return tape[entry + 1] as number;
}

/** Offset after an entry's last byte. */
export function endAt({ tape }: JsonDocument, entry: number): number {
  return tape[entry + 2] as number;
}

/** Index of the entry after a value and its subtree. */
export function after({ tape }: JsonDocument, entry: number): number {
  return tape[entry + 3] as number;
}

/** First item or key of a non-empty array or object. */
export function firstIn(entry: number): number {
  return entry + STRIDE;
}

export function valueOfKey(key: number): number {
  return key + STRIDE;
}

/** Whether an object may repeat a name: two names have the same bytes, or a name has an escape. */
export function hasRepeatedName({ bytes, tape }: JsonDocument, object: number): boolean {
  const end = tape[object + 3] as number;
  const first = object + STRIDE;
  // One member repeats no name; most objects of a request have one.
  if (first < end && tape[first + STRIDE + 3] === end) return tape[first] === ESCAPED_STRING;
  const names = new Set<string>();
  for (let key = object + STRIDE; key < end; key = tape[key + STRIDE + 3] as number) {
    const name = bytes.toString("latin1", tape[key + 1], tape[key + 2]);
    if (tape[key] === ESCAPED_STRING || names.has(name)) return true;
    names.add(name);
  }
  return false;
}

/** Members of an object in textual order, including repeated ones. */
export function allMembers({ tape }: JsonDocument, object: number): [key: number, value: number][] {
  const members: [number, number][] = [];
  for (let key = object + STRIDE; key < (tape[object + 3] as number); ) {
    const value = key + STRIDE;
    members.push([key, value]);
    key = tape[value + 3] as number;
  }
  return members;
}

/** Tape indexes of an array's items. */
export function itemsOf({ tape }: JsonDocument, array: number): number[] {
  const items: number[] = [];
  for (let item = array + STRIDE; item < (tape[array + 3] as number); item = tape[item + 3] as number) items.push(item);
  return items;
}

export function itemCount(document: JsonDocument, array: number): number {
  let count = 0;
  const end = after(document, array);
  for (let item = firstIn(array); item < end; item = after(document, item)) count++;
  return count;
}

/** Whether an array or object contains another array or object. */
export function holdsContainer({ tape }: JsonDocument, entry: number): boolean {
  const end = tape[entry + 3] as number;
  for (let inner = entry + STRIDE; inner < end; inner += STRIDE) if ((tape[inner] as number) >= ARRAY) return true;
  return false;
}
