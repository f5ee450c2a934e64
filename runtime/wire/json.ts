/**
 * JSON over bytes, as serde_json reads and prints it (protocol.md section 5).
 *
 * One pass over the bytes checks the whole document and leaves a tape: an entry for each value and key, in textual
 * order. Everything else works on the tape: the text as sent, the canonical text, values with exact integers. Nothing
 * here recurses, and nothing costs more than a constant for each byte, whatever the input.
 */

import { isAscii, isUtf8 } from "node:buffer";
import { randomInt } from "node:crypto";
import { asBuffer } from "./bytes.js";
import { JsonError } from "./json-error.js";

/** Levels of arrays and objects that are accepted (protocol.md section 1); one more is refused. */
export const MAX_DEPTH = 127;

/** Kinds of tape entries. */
export const NULL = 0;
export const FALSE = 1;
export const TRUE = 2;
/** An integer text within ±(2^53−1). */
export const SMALL_INTEGER = 3;
/** An integer text beyond that, within i64 or u64. */
export const LARGE_INTEGER = 4;
/** Every other number: `-0`, `1.0`, `1e3`, digits beyond u64. */
export const DOUBLE = 5;
/** A string whose text holds no escape. */
export const STRING = 6;
/** A string whose text holds at least one escape. */
export const ESCAPED_STRING = 7;
export const ARRAY = 8;
export const OBJECT = 9;

/** Numbers a tape entry has: kind, first byte, byte after the last, tape index after the subtree. */
export const STRIDE = 4;

/** What a checked text holds that JSON.parse would lose or misread. */
export interface JsonFacts {
  /** Whether an integer beyond ±(2^53−1) stands anywhere. */
  readonly large: boolean;
  /** Whether a double stands anywhere. */
  readonly doubles: boolean;
  /** Whether the name of a member has an escape. JSON.parse of V8 13.6 to 14.6 (Node 24 to 26) takes some of them for others. */
  readonly escapedNames: boolean;
  /** Whether any string has an escape. */
  readonly escapes: boolean;
}

/** A checked document. Entries are addressed by their tape index; the root is entry 0. */
export interface JsonDocument extends JsonFacts {
  readonly bytes: Buffer;
  /** Whether all bytes are ASCII: texts of those are made in half the time. */
  readonly ascii: boolean;
  /** Longer than its entries: they end where the root does, at `tape[3]`. */
  readonly tape: Int32Array;
  /** Whether white space stands outside strings. */
  readonly spaced: boolean;
}

