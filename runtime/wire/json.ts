/**
 * Parses and prints JSON like serde_json, over bytes (protocol.md section 5).
 *
 * One pass over the bytes validates the document and writes a tape: an entry for each value and key, in textual order.
 * Sent text, canonical text and values with exact integers are derived from the tape. No function recurses, and the
 * cost is linear in the bytes for any input.
 */

import { Buffer, isAscii, isUtf8, randomInt } from "#platform/bytes";
import { asBuffer } from "./bytes.js";
import { JsonError, TooManyValues } from "./json-error.js";
import { MAX_DEPTH } from "./protocol.js";

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

/** Size of the largest document, in bytes, whose first tape has room for the usual number of entries. */
const MAX_ROOMY_BYTES = 1 << 16;
/** Bytes or characters of a string that are checked one by one before it is treated as long. */
const MAX_SHORT_LENGTH = 64;
const OBJECT_BIT = 1;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** 1 for the bytes that a string may contain unescaped: all except `"`, `\` and control characters. */
const PLAIN = new Uint8Array(256).fill(1, 0x20);
PLAIN[QUOTE] = 0;
PLAIN[BACKSLASH] = 0;

/** 1 for JSON white space. */
const SPACE = new Uint8Array(256);
for (const byte of [0x20, 0x09, 0x0a, 0x0d]) SPACE[byte] = 1;

/**
 * Marks each of the four bytes that is not {@link PLAIN} by its high bit. The subtractions underflow for such a byte,
 * and `& ~word` unmarks bytes of non-ASCII characters. A borrow may also mark bytes above a marked one.
 */
function markSpecialBytes(word: number): number {
  const controls = word - 0x20202020;
  const quotes = (word ^ 0x22222222) - 0x01010101;
  const backslashes = (word ^ 0x5c5c5c5c) - 0x01010101;
  return (controls | quotes | backslashes) & ~word;
}

const HIGH_BITS = 0x80808080;

/**
 * Parses one JSON document and checks grammar, UTF-8, surrogate escapes, number range and depth. Only white space may
 * surround it; a byte-order mark is refused.
 *
 * @param maxValues limit of `valueCount`, and so of the memory of the tape
 * @throws {@link JsonError}; `TooManyValues` over the limit
 */
export function parseJson(input: Uint8Array, maxValues = Number.POSITIVE_INFINITY): JsonDocument {
  const bytes = asBuffer(input);
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) throw new JsonError("invalid UTF-8", invalidUtf8At(bytes));
  const maxLength = maxValues * STRIDE;
  return new Scanner(bytes, ascii, newTape(bytes.length, maxLength), maxLength).scan();
}

/** Number of values in a document: members' names, arrays and objects count as one each. */
export function valueCount({ tape }: JsonDocument): number {
  return (tape[3] as number) / STRIDE;
}

/** The offset of the first invalid UTF-8 byte. */
function invalidUtf8At(bytes: Buffer): number {
  const valid = Buffer.from(bytes.toString("utf8"));
  let offset = 0;
  while (offset < bytes.length && bytes[offset] === valid[offset]) offset++;
  return offset;
}

/**
 * Length of the array shared by the tapes of small documents, which are written one after another: allocating one array
 * per document costs as much as scanning a small call.
 */
const POOL_LENGTH = 16_384;
/** Minimum room for a tape in the shared array, enough for a small call. */
const POOL_RESERVE = 2_048;
let pool = new Int32Array(POOL_LENGTH);
let pooled = 0;

/** Allocates a tape for a document of `bytes` bytes. A tape that proves too short grows later. */
function newTape(bytes: number, maxLength: number): Int32Array {
  const length = Math.min(maxLength, 64 + ((Math.min(bytes, MAX_ROOMY_BYTES) >> 2) & ~3));
  if (length > POOL_RESERVE) return new Int32Array(length);
  if (pooled + POOL_RESERVE > POOL_LENGTH) {
    pool = new Int32Array(POOL_LENGTH);
    pooled = 0;
  }
  return pool.subarray(pooled, pooled + maxLength);
}

/**
 * Upper bound of the number of entries after a position: each entry follows a comma, a colon or an opening bracket.
 * Such bytes in strings only reserve memory that is never touched, whereas repeated doubling would copy the tape.
 */
function maxEntries(bytes: Buffer, position: number): number {
  let count = 1;
  for (let at = position; at < bytes.length; at++) count += PRECEDES_ENTRY[bytes[at] as number] as number;
  return count;
}

/** 1 for the bytes that may precede an entry. */
const PRECEDES_ENTRY = new Uint8Array(256);
for (const character of "[{,:") PRECEDES_ENTRY[character.charCodeAt(0)] = 1;

/**
 * Tape indexes of the containers around the current position. OBJECT_BIT, which no index has, marks objects. Shared by
 * all documents because scanning is synchronous.
 */
const containers = new Int32Array(MAX_DEPTH);

/** Scans one document and writes its tape. */
class Scanner {
  private top = 0;
  private position = 0;
  private spaced = false;
  private large = false;
  private doubles = false;
  private escapedNames = false;
  private escapes = false;
  /** The bytes as 32-bit words, from the first aligned byte; created for the first long string. */
  private words: Int32Array | undefined;

  constructor(
    private readonly bytes: Buffer,
    private readonly ascii: boolean,
    private tape: Int32Array,
    /** Maximum length of the tape. */
    private readonly maxLength: number,
  ) {}

  scan(): JsonDocument {
    const { bytes } = this;
    let depth = 0;
    for (;;) {
      let byte = this.skipSpace();
      if (byte === 0x7b || byte === 0x5b) {
        if (depth === MAX_DEPTH) this.fail(`more than ${MAX_DEPTH} levels of nesting`);
        const isObject = byte === 0x7b;
        containers[depth++] = isObject ? this.top | OBJECT_BIT : this.top;
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
      // After a value: close ending containers, then continue with the next member or item.
      for (;;) {
        byte = this.skipSpace();
        if (depth === 0) {
          if (this.position < bytes.length) this.fail("text after the document");
          return this.document();
        }
        const container = containers[depth - 1] as number;
        const isObject = (container & OBJECT_BIT) !== 0;
        if (byte === (isObject ? 0x7d : 0x5d)) {
          this.position++;
          this.close(container & ~OBJECT_BIT);
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
      const { maxLength } = this;
      if (top + STRIDE > maxLength) throw new TooManyValues();
      const larger = new Int32Array(Math.min(maxLength, top + STRIDE * (1 + maxEntries(this.bytes, end))));
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

  /** Ends the container of an entry at the current position. */
  private close(entry: number): void {
    const { tape } = this;
    tape[entry + 2] = this.position;
    tape[entry + 3] = this.top;
  }

  /** Skips white space and returns the next byte; undefined at the end. */
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

  /** Scans a member's name and its colon. */
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

  /** Scans a string and returns its kind. */
  private string(): number {
    const { bytes } = this;
    const { length } = bytes;
    const start = this.position;
    let position = start + 1;
    let kind = STRING;
    for (;;) {
      const soon = Math.min(position + MAX_SHORT_LENGTH, length);
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

  /** Skips plain bytes of a string eight at a time. Returns a position before which all bytes are plain. */
  private skipWords(from: number): number {
    const { bytes } = this;
    const ahead = -bytes.byteOffset & 3;
    this.words ??= new Int32Array(bytes.buffer, bytes.byteOffset + ahead, (bytes.length - ahead) >> 2);
    const { words } = this;
    const last = words.length - 1;
    // Starts with the word that contains the position, whose earlier bytes are checked again.
    const first = (from - ahead) >> 2;
    let word = first;
    while (
      word < last &&
      ((markSpecialBytes(words[word] as number) | markSpecialBytes(words[word + 1] as number)) & HIGH_BITS) === 0
    ) {
      word += 2;
    }
    return word === first ? from : ahead + 4 * word;
  }

  /** Checks the escape at the current position and returns the position after it. */
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
      // Only a number with over 200 digits before the point, or a positive exponent of three digits or more, can be out
      // of range.
      if (isFar && !Number.isFinite(serdeDouble(bytes, start, end))) {
        this.position = start;
        this.fail("number out of range");
      }
    }
    this.push(kind, start, end);
  }

  /** Scans one or more digits. */
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

/** The kind of an integer text that is `-0` or has at least 16 digits. */
function integerKind(bytes: Buffer, negative: boolean, digits: number, end: number): number {
  const count = end - digits;
  if (count < 16 || count > 20) return DOUBLE;
  const text = bytes.toString("latin1", digits, end);
  if (count === 16 && Number(text) <= Number.MAX_SAFE_INTEGER) return SMALL_INTEGER;
  const limit = negative ? "9223372036854775808" : "18446744073709551615";
  if (count < limit.length) return LARGE_INTEGER;
  return count === limit.length && text <= limit ? LARGE_INTEGER : DOUBLE;
}

/** The nearest doubles of 10^0 to 10^308, unlike `10 ** n` (protocol.md section 5). */
const POWERS_OF_TEN = Float64Array.from({ length: 309 }, (_, n) => Number(`1e${n}`));

/**
 * The double that serde_json reads by default, which is not correctly rounded (protocol.md section 5).
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

/**
 * A u64 built from decimal digits: 15 digits in one number and the rest in another, so that a BigInt is made only once.
 */
class Significand {
  private high = 0;
  private highDigits = 0;
  private low = 0;
  private lowDigits = 0;

  /** Appends a digit. Returns false, unchanged, when the result would exceed u64. */
  take(digit: number): boolean {
    if (this.high === 0 || this.highDigits < 15) {
      this.high = this.high * 10 + digit;
      if (this.high !== 0) this.highDigits++;
      return true;
    }
    if (this.lowDigits === 5) return false;
    // 19 digits always fit; 20 digits fit up to 18446744073709551615.
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
 * Prints a finite double like serde_json, always with a point or an exponent: `1.0`, `0.00001`, `1e+16`, `-0.0`.
 *
 * @param legacy like serde_json before 1.0.147: no `+` in the exponent
 */
export function formatDouble(value: number, legacy = false): string {
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const magnitude = Math.abs(value);
  // Between these bounds JavaScript prints the same digits, also without an exponent.
  if (magnitude >= 1e-5 && magnitude < 1e16) return Number.isInteger(value) ? `${value}.0` : String(value);
  const text = value.toExponential();
  return legacy ? text.replace("+", "") : text;
}

/** Prints a number: a safe integer as digits, any other finite number as a double; undefined for the rest. */
export function formatNumber(value: number): string | undefined {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) return String(value);
  // Plain digits beyond 2^53 would be read as an exact integer.
  return Number.isFinite(value) ? formatDouble(value) : undefined;
}

/**
 * Whether a double surely has the spelling that serde_json prints: a point, at most 15 digits, at least 1e-5. Such a
 * number is read exactly, and its digits are the shortest ones. False does not mean that the spelling differs.
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
    // Five zeros after `0.`: below 1e-5.
    if (zeros && at - point === 5) return false;
  }
  return bytes[end - 1] !== 0x30 || end - point === 2;
}

/** The three spellings of a text that a leader may have hashed (protocol.md section 5). */
export type TextForm = "sent" | "canonical" | "legacy";

/**
 * The text of one entry, as bytes without white space.
 *
 * - `sent`: the original spelling, repeated members included
 * - `canonical`: the spelling of serde_json: a repeated member has its first position and its last value, minimal
 *   escapes, integers unchanged, doubles as serde_json reads and prints them
 * - `legacy`: canonical, with exponents as printed by serde_json before 1.0.147
 *
 * @returns a view of the document where it contains the text, otherwise a new buffer
 */
export function textOf(document: JsonDocument, entry: number, form: TextForm): Buffer {
  const { bytes, tape, spaced } = document;
  const start = tape[entry + 1] as number;
  const end = tape[entry + 2] as number;
  const isSent = form === "sent" || !(document.doubles || document.escapes || hasRepeatedMembers(document, entry));
  if (isSent && (!spaced || (tape[entry] as number) < ARRAY)) return bytes.subarray(start, end);
  return new TextWriter(document, form).write(entry);
}

/** A container being written, with its remaining content. */
interface OpenContainer {
  readonly close: number;
  /** Tape index of the next item or the next member's name; unused when `members` is set. */
  next: number;
  readonly end: number;
  /** Members in an order other than the tape's, and the index of the next one. */
  readonly members: readonly (readonly [key: number, value: number])[] | undefined;
  place: number;
  first: boolean;
}

/** Writes one entry in one form. Unchanged stretches of the document are copied at once. */
class TextWriter {
  private readonly source: Buffer;
  private readonly unchanged: boolean;
  private target = EMPTY;
  private at = 0;
  /** Pending stretch of the document, not copied yet because it may grow. */
  private from = 0;
  private to = 0;

  constructor(
    private readonly document: JsonDocument,
    private readonly form: TextForm,
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

  /** Writes a scalar, or the opening bracket of a container, whose content is left to the caller. */
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
    // UTF-8 has at most three bytes per UTF-16 unit.
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

/** The unique members of an object entry with repeated members; undefined when there are none. */
function repeatedMembers(document: JsonDocument, object: number): [key: number, value: number][] | undefined {
  if (!hasRepeatedName(document, object)) return undefined;
  const all = allMembers(document, object);
  const unique = uniqueMembers(document, object, all);
  return unique === all ? undefined : unique;
}

/** Whether an object at or below an entry may have a repeated member. */
function hasRepeatedMembers(document: JsonDocument, root: number): boolean {
  const { tape } = document;
  const end = tape[root + 3] as number;
  for (let entry = root; entry < end; entry += STRIDE) {
    if (tape[entry] === OBJECT && hasRepeatedName(document, entry)) return true;
  }
  return false;
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

/** The members of an object entry; a repeated one has its first position and its last value. */
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

/** Tape indexes of the values of an object entry, by decoded name. A repeated member has its last value. */
export function membersByName(document: JsonDocument, object: number): Map<string, number> {
  return new Map(allMembers(document, object).map(([key, value]) => [stringOf(document, key), value]));
}

/** Tape indexes of the items of an array entry. */
export function itemsOf({ tape }: JsonDocument, array: number): number[] {
  const items: number[] = [];
  for (let item = array + STRIDE; item < (tape[array + 3] as number); item = tape[item + 3] as number) items.push(item);
  return items;
}

/** Quotes a well-formed string like serde_json, which escapes exactly the same characters as JSON.stringify. */
export function quote(text: string): string {
  return text.length <= MAX_SHORT_LENGTH && isPlain(text) ? `"${text}"` : JSON.stringify(text);
}

/** Whether a text is ASCII and needs no escapes. */
function isPlain(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7e || PLAIN[unit] !== 1) return false;
  }
  return true;
}

/** Whether an entry is a string without escapes and with exactly these bytes. */
export function isStringOf({ bytes, tape }: JsonDocument, entry: number, wanted: Buffer): boolean {
  const start = (tape[entry + 1] as number) + 1;
  if (tape[entry] !== STRING || (tape[entry + 2] as number) - 1 - start !== wanted.length) return false;
  for (let i = 0; i < wanted.length; i++) if (bytes[start + i] !== wanted[i]) return false;
  return true;
}

/** The decoded text of a string entry, undefined for any other entry. */
export function stringValueOf(document: JsonDocument, entry: number | undefined): string | undefined {
  if (entry === undefined) return undefined;
  const kind = document.tape[entry];
  return kind === STRING || kind === ESCAPED_STRING ? stringOf(document, entry) : undefined;
}

/** The decoded text of a string entry. */
export function stringOf({ bytes, ascii, tape }: JsonDocument, entry: number): string {
  const start = tape[entry + 1] as number;
  const end = tape[entry + 2] as number;
  if (tape[entry] === STRING) return bytes.toString(ascii ? "latin1" : "utf8", start + 1, end - 1);
  return JSON.parse(bytes.toString("utf8", start, end)) as string;
}

/** The value of a scalar entry; a double is read as by JavaScript, not serde_json. */
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

/**
 * JavaScript's value of a double's text. With up to 15 digits and no exponent, the division is the only step that
 * rounds.
 */
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

/** The value of a small integer's text; every step is exact. */
function smallInteger(bytes: Buffer, start: number, end: number): number {
  const negative = bytes[start] === 0x2d;
  let value = 0;
  for (let at = negative ? start + 1 : start; at < end; at++) value = value * 10 + ((bytes[at] as number) - 0x30);
  return negative ? -value : value;
}

/** Callbacks of {@link foldTape}. */
export interface TapeFold<T> {
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

/** Folds an entry and its subtree to one value, from the leaves up, without recursion. */
export function foldTape<T>(document: JsonDocument, root: number, fold: TapeFold<T>): T {
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
    if (kind === ARRAY) value = fold.array([]);
    else if (kind === OBJECT) value = fold.object([], []);
    else value = fold.scalar(document, entry);
    entry += STRIDE;
    for (;;) {
      const container = open[open.length - 1];
      if (container === undefined) return value;
      container.values.push(value);
      if (container.end !== entry) break;
      open.pop();
      value =
        container.names === undefined ? fold.array(container.values) : fold.object(container.names, container.values);
    }
  }
}

/** Line and column of a byte offset, both from 1; columns count characters. */
export function lineColumn(bytes: Uint8Array, offset: number): { line: number; column: number } {
  const before = asBuffer(bytes).subarray(0, offset);
  let line = 1;
  let lineStart = 0;
  for (let at = before.indexOf(0x0a); at !== -1; at = before.indexOf(0x0a, at + 1)) {
    line++;
    lineStart = at + 1;
  }
  let column = 1;
  // Each character has one byte that does not continue another.
  for (let at = lineStart; at < before.length; at++) if (((before[at] as number) & 0xc0) !== 0x80) column++;
  return { line, column };
}
