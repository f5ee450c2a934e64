import { Buffer } from "#platform/bytes";
import {
  ARRAY,
  allMembers,
  DOUBLE,
  ESCAPED_STRING,
  hasRepeatedName,
  type JsonDocument,
  OBJECT,
  STRIDE,
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
  const { bytes, tape, spaced } = document;
  const start = tape[entry + 1] as number;
  const end = tape[entry + 2] as number;
  const isSent = form === "sent" || !(document.doubles || document.escapes || hasRepeatedMembers(document, entry));
  if (isSent && (!spaced || (tape[entry] as number) < ARRAY)) return bytes.subarray(start, end);
  return new TextWriter(document, form).write(entry);
}

/** A container that is being written. */
interface OpenContainer {
  readonly close: number;
  /** Tape index of the next item or key; unused if `members` is set. */
  next: number;
  readonly end: number;
  /** Members in another order than on the tape; `place` is the index of the next one. */
  readonly members: readonly (readonly [key: number, value: number])[] | undefined;
  place: number;
  first: boolean;
}

/** Writes one entry in one form. */
class TextWriter {
  readonly #source: Buffer;
  readonly #unchanged: boolean;
  #target = EMPTY;
  #at = 0;

  readonly #document: JsonDocument;
  readonly #form: TextForm;

  constructor(document: JsonDocument, form: TextForm) {
    this.#document = document;
    this.#form = form;
    this.#source = document.bytes;
    this.#unchanged = form === "sent";
  }

  write(root: number): Buffer {
    const { tape } = this.#document;
    const open: OpenContainer[] = [];
    this.#entry(root, open);
    for (let container = open.at(-1); container !== undefined; container = open.at(-1)) {
      const { members, place, next } = container;
      if (members === undefined ? next === container.end : place === members.length) {
        this.#byte(container.close);
        open.pop();
        continue;
      }
      if (container.first) container.first = false;
      else this.#byte(COMMA);
      let value = next;
      if (container.close === CLOSE_OBJECT) {
        const [key, itsValue] = members?.[place] ?? [next, next + STRIDE];
        this.#scalar(key);
        this.#byte(COLON);
        value = itsValue;
      }
      container.place++;
      container.next = tape[value + 3] as number;
      this.#entry(value, open);
    }
    return this.#target.subarray(0, this.#at);
  }

  /** Writes a scalar or the opening bracket of a container. The caller writes the content. */
  #entry(entry: number, open: OpenContainer[]): void {
    const { tape } = this.#document;
    const kind = tape[entry];
    if (kind !== ARRAY && kind !== OBJECT) {
      this.#scalar(entry);
      return;
    }
    this.#byte(kind === ARRAY ? OPEN_ARRAY : OPEN_OBJECT);
    open.push({
      close: kind === ARRAY ? CLOSE_ARRAY : CLOSE_OBJECT,
      next: entry + STRIDE,
      end: tape[entry + 3] as number,
      members: kind === OBJECT && !this.#unchanged ? repeatedMembers(this.#document, entry) : undefined,
      place: 0,
      first: true,
    });
  }

  #scalar(entry: number): void {
    const { tape } = this.#document;
    const kind = tape[entry];
    const start = tape[entry + 1] as number;
    const end = tape[entry + 2] as number;
    if (this.#unchanged || (kind !== DOUBLE && kind !== ESCAPED_STRING)) {
      this.#reserve(end - start);
      this.#at += this.#source.copy(this.#target, this.#at, start, end);
      return;
    }
    const text =
      kind === DOUBLE
        ? formatDouble(serdeDouble(this.#source, start, end), this.#form === "legacy")
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

/** Members of an object with repeated names, each name once; undefined if no name is repeated. */
function repeatedMembers(document: JsonDocument, object: number): [key: number, value: number][] | undefined {
  if (!hasRepeatedName(document, object)) return undefined;
  const all = allMembers(document, object);
  const unique = uniqueMembers(document, object, all);
  return unique === all ? undefined : unique;
}

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
