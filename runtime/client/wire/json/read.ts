/** Converts entries of a document to values. */

import type { Buffer } from "#platform/bytes";
import {
  ARRAY,
  allMembers,
  DOUBLE,
  ESCAPED_STRING,
  FALSE,
  itemsOf,
  type JsonDocument,
  LARGE_INTEGER,
  NULL,
  OBJECT,
  SMALL_INTEGER,
  STRING,
  TRUE,
} from "./document.js";

/** Members of an object. A repeated member has its first position and its last value. */
export function uniqueMembers(
  document: JsonDocument,
  object: number,
  members = allMembers(document, object),
): [key: number, value: number][] {
  const places = new Map<string, [number, number]>();
  for (const member of members) {
    const name = stringOf(document, member[0]);
    const place = places.get(name);
    if (place === undefined) places.set(name, member);
    else place[1] = member[1];
  }
  return places.size === members.length ? members : [...places.values()];
}

/** Tape indexes of an object's values, by decoded name. A repeated member has its last value. */
export function membersByName(document: JsonDocument, object: number): Map<string, number> {
  return new Map(allMembers(document, object).map(([key, value]) => [stringOf(document, key), value]));
}

/** Whether an entry is a string without escapes that consists of exactly these bytes. */
export function isStringOf({ bytes, tape }: JsonDocument, entry: number, wanted: Buffer): boolean {
  const start = (tape[entry + 1] as number) + 1;
  if (tape[entry] !== STRING || (tape[entry + 2] as number) - 1 - start !== wanted.length) return false;
  for (let i = 0; i < wanted.length; i++) if (bytes[start + i] !== wanted[i]) return false;
  return true;
}

/** Decoded text of a string entry; undefined for other entries. */
export function stringValueOf(document: JsonDocument, entry: number | undefined): string | undefined {
  if (entry === undefined) return undefined;
  const kind = document.tape[entry];
  return kind === STRING || kind === ESCAPED_STRING ? stringOf(document, entry) : undefined;
}

export function stringOf({ bytes, ascii, tape }: JsonDocument, entry: number): string {
  const start = tape[entry + 1] as number;
  const end = tape[entry + 2] as number;
  if (tape[entry] === STRING) return bytes.toString(ascii ? "latin1" : "utf8", start + 1, end - 1);
  return JSON.parse(bytes.toString("utf8", start, end)) as string;
}

/** Value of a scalar entry. Doubles are read like JavaScript, not like serde_json. */
export function scalarOf(document: JsonDocument, entry: number): null | boolean | string | number | bigint {
  const { bytes, tape } = document;
  switch (tape[entry]) {
    case NULL:
      return null;
    case FALSE:
      return false;
    case TRUE:
      return true;
    case SMALL_INTEGER:
    case DOUBLE:
      return Number(bytes.toString("latin1", tape[entry + 1], tape[entry + 2]));
    case LARGE_INTEGER:
      return BigInt(bytes.toString("latin1", tape[entry + 1], tape[entry + 2]));
    default:
      return stringOf(document, entry);
  }
}

/** Like {@link scalarOf}, but an integer outside i64 and u64 is an exact bigint instead of a double. */
export function exactScalarOf(document: JsonDocument, entry: number): ReturnType<typeof scalarOf> {
  const { bytes, tape } = document;
  if (tape[entry] !== DOUBLE) return scalarOf(document, entry);
  const text = bytes.toString("latin1", tape[entry + 1], tape[entry + 2]);
  return /^-?[1-9]\d*$/.test(text) ? BigInt(text) : scalarOf(document, entry);
}

const KINDS: Readonly<Record<number, string>> = {
  [NULL]: "null",
  [FALSE]: "a boolean",
  [TRUE]: "a boolean",
  [SMALL_INTEGER]: "a number",
  [LARGE_INTEGER]: "an integer",
  [DOUBLE]: "a number",
  [STRING]: "a string",
  [ESCAPED_STRING]: "a string",
  [ARRAY]: "an array",
  [OBJECT]: "an object",
};

export function entryKind(document: JsonDocument, entry: number): string {
  return KINDS[document.tape[entry] as number] as string;
}

export interface TapeFold<T> {
  scalar(document: JsonDocument, entry: number): T;
  array(items: T[]): T;
  /** `members` are in textual order, including repeated ones. */
  object(members: [name: string, value: T][]): T;
}

/** Folds the subtree of an entry to one value, from the leaves up. Recursion is at most `MAX_DEPTH` levels deep. */
export function foldTape<T>(document: JsonDocument, entry: number, fold: TapeFold<T>): T {
  switch (document.tape[entry]) {
    case ARRAY:
      return fold.array(itemsOf(document, entry).map((item) => foldTape(document, item, fold)));
    case OBJECT:
      return fold.object(
        allMembers(document, entry).map(([key, value]) => [stringOf(document, key), foldTape(document, value, fold)]),
      );
    default:
      return fold.scalar(document, entry);
  }
}