/** Bytes of a document up to which its tape has room for as many entries as it may well have. */
const LARGE = 1 << 16;
/** Bytes or characters of a string that are looked at one by one before it counts as long. */
const SHORT = 64;
const OF_OBJECT = 1;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** 1 for the bytes that a string may hold as they are: all but `"`, `\` and control characters. */
const PLAIN = new Uint8Array(256).fill(1, 0x20);
PLAIN[QUOTE] = 0;
PLAIN[BACKSLASH] = 0;

/** 1 for JSON's white space. */
const SPACE = new Uint8Array(256);
for (const byte of [0x20, 0x09, 0x0a, 0x0d]) SPACE[byte] = 1;

/**
 * Marks those of four bytes that are not plain by their highest bit: a byte that is too small for a difference gets it, one
 * of UTF-8 has it and loses it. Further bytes may be marked above a marked one.
 */
function oddBytes(word: number): number {
  const controls = word - 0x20202020;
  const quotes = (word ^ 0x22222222) - 0x01010101;
  const backslashes = (word ^ 0x5c5c5c5c) - 0x01010101;
  return (controls | quotes | backslashes) & ~word;
}

const HIGHEST_BITS = 0x80808080;

/**
 * Checks one JSON document: grammar, UTF-8, surrogate escapes, number range, depth; nothing may follow it but white
 * space, no byte-order mark may precede it.
 *
 * @throws {@link JsonError}
 */
export function parseJson(input: Uint8Array): JsonDocument {
  const bytes = asBuffer(input);
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) throw new JsonError("invalid UTF-8", invalidUtf8At(bytes));
  return new Scanner(bytes, ascii, newTape(bytes.length)).scan();
}

/** Where the bytes first differ from the text that they decode to. */
function invalidUtf8At(bytes: Buffer): number {
  const valid = Buffer.from(bytes.toString("utf8"));
  let offset = 0;
  while (offset < bytes.length && bytes[offset] === valid[offset]) offset++;
  return offset;
}

/**
 * Numbers of the memory that the tapes of small documents share. Such a tape is written into what is left of it, and the next
 * one follows: memory of its own costs as much as the scan of a small call.
 */
const POOL_LENGTH = 16_384;
/** Numbers that are left to a tape at least, enough for a small call. */
const POOL_RESERVE = 2_048;
let pool = new Int32Array(POOL_LENGTH);
let pooled = 0;

/** A tape for a document of some bytes; it may be too short. */
function newTape(bytes: number): Int32Array {
  const length = 64 + ((Math.min(bytes, LARGE) >> 2) & ~3);
  if (length > POOL_RESERVE) return new Int32Array(length);
  if (pooled + POOL_RESERVE > POOL_LENGTH) {
    pool = new Int32Array(POOL_LENGTH);
    pooled = 0;
  }
  return pool.subarray(pooled);
}

/**
 * How many entries follow a position at most: a comma or a colon stands before each, or the opening of a container. Memory
 * that is counted too much for, because texts hold such bytes, is never touched; a tape that doubled would be there twice.
 */
function mostEntries(bytes: Buffer, position: number): number {
  let count = 1;
  for (let at = position; at < bytes.length; at++) count += STARTS[bytes[at] as number] as number;
  return count;
}

/** 1 for the bytes that an entry may follow. */
const STARTS = new Uint8Array(256);
for (const character of "[{,:") STARTS[character.charCodeAt(0)] = 1;

/**
 * The containers around the place that is read, of one document at a time: scanning is synchronous. Their tape indexes, that
 * of an object with OF_OBJECT, a bit that no index has.
 */
const open = new Int32Array(MAX_DEPTH);

/** Reads one document and writes its tape. */
class Scanner {
  private top = 0;
  private position = 0;
  private spaced = false;
  private large = false;
  private doubles = false;
  private escapedNames = false;
  private escapes = false;
  /** The bytes by fours, from the first that lies on a multiple of four; made for the first long string. */
  private words: Int32Array | undefined;

  constructor(
    private readonly bytes: Buffer,
    private readonly ascii: boolean,
    private tape: Int32Array,
  ) {}

  scan(): JsonDocument {
    const { bytes } = this;
    let depth = 0;
    for (;;) {
      let byte = this.skipSpace();
      if (byte === 0x7b || byte === 0x5b) {
        if (depth === MAX_DEPTH) this.fail(`more than ${MAX_DEPTH} levels of nesting`);
        const isObject = byte === 0x7b;
        open[depth++] = isObject ? this.top | OF_OBJECT : this.top;
        this.push(isObject ? OBJECT : ARRAY, this.position, this.position);
        this.position++;
        byte = this.skipSpace();
        if (isObject && byte !== 0x7d) {
          this.key();
          continue;
        }
        if (!isObject && byte !== 0x5d) continue;
      } else {
        this.scalar(byte);
      }
      // After a value: close what ends here, then go on with the next member or item.
      for (;;) {
        byte = this.skipSpace();
        if (depth === 0) {
          if (this.position < bytes.length) this.fail("text after the document");
          return this.document();
        }
        const container = open[depth - 1] as number;
        const isObject = (container & OF_OBJECT) !== 0;
        if (byte === (isObject ? 0x7d : 0x5d)) {
          this.position++;
          this.close(container & ~OF_OBJECT);
          depth--;
          continue;
        }
        if (byte !== 0x2c) this.fail(isObject ? "expected `,` or `}`" : "expected `,` or `]`");
        this.position++;
        if (isObject) {
          this.skipSpace();
          this.key();
        }
        break;
      }
    }
  }

  private document(): JsonDocument {
    const { bytes, ascii, spaced, large, doubles, escapedNames, escapes, tape } = this;
    if (tape.buffer === pool.buffer) pooled += this.top;
    return { bytes, ascii, tape, spaced, large, doubles, escapedNames, escapes };
  }

  private fail(reason: string): never {
    if (this.position >= this.bytes.length) throw new JsonError("unexpected end of the text", this.bytes.length);
    throw new JsonError(reason, this.position);
  }

  private push(kind: number, start: number, end: number): void {
    let { tape } = this;
    const { top } = this;
    if (top + STRIDE > tape.length) {
      const larger = new Int32Array(top + STRIDE * (1 + mostEntries(this.bytes, end)));
      larger.set(tape);
      tape = larger;
      this.tape = tape;
    }
    tape[top] = kind;
    tape[top + 1] = start;
    tape[top + 2] = end;
    tape[top + 3] = top + STRIDE;
    this.top = top + STRIDE;
  }

  /** The container of an entry ends here. */
  private close(entry: number): void {
    const { tape } = this;
    tape[entry + 2] = this.position;
    tape[entry + 3] = this.top;
  }

  /** The next byte that is no white space; undefined at the end. */
  private skipSpace(): number | undefined {
    const { bytes } = this;
    let byte = bytes[this.position];
    if (byte === undefined || SPACE[byte] !== 1) return byte;
    this.spaced = true;
    let { position } = this;
    do byte = bytes[++position];
    while (byte !== undefined && SPACE[byte] === 1);
    this.position = position;
    return byte;
  }

  /** A member's name with its colon. */
  private key(): void {
    if (this.bytes[this.position] !== QUOTE) this.fail("expected a member name in double quotes");
    if (this.string() === ESCAPED_STRING) this.escapedNames = true;
    this.skipSpace();
    if (this.bytes[this.position] !== 0x3a) this.fail("expected `:`");
    this.position++;
  }

  private scalar(byte: number | undefined): void {
    switch (byte) {
      case QUOTE:
        this.string();
        break;
      case 0x74:
        this.word("true", TRUE);
        break;
      case 0x66:
        this.word("false", FALSE);
        break;
      case 0x6e:
        this.word("null", NULL);
        break;
      default:
        this.number(byte);
    }
  }

  private word(text: string, kind: number): void {
    const start = this.position;
    for (let i = 0; i < text.length; i++, this.position++) {
      if (this.bytes[this.position] !== text.charCodeAt(i)) this.fail("expected a value");
    }
    this.push(kind, start, this.position);
  }

  /** @returns its kind */
  private string(): number {
    const { bytes } = this;
    const { length } = bytes;
    const start = this.position;
    let position = start + 1;
    let kind = STRING;
    for (;;) {
      const soon = Math.min(position + SHORT, length);
      while (position < soon && PLAIN[bytes[position] as number] === 1) position++;
      if (position === soon && soon < length) {
        position = this.skipWords(position);
        while (position < length && PLAIN[bytes[position] as number] === 1) position++;
      }
      const byte = bytes[position];
      if (byte === QUOTE) break;
      this.position = position;
      if (byte !== BACKSLASH) this.fail("control character in a string");
      kind = ESCAPED_STRING;
      this.escapes = true;
      position = this.escape();
    }
    this.position = position + 1;
    this.push(kind, start, position + 1);
    return kind;
  }

  /** Skips bytes of a string by eights while all of them are plain. Gives a position up to which all are. */
  private skipWords(from: number): number {
    const { bytes } = this;
    const ahead = -bytes.byteOffset & 3;
    this.words ??= new Int32Array(bytes.buffer, bytes.byteOffset + ahead, (bytes.length - ahead) >> 2);
    const { words } = this;
    const last = words.length - 1;
    // From the word that the position lies in: what precedes it there is looked at once more.
    const first = (from - ahead) >> 2;
    let word = first;
    while (
      word < last &&
      ((oddBytes(words[word] as number) | oddBytes(words[word + 1] as number)) & HIGHEST_BITS) === 0
    ) {
      word += 2;
    }
    return word === first ? from : ahead + 4 * word;
  }

  /** An escape at the current position; gives the position after it. */
  private escape(): number {
    const { bytes, position } = this;
    switch (bytes[position + 1]) {
      case QUOTE:
      case BACKSLASH:
      case 0x2f:
      case 0x62:
      case 0x66:
      case 0x6e:
      case 0x72:
      case 0x74:
        return position + 2;
      case 0x75: {
        const unit = this.hex(position + 2);
        if (unit < 0xd800 || unit > 0xdfff) return position + 6;
        if (unit > 0xdbff || bytes[position + 6] !== BACKSLASH || bytes[position + 7] !== 0x75) {
          this.fail("lone surrogate escape");
        }
        const low = this.hex(position + 8);
        if (low < 0xdc00 || low > 0xdfff) this.fail("lone surrogate escape");
        return position + 12;
      }
      default:
        this.position = position + 1;
        return this.fail("invalid escape");
    }
  }

  private hex(from: number): number {
    let unit = 0;
    for (let i = from; i < from + 4; i++) {
      const byte = this.bytes[i] ?? 0;
      const lower = byte | 0x20;
      if (byte >= 0x30 && byte <= 0x39) unit = unit * 16 + byte - 0x30;
      else if (lower >= 0x61 && lower <= 0x66) unit = unit * 16 + lower - 0x57;
      else {
        this.position = i;
        this.fail("invalid escape");
      }
    }
    return unit;
  }

  private number(first: number | undefined): void {
    const { bytes } = this;
    const start = this.position;
    const negative = first === 0x2d;
    if (negative) this.position++;
    const digits = this.position;
    const lead = bytes[digits] ?? 0;
    if (lead < 0x30 || lead > 0x39) this.fail(negative ? "expected a digit" : "expected a value");
    this.digits();
    const digitCount = this.position - digits;
    if (lead === 0x30 && digitCount > 1) {
      this.position = digits + 1;
      this.fail("leading zero in a number");
    }
    let integer = true;
    let isFar = digitCount > 200;
    if (bytes[this.position] === 0x2e) {
      integer = false;
      this.position++;
      this.digits();
    }
    if (((bytes[this.position] ?? 0) | 0x20) === 0x65) {
      integer = false;
      this.position++;
      const sign = bytes[this.position];
      if (sign === 0x2b || sign === 0x2d) this.position++;
      const power = this.position;
      this.digits();
      if (sign !== 0x2d && this.position - power > 2) isFar = true;
    }
    const end = this.position;
    if (integer && digitCount <= 15 && !(negative && lead === 0x30)) {
      this.push(SMALL_INTEGER, start, end);
      return;
    }
    const kind = integer ? integerKind(bytes, negative, digits, end) : DOUBLE;
    if (kind === LARGE_INTEGER) this.large = true;
    if (kind === DOUBLE) {
      this.doubles = true;
      // 200 digits and a power below 100 are within the range, and a negative power leaves it for no number.
      if (isFar && !Number.isFinite(serdeDouble(bytes, start, end))) {
        this.position = start;
        this.fail("number out of range");
      }
    }
    this.push(kind, start, end);
  }

  /** One digit or more. */
  private digits(): void {
    const { bytes } = this;
    const { length } = bytes;
    const start = this.position;
    let position = start;
    while (position < length) {
      const byte = bytes[position] as number;
      if (byte < 0x30 || byte > 0x39) break;
      position++;
    }
    this.position = position;
    if (position === start) this.fail("expected a digit");
  }
}

/** The kind of an integer text that is `-0` or has 16 digits and more. */
function integerKind(bytes: Buffer, negative: boolean, digits: number, end: number): number {
  const count = end - digits;
  if (count < 16 || count > 20) return DOUBLE;
  const text = bytes.toString("latin1", digits, end);
  if (count === 16 && Number(text) <= Number.MAX_SAFE_INTEGER) return SMALL_INTEGER;
  const limit = negative ? "9223372036854775808" : "18446744073709551615";
  if (count < limit.length) return LARGE_INTEGER;
  return count === limit.length && text <= limit ? LARGE_INTEGER : DOUBLE;
}

/** 10^0 to 10^308, each the nearest double: `10 ** n` is not (protocol.md section 5). */
const POWERS_OF_TEN = Float64Array.from({ length: 309 }, (_, n) => Number(`1e${n}`));

/**
 * The double that serde_json reads by default: not correctly rounded (protocol.md section 5).
 *
 * @returns ±Infinity when the number is out of range
 */
function serdeDouble(bytes: Buffer, start: number, end: number): number {
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

/** A u64 that takes decimal digits as long as they fit: 15 in a number, the rest in another, a BigInt once at most. */
class Significand {
  private high = 0;
  private highDigits = 0;
  private low = 0;
  private lowDigits = 0;

  /** Appends a digit, or leaves all as it was and gives false when it would leave u64. */
  take(digit: number): boolean {
    if (this.high === 0 || this.highDigits < 15) {
      this.high = this.high * 10 + digit;
      if (this.high !== 0) this.highDigits++;
      return true;
    }
    if (this.lowDigits === 5) return false;
    // 19 digits always fit; a 20th does up to 18446744073709551615.
    if (this.lowDigits === 4) {
      const nineteen = this.exact();
      if (nineteen > 1844674407370955161n || (nineteen === 1844674407370955161n && digit > 5)) return false;
    }
    this.low = this.low * 10 + digit;
    this.lowDigits++;
    return true;
  }

  double(): number {
    return this.lowDigits === 0 ? this.high : Number(this.exact());
  }

  private exact(): bigint {
    return BigInt(this.high) * 10n ** BigInt(this.lowDigits) + BigInt(this.low);
  }
}

/**
 * A finite double as serde_json prints it, always with a point or an exponent: `1.0`, `0.00001`, `1e+16`, `-0.0`.
 *
 * @param legacy as serde_json did before 1.0.147: no `+` in the exponent
 */
export function formatDouble(value: number, legacy = false): string {
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const magnitude = Math.abs(value);
  // Between these bounds JavaScript prints the same digits, without an exponent too.
  if (magnitude >= 1e-5 && magnitude < 1e16) return Number.isInteger(value) ? `${value}.0` : String(value);
  const text = value.toExponential();
  return legacy ? text.replace("+", "") : text;
}

/**
 * Whether a double stands as serde_json prints it, as far as that can be seen without reading it: a point, at most 15
 * digits, from 1e-5 on. Such a number is read exactly, and its shortest digits are the ones that stand there.
 */
function isPrintedDouble(bytes: Buffer, start: number, end: number): boolean {
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
    // Five zeros behind `0.`: smaller than 1e-5.
    if (zeros && at - point === 5) return false;
  }
  return bytes[end - 1] !== 0x30 || end - point === 2;
}

/** The three spellings of a text that a leader may have hashed (protocol.md section 5). */
export type Form = "sent" | "canonical" | "legacy";

/**
 * The text of one entry without white space, as its bytes.
 *
 * - `sent`: as it stands, repeated members included
 * - `canonical`: as serde_json prints it: a repeated member keeps its first place and its last value, minimal escapes,
 *   integers kept, doubles as serde_json reads and prints them
 * - `legacy`: canonical, with exponents as serde_json printed them before 1.0.147
 *
 * @returns a view of the document where the text stands in it as it is wanted, else a buffer of its own
 */
export function textOf(document: JsonDocument, entry: number, form: Form): Buffer {
  const { bytes, tape, spaced } = document;
  const start = tape[entry + 1] as number;
  const end = tape[entry + 2] as number;
  const isSent = form === "sent" || !(document.doubles || document.escapes || hasRepeatedMembers(document, entry));
  if (isSent && (!spaced || (tape[entry] as number) < ARRAY)) return bytes.subarray(start, end);
  return new TextWriter(document, form).write(entry);
}

/** A container that is being written: what of it is still to come. */
interface OpenContainer {
  readonly close: number;
  /** Tape index of the next item, or of the next member's name; not used when there are `members`. */
  next: number;
  readonly end: number;
  /** Members in an order that is not the tape's, and the place of the next one. */
  readonly members: readonly (readonly [key: number, value: number])[] | undefined;
  place: number;
  first: boolean;
}

/** Writes one entry in one form. Stretches that stand in the document as they are wanted are copied whole. */
class TextWriter {
  private readonly source: Buffer;
  private readonly unchanged: boolean;
  private target = EMPTY;
  private at = 0;
  /** The stretch of the document that comes next in the text: not copied yet, since it may grow. */
  private from = 0;
  private to = 0;

  constructor(
    private readonly document: JsonDocument,
    private readonly form: Form,
  ) {
    this.source = document.bytes;
    this.unchanged = form === "sent";
  }

  write(root: number): Buffer {
    const { tape } = this.document;
    const open: OpenContainer[] = [];
    this.entry(root, open);
    for (let container = open.at(-1); container !== undefined; container = open.at(-1)) {
      const { members, place, next } = container;
      if (members === undefined ? next === container.end : place === members.length) {
        this.byte(container.close);
        open.pop();
        continue;
      }
      if (container.first) container.first = false;
      else this.byte(COMMA);
      let value = next;
      if (container.close === CLOSE_OBJECT) {
        const [key, itsValue] = members?.[place] ?? [next, next + STRIDE];
        this.scalar(key);
        this.byte(COLON);
        value = itsValue;
      }
      container.place++;
      container.next = tape[value + 3] as number;
      this.entry(value, open);
    }
    return this.text();
  }

  /** A scalar whole; of a container its opening, what it holds is left to the caller. */
  private entry(entry: number, open: OpenContainer[]): void {
    const { tape } = this.document;
    const kind = tape[entry];
    if (kind !== ARRAY && kind !== OBJECT) {
      this.scalar(entry);
      return;
    }
    const start = tape[entry + 1] as number;
    this.stretch(start, start + 1);
    open.push({
      close: kind === ARRAY ? CLOSE_ARRAY : CLOSE_OBJECT,
      next: entry + STRIDE,
      end: tape[entry + 3] as number,
      members: kind === OBJECT && !this.unchanged ? repeatedMembers(this.document, entry) : undefined,
      place: 0,
      first: true,
    });
  }

  private scalar(entry: number): void {
    const { tape } = this.document;
    const start = tape[entry + 1] as number;
    const end = tape[entry + 2] as number;
    if (this.unchanged || (tape[entry] !== DOUBLE && tape[entry] !== ESCAPED_STRING)) {
      this.stretch(start, end);
      return;
    }
    if (tape[entry] === DOUBLE && isPrintedDouble(this.source, start, end)) {
      this.stretch(start, end);
      return;
    }
    const text =
      tape[entry] === DOUBLE
        ? formatDouble(serdeDouble(this.source, start, end), this.form === "legacy")
        : quote(stringOf(this.document, entry));
    this.flush();
    // No character takes more than three bytes for each of its UTF-16 units.
    this.reserve(text.length * 3);
    this.at += this.target.write(text, this.at);
  }

  private byte(byte: number): void {
    if (this.to > this.from && this.source[this.to] === byte) {
      this.to++;
      return;
    }
    this.flush();
    this.reserve(1);
    this.target[this.at++] = byte;
  }

  private stretch(start: number, end: number): void {
    if (start !== this.to || this.from === this.to) {
      this.flush();
      this.from = start;
    }
    this.to = end;
  }

  private flush(): void {
    const { from, to, source } = this;
    if (from === to) return;
    this.reserve(to - from);
    this.at += source.copy(this.target, this.at, from, to);
    this.from = to;
  }

  private reserve(size: number): void {
    if (this.at + size <= this.target.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(64, this.target.length * 2, this.at + size));
    this.target.copy(larger, 0, 0, this.at);
    this.target = larger;
  }

  private text(): Buffer {
    if (this.at === 0) return this.source.subarray(this.from, this.to);
    this.flush();
    return this.target.subarray(0, this.at);
  }
}

const EMPTY = Buffer.alloc(0);
const COMMA = 0x2c;
const COLON = 0x3a;
const CLOSE_ARRAY = 0x5d;
const CLOSE_OBJECT = 0x7d;

/** The members of an object entry where one is repeated; undefined when they are those of the tape. */
function repeatedMembers(document: JsonDocument, object: number): [key: number, value: number][] | undefined {
  if (!hasRepeatedName(document, object)) return undefined;
  const all = allMembers(document, object);
  const unique = uniqueMembers(document, object, all);
  return unique === all ? undefined : unique;
}

/** Whether an object at or below an entry may have a member twice. */
function hasRepeatedMembers(document: JsonDocument, root: number): boolean {
  const { tape } = document;
  const end = tape[root + 3] as number;
  for (let entry = root; entry < end; entry += STRIDE) {
    if (tape[entry] === OBJECT && hasRepeatedName(document, entry)) return true;
  }
  return false;
}

/** Different in each process, so that no caller can choose names that collide. */
const HASH_SEED = randomInt(2 ** 31);

/** Names of an object up to which each is compared with each. */
const FEW_NAMES = 8;

/**
 * Whether two members of an object entry may have one name: two are spelt alike, or one has an escape. A hash table of tape
 * indexes; making texts of a million names would take a second.
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
  if (count <= FEW_NAMES) {
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

/** All members of an object entry in textual order, repeated ones included. */
export function allMembers({ tape }: JsonDocument, object: number): [key: number, value: number][] {
  const members: [number, number][] = [];
  for (let key = object + STRIDE; key < (tape[object + 3] as number); ) {
    const value = key + STRIDE;
    members.push([key, value]);
    key = tape[value + 3] as number;
  }
  return members;
}

/** The members of an object entry, a repeated one in its first place with its last value. */
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

/** The entries of an array entry. */
export function itemsOf({ tape }: JsonDocument, array: number): number[] {
  const items: number[] = [];
  for (let item = array + STRIDE; item < (tape[array + 3] as number); item = tape[item + 3] as number) items.push(item);
  return items;
}

/** A well-formed string as serde_json writes it: JSON.stringify escapes exactly the same characters. */
export function quote(text: string): string {
  return text.length <= SHORT && isPlain(text) ? `"${text}"` : JSON.stringify(text);
}

/** Whether a text is ASCII without anything to escape. */
function isPlain(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7e || PLAIN[unit] !== 1) return false;
  }
  return true;
}

/** Whether an entry is a string without escapes that has exactly these bytes. */
export function isStringOf({ bytes, tape }: JsonDocument, entry: number, wanted: Buffer): boolean {
  const start = (tape[entry + 1] as number) + 1;
  if (tape[entry] !== STRING || (tape[entry + 2] as number) - 1 - start !== wanted.length) return false;
  for (let i = 0; i < wanted.length; i++) if (bytes[start + i] !== wanted[i]) return false;
  return true;
}

/** The text of a string entry, escapes resolved. */
export function stringOf({ bytes, ascii, tape }: JsonDocument, entry: number): string {
  const start = tape[entry + 1] as number;
  const end = tape[entry + 2] as number;
  if (tape[entry] === STRING) return bytes.toString(ascii ? "latin1" : "utf8", start + 1, end - 1);
  return JSON.parse(bytes.toString("utf8", start, end)) as string;
}

/** The value of a scalar entry; a double has JavaScript's value of its text. */
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
      return smallInteger(bytes, tape[entry + 1] as number, tape[entry + 2] as number);
    case DOUBLE:
      return double(bytes, tape[entry + 1] as number, tape[entry + 2] as number);
    case LARGE_INTEGER:
      return BigInt(bytes.toString("latin1", tape[entry + 1], tape[entry + 2]));
    default:
      return stringOf(document, entry);
  }
}

/** JavaScript's value of a double's text; where all steps are exact but the last, that one rounds as JavaScript does. */
function double(bytes: Buffer, start: number, end: number): number {
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

/** Exact, because every step is. */
function smallInteger(bytes: Buffer, start: number, end: number): number {
  const negative = bytes[start] === 0x2d;
  let value = 0;
  for (let at = negative ? start + 1 : start; at < end; at++) value = value * 10 + ((bytes[at] as number) - 0x30);
  return negative ? -value : value;
}

/** How {@link build} makes values. */
export interface Builder<T> {
  scalar(document: JsonDocument, entry: number): T;
  array(items: T[]): T;
  /** `names` and `values` in textual order, repeated members included. */
  object(names: string[], values: T[]): T;
}

interface Frame<T> {
  readonly end: number;
  readonly names: string[] | undefined;
  readonly values: T[];
}

/** Makes a value of an entry and all below it, from the leaves up. */
export function build<T>(document: JsonDocument, root: number, builder: Builder<T>): T {
  const { tape } = document;
  const open: Frame<T>[] = [];
  for (let entry = root; ; ) {
    const frame = open[open.length - 1];
    if (frame?.names !== undefined && frame.names.length === frame.values.length && entry < frame.end) {
      frame.names.push(stringOf(document, entry));
      entry += STRIDE;
    }
    const kind = tape[entry] as number;
    let value: T;
    if (kind >= ARRAY && tape[entry + 3] !== entry + STRIDE) {
      open.push({ end: tape[entry + 3] as number, names: kind === OBJECT ? [] : undefined, values: [] });
      entry += STRIDE;
      continue;
    }
    if (kind === ARRAY) value = builder.array([]);
    else if (kind === OBJECT) value = builder.object([], []);
    else value = builder.scalar(document, entry);
    entry += STRIDE;
    for (;;) {
      const container = open[open.length - 1];
      if (container === undefined) return value;
      container.values.push(value);
      if (container.end !== entry) break;
      open.pop();
      value =
        container.names === undefined
          ? builder.array(container.values)
          : builder.object(container.names, container.values);
    }
  }
}

/**
 * Where in a document the value at a path stands, for an error message.
 *
 * @param occurrence `repeat`: of the last repetition of the member's name itself
 * @returns the byte offset; that of the nearest value above when there is no such member
 * @throws {@link JsonError} when the document is not JSON
 */
export function locate(
  bytes: Uint8Array,
  path: readonly (string | number)[],
  occurrence: "value" | "repeat" = "value",
): number {
  const document = parseJson(bytes);
  const { tape } = document;
  let entry = 0;
  let keyEntry = 0;
  for (const step of path) {
    let found: number | undefined;
    if (tape[entry] === ARRAY && typeof step === "number") {
      found = itemsOf(document, entry)[step];
    } else if (tape[entry] === OBJECT) {
      for (const [key, value] of allMembers(document, entry)) {
        if (stringOf(document, key) === step) [keyEntry, found] = [key, value];
      }
    }
    if (found === undefined) break;
    entry = found;
  }
  return tape[(occurrence === "repeat" ? keyEntry : entry) + 1] as number;
}

/** Line and column, both from 1, of a byte offset; columns count characters. */
export function lineColumn(bytes: Uint8Array, offset: number): { line: number; column: number } {
  const before = asBuffer(bytes).subarray(0, offset);
  let line = 1;
  let lineStart = 0;
  for (let at = before.indexOf(0x0a); at !== -1; at = before.indexOf(0x0a, at + 1)) {
    line++;
    lineStart = at + 1;
  }
  return { line, column: [...before.toString("utf8", lineStart)].length + 1 };
}
