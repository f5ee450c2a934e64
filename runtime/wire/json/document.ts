/** A parsed JSON document, and the ways through its entries. Only `wire/json` knows how an entry is laid out. */

import { type Buffer, randomInt } from "#platform/bytes";

// Kinds of tape entries.
export const NULL = 0;
export const FALSE = 1;
export const TRUE = 2;
/** An integer text within ±(2^53−1). */
export const SMALL_INTEGER = 3;
/** A larger integer text, within i64 or u64. */
export const LARGE_INTEGER = 4;
/** Every other number: `-0`, `1.0`, `1e3`, digits beyond u64. */
export const DOUBLE = 5;
/** A string without escapes. */
export const STRING = 6;
/** A string with at least one escape. */
export const ESCAPED_STRING = 7;
export const ARRAY = 8;
export const OBJECT = 9;

/** Numbers per tape entry: kind, first byte, byte after the last, tape index after the subtree. */
export const STRIDE = 4;

/** Features of a document that JSON.parse would lose or misread. */
export interface JsonFacts {
  /** Whether there is an integer beyond ±(2^53−1). */
  readonly large: boolean;
  /** Whether there is a double. */
  readonly doubles: boolean;
  /** Whether a member's name has an escape: V8 13.6 to 14.6 (Node 24 to 26) misreads some escaped keys. */
  readonly escapedNames: boolean;
  /** Whether a string has an escape. */
  readonly escapes: boolean;
}

/** A parsed document. Entries are addressed by tape index; the root is entry 0. */
export interface JsonDocument extends JsonFacts {
  readonly bytes: Buffer;
  /** Whether all bytes are ASCII, which halves the time of decoding strings. */
  readonly ascii: boolean;
  /** The entries end at `tape[3]`; the array may be longer. */
  readonly tape: Int32Array;
  /** Whether there is white space outside strings. */
  readonly spaced: boolean;
}

/** Number of values at and below an entry: members' names, arrays and objects count as one each. */
export function valueCount(document: JsonDocument, entry = 0): number {
  return (after(document, entry) - entry) / STRIDE;
}

// Entries of a document. Items: from `firstIn(array)`, each `after` the one before, below `after(array)`. Members: keys
// from `firstIn(object)`, each `after` the value of the one before.

/** The kind of an entry: `NULL` to `OBJECT`. */
export function kindAt({ tape }: JsonDocument, entry: number): number {
  return tape[entry] as number;
}

/** The offset of an entry's first byte. */
export function startAt({ tape }: JsonDocument, entry: number): number {
  return tape[entry + 1] as number;
}

/** The offset after an entry's last byte. */
export function endAt({ tape }: JsonDocument, entry: number): number {
  return tape[entry + 2] as number;
}

/** The entry after a value and all that it holds. */
export function after({ tape }: JsonDocument, entry: number): number {
  return tape[entry + 3] as number;
}

/** The first entry inside an array or object that is not empty: an item or a key. */
export function firstIn(entry: number): number {
  return entry + STRIDE;
}

export function valueOfKey(key: number): number {
  return key + STRIDE;
}

/** Random per process, so that a caller cannot choose colliding names. */
const HASH_SEED = randomInt(2 ** 31);

/** Up to this many names of an object are compared pairwise. */
const MAX_PAIRWISE_NAMES = 8;

/**
 * Whether an object entry may have a repeated name: two names have the same bytes, or one has an escape. Uses a hash
 * table of tape indexes, because decoding a million names to strings takes a second.
 */
export function hasRepeatedName(document: JsonDocument, object: number): boolean {
  const { bytes, tape } = document;
  const end = tape[object + 3] as number;
  let count = 0;
  for (let key = object + STRIDE; key < end; key = tape[key + STRIDE + 3] as number) {
    if (tape[key] === ESCAPED_STRING) return true;
    count++;
  }
  if (count < 2) return false;
  if (count <= MAX_PAIRWISE_NAMES) {
    for (let key = object + STRIDE; key < end; key = tape[key + STRIDE + 3] as number) {
      for (let other = object + STRIDE; other < key; other = tape[other + STRIDE + 3] as number) {
        if (isSameText(document, key, other)) return true;
      }
    }
    return false;
  }
  const size = 2 ** (32 - Math.clz32(count * 2));
  const places = new Int32Array(size);
  for (let key = object + STRIDE; key < end; key = tape[key + STRIDE + 3] as number) {
    let hash = HASH_SEED;
    const last = tape[key + 2] as number;
    for (let at = tape[key + 1] as number; at < last; at++) {
      hash = Math.imul(hash ^ (bytes[at] as number), 0x5bd1e995);
      hash ^= hash >>> 15;
    }
    let place = hash & (size - 1);
    for (let other = places[place] as number; other !== 0; other = places[place] as number) {
      if (isSameText(document, key, other)) return true;
      place = (place + 1) & (size - 1);
    }
    places[place] = key;
  }
  return false;
}

function isSameText({ bytes, tape }: JsonDocument, one: number, other: number): boolean {
  const start = tape[one + 1] as number;
  const second = tape[other + 1] as number;
  const length = (tape[one + 2] as number) - start;
  if ((tape[other + 2] as number) - second !== length) return false;
  for (let i = 0; i < length; i++) if (bytes[start + i] !== bytes[second + i]) return false;
  return true;
}

/** The members of an object entry in textual order, repeated ones included. */
export function allMembers({ tape }: JsonDocument, object: number): [key: number, value: number][] {
  const members: [number, number][] = [];
  for (let key = object + STRIDE; key < (tape[object + 3] as number); ) {
    const value = key + STRIDE;
    members.push([key, value]);
    key = tape[value + 3] as number;
  }
  return members;
}

/** Tape indexes of the items of an array entry. */
export function itemsOf({ tape }: JsonDocument, array: number): number[] {
  const items: number[] = [];
  for (let item = array + STRIDE; item < (tape[array + 3] as number); item = tape[item + 3] as number) items.push(item);
  return items;
}

/** Number of items of an array entry. */
export function itemCount(document: JsonDocument, array: number): number {
  let count = 0;
  const end = after(document, array);
  for (let item = firstIn(array); item < end; item = after(document, item)) count++;
  return count;
}

/** Whether an array or object entry holds another one. */
export function holdsContainer({ tape }: JsonDocument, entry: number): boolean {
  const end = tape[entry + 3] as number;
  for (let inner = entry + STRIDE; inner < end; inner += STRIDE) if ((tape[inner] as number) >= ARRAY) return true;
  return false;
}
