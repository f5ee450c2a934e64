import { Buffer } from "#platform/bytes";
import {
  ARRAY,
  allMembers,
  DOUBLE,
  ESCAPED_STRING,
  endAt,
  hasRepeatedName,
  itemsOf,
  type JsonDocument,
  kindAt,
  OBJECT,
  STRIDE,
  startAt,
} from "./document.js";
import { formatDouble, serdeDouble } from "./numbers.js";
import { stringOf, uniqueMembers } from "./read.js";

/** Spellings of a value's text that a leader may have hashed (protocol.md section 5). */
export type TextForm = "sent" | "canonical" | "legacy";

/**
 * Text of one entry, as bytes without white space.
 *
 * - `sent`: the original spelling, including repeated members
 * - `canonical`: as serde_json prints it. A repeated member has its first position and its last value; escapes are
 * minimal, integers unchanged, doubles read and printed like serde_json
 * - `legacy`: canonical, but with exponents as in serde_json before 1.0.147
 *
 * @returns a view of the document if it contains the text, otherwise a new buffer
 */
export function textOf(document: JsonDocument, entry: number, form: TextForm): Buffer {
  const { bytes, spaced, doubles, escapes } = document;
  const isSent = form === "sent" || !(doubles || escapes || hasRepeatedMembers(document, entry));
  if (isSent && (!spaced || kindAt(document, entry) < ARRAY)) {
    return bytes.subarray(startAt(document, entry), endAt(document, entry));
  }
  return new TextWriter(document, form).write(entry);
}

/** Writes one entry in one form. Recursion is at most as deep as the document, which is limited to `MAX_DEPTH`. */
class TextWriter {
  #target = EMPTY;
  #at = 0;

  readonly #document: JsonDocument;
  readonly #form: TextForm;

  constructor(document: JsonDocument, form: TextForm) {
    this.#document = document;
    this.#form = form;
  }

  write(entry: number): Buffer {
    this.#value(entry);
    return this.#target.subarray(0, this.#at);
  }

  #value(entry: number): void {
    const kind = kindAt(this.#document, entry);
    if (kind === ARRAY) this.#array(entry);
    else if (kind === OBJECT) this.#object(entry);
    else this.#scalar(entry);
  }

  #array(entry: number): void {
    this.#byte(OPEN_ARRAY);
    for (const [i, item] of itemsOf(this.#document, entry).entries()) {
      if (i > 0) this.#byte(COMMA);
      this.#value(item);
    }
    this.#byte(CLOSE_ARRAY);
  }

  #object(entry: number): void {
    const members = this.#form === "sent" ? allMembers : uniqueMembers;
    this.#byte(OPEN_OBJECT);
    for (const [i, [key, value]] of members(this.#document, entry).entries()) {
      if (i > 0) this.#byte(COMMA);
      this.#scalar(key);
      this.#byte(COLON);
      this.#value(value);
    }
    this.#byte(CLOSE_OBJECT);
  }

  #scalar(entry: number): void {
    const { bytes } = this.#document;
    const kind = kindAt(this.#document, entry);
    const start = startAt(this.#document, entry);
    const end = endAt(this.#document, entry);
    if (this.#form === "sent" || (kind !== DOUBLE && kind !== ESCAPED_STRING)) {
      this.#reserve(end - start);
      this.#at += bytes.copy(this.#target, this.#at, start, end);
      return;
    }
    const text =
      kind === DOUBLE
        ? formatDouble(serdeDouble(bytes, start, end), this.#form === "legacy")
        : quote(stringOf(this.#document, entry));
    // UTF-8 has at most three bytes per UTF-16 unit.
    this.#reserve(text.length * 3);
    this.#at += this.#target.write(text, this.#at);
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#target[this.#at++] = byte;
  }

  #reserve(size: number): void {
    if (this.#at + size <= this.#target.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(64, this.#target.length * 2, this.#at + size));
    this.#target.copy(larger, 0, 0, this.#at);
    this.#target = larger;
  }
}

const EMPTY = Buffer.alloc(0);
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
const CLOSE_ARRAY = 0x5d;
const CLOSE_OBJECT = 0x7d;

/** Whether an object in the subtree of an entry may have a repeated member. */
function hasRepeatedMembers(document: JsonDocument, root: number): boolean {
  const { tape } = document;
  const end = tape[root + 3] as number;
  for (let entry = root; entry < end; entry += STRIDE) {
    if (tape[entry] === OBJECT && hasRepeatedName(document, entry)) return true;
  }
  return false;
}

/** Quotes a well-formed string. serde_json and `JSON.stringify` escape the same characters. */
export const quote = (text: string): string => JSON.stringify(text);
