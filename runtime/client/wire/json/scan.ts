/**
 * Parses JSON like serde_json, from bytes (protocol.md section 5).
 *
 * One pass validates the document and writes a tape: an entry for each value and key, in textual order. Sent text,
 * canonical text and values are derived from the tape. The cost is linear in the bytes for any input.
 */

import { Buffer, isAscii, isUtf8 } from "#platform/bytes";
import { asBuffer } from "../bytes.js";
import { MAX_DEPTH } from "../protocol.js";
import {
  ARRAY,
  DOUBLE,
  ESCAPED_STRING,
  FALSE,
  type JsonDocument,
  LARGE_INTEGER,
  NULL,
  OBJECT,
  SMALL_INTEGER,
  STRIDE,
  STRING,
  TRUE,
} from "./document.js";
import { JsonError, TooManyValues } from "./error.js";
import { integerKind, serdeDouble } from "./numbers.js";

const OBJECT_BIT = 1;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** 1 for each byte that a string may contain unescaped: all except `"`, `\` and control characters. */
const PLAIN = new Uint8Array(256).fill(1, 0x20);
PLAIN[QUOTE] = 0;
PLAIN[BACKSLASH] = 0;

/** 1 for JSON white space. */
const SPACE = new Uint8Array(256);
for (const byte of [0x20, 0x09, 0x0a, 0x0d]) SPACE[byte] = 1;

/**
 * Parses one JSON document; checks grammar, UTF-8, surrogate escapes, number range and depth. White space may surround
 * the document; a byte-order mark is an error.
 *
 * @param maxValues maximum `valueCount`, which limits the memory of the tape
 * @throws {@link JsonError}; `TooManyValues` over the limit
 */
export function parseJson(input: Uint8Array, maxValues = Number.POSITIVE_INFINITY): JsonDocument {
  const bytes = asBuffer(input);
  const ascii = isAscii(bytes);
  if (!ascii && !isUtf8(bytes)) throw new JsonError("invalid UTF-8", invalidUtf8At(bytes));
  const maxLength = maxValues * STRIDE;
  return new Scanner(bytes, ascii, maxLength).scan();
}

/** Offset of the first invalid UTF-8 byte. */
function invalidUtf8At(bytes: Buffer): number {
  const valid = Buffer.from(bytes.toString("utf8"));
  let offset = 0;
  while (offset < bytes.length && bytes[offset] === valid[offset]) offset++;
  return offset;
}

/**
 * Length of the array that holds the tapes of small documents, one after another. Allocating an array for each document
 * would cost as much as scanning a small call.
 */
const POOL_LENGTH = 16_384;
/** Minimum free length of the shared array at which a tape may start; enough for a small call. */
const POOL_RESERVE = 2_048;
let pool = new Int32Array(POOL_LENGTH);
let pooled = 0;

/** A part of the shared array for a tape. The tape moves to an array of its own if it needs more. */
function newTape(maxLength: number): Int32Array {
  if (pooled + POOL_RESERVE > POOL_LENGTH) {
    pool = new Int32Array(POOL_LENGTH);
    pooled = 0;
  }
  return pool.subarray(pooled, pooled + maxLength);
}

/**
 * Tape indexes of the containers around the current position, with OBJECT_BIT set for objects. Shared by all documents
 * because scanning is synchronous.
 */
const containers = new Int32Array(MAX_DEPTH);

class Scanner {
  #top = 0;
  #position = 0;
  #spaced = false;
  #large = false;
  #doubles = false;
  #escapedNames = false;
  #escapes = false;

  readonly #bytes: Buffer;
  readonly #ascii: boolean;
  #tape: Int32Array;
  readonly #maxLength: number;

  constructor(bytes: Buffer, ascii: boolean, maxLength: number) {
    this.#bytes = bytes;
    this.#ascii = ascii;
    this.#tape = newTape(maxLength);
    this.#maxLength = maxLength;
  }

  scan(): JsonDocument {
    const bytes = this.#bytes;
    let depth = 0;
    for (;;) {
      let byte = this.#skipSpace();
      if (byte === 0x7b || byte === 0x5b) {
        if (depth === MAX_DEPTH) this.#fail(`more than ${MAX_DEPTH} levels of nesting`);
        const isObject = byte === 0x7b;
        containers[depth++] = isObject ? this.#top | OBJECT_BIT : this.#top;
        this.#push(isObject ? OBJECT : ARRAY, this.#position, this.#position);
        this.#position++;
        byte = this.#skipSpace();
        if (isObject && byte !== 0x7d) {
          this.#key();
          continue;
        }
        if (!isObject && byte !== 0x5d) continue;
      } else {
        this.#scalar(byte);
      }
      // After a value: close containers that end here, then continue with the next member or item.
      for (;;) {
        byte = this.#skipSpace();
        if (depth === 0) {
          if (this.#position < bytes.length) this.#fail("text after the document");
          return this.#document();
        }
        const container = containers[depth - 1] as number;
        const isObject = (container & OBJECT_BIT) !== 0;
        if (byte === (isObject ? 0x7d : 0x5d)) {
          this.#position++;
          this.#close(container & ~OBJECT_BIT);
          depth--;
          continue;
        }
        if (byte !== 0x2c) this.#fail(isObject ? "expected `,` or `}`" : "expected `,` or `]`");
        this.#position++;
        if (isObject) {
          this.#skipSpace();
          this.#key();
        }
        break;
      }
    }
  }

  #document(): JsonDocument {
    const bytes = this.#bytes;
    const ascii = this.#ascii;
    const spaced = this.#spaced;
    const large = this.#large;
    const doubles = this.#doubles;
    const escapedNames = this.#escapedNames;
    const escapes = this.#escapes;
    const tape = this.#tape;
    if (tape.buffer === pool.buffer) pooled += this.#top;
    return { bytes, ascii, tape, spaced, large, doubles, escapedNames, escapes };
  }

  #fail(reason: string): never {
    if (this.#position >= this.#bytes.length) throw new JsonError("unexpected end of the text", this.#bytes.length);
    throw new JsonError(reason, this.#position);
  }

  #push(kind: number, start: number, end: number): void {
    let tape = this.#tape;
    const top = this.#top;
    if (top + STRIDE > tape.length) {
      const maxLength = this.#maxLength;
      if (top + STRIDE > maxLength) throw new TooManyValues();
      const larger = new Int32Array(Math.min(maxLength, top * 2));
      larger.set(tape);
      tape = larger;
      this.#tape = tape;
    }
    tape[top] = kind;
    tape[top + 1] = start;
    tape[top + 2] = end;
    tape[top + 3] = top + STRIDE;
    this.#top = top + STRIDE;
  }

  /** Ends a container at the current position. */
  #close(entry: number): void {
    const tape = this.#tape;
    tape[entry + 2] = this.#position;
    tape[entry + 3] = this.#top;
  }

  /** Skips white space and returns the next byte, undefined at the end. */
  #skipSpace(): number | undefined {
    const bytes = this.#bytes;
    let byte = bytes[this.#position];
    if (byte === undefined || SPACE[byte] !== 1) return byte;
    this.#spaced = true;
    let position = this.#position;
    do byte = bytes[++position];
    while (byte !== undefined && SPACE[byte] === 1);
    this.#position = position;
    return byte;
  }

  /** Scans a member name and its colon. */
  #key(): void {
    if (this.#bytes[this.#position] !== QUOTE) this.#fail("expected a member name in double quotes");
    if (this.#string() === ESCAPED_STRING) this.#escapedNames = true;
    this.#skipSpace();
    if (this.#bytes[this.#position] !== 0x3a) this.#fail("expected `:`");
    this.#position++;
  }

  #scalar(byte: number | undefined): void {
    switch (byte) {
      case QUOTE:
        this.#string();
        break;
      case 0x74:
        this.#word("true", TRUE);
        break;
      case 0x66:
        this.#word("false", FALSE);
        break;
      case 0x6e:
        this.#word("null", NULL);
        break;
      default:
        this.#number(byte);
    }
  }

  #word(text: string, kind: number): void {
    const start = this.#position;
    for (let i = 0; i < text.length; i++, this.#position++) {
      if (this.#bytes[this.#position] !== text.charCodeAt(i)) this.#fail("expected a value");
    }
    this.#push(kind, start, this.#position);
  }

  /** Scans a string and returns its kind. */
  #string(): number {
    const bytes = this.#bytes;
    const { length } = bytes;
    const start = this.#position;
    let position = start + 1;
    let kind = STRING;
    for (;;) {
      while (position < length && PLAIN[bytes[position] as number] === 1) position++;
      const byte = bytes[position];
      if (byte === QUOTE) break;
      this.#position = position;
      if (byte !== BACKSLASH) this.#fail("control character in a string");
      kind = ESCAPED_STRING;
      this.#escapes = true;
      position = this.#escape();
    }
    this.#position = position + 1;
    this.#push(kind, start, position + 1);
    return kind;
  }

  /** Checks the escape at the current position and returns the position after it. */
  #escape(): number {
    const bytes = this.#bytes;
    const position = this.#position;
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
        const unit = this.#hex(position + 2);
        if (unit < 0xd800 || unit > 0xdfff) return position + 6;
        if (unit > 0xdbff || bytes[position + 6] !== BACKSLASH || bytes[position + 7] !== 0x75) {
          this.#fail("lone surrogate escape");
        }
        const low = this.#hex(position + 8);
        if (low < 0xdc00 || low > 0xdfff) this.#fail("lone surrogate escape");
        return position + 12;
      }
      default:
        this.#position = position + 1;
        return this.#fail("invalid escape");
    }
  }

  #hex(from: number): number {
    let unit = 0;
    for (let i = from; i < from + 4; i++) {
      const byte = this.#bytes[i] ?? 0;
      const lower = byte | 0x20;
      if (byte >= 0x30 && byte <= 0x39) unit = unit * 16 + byte - 0x30;
      else if (lower >= 0x61 && lower <= 0x66) unit = unit * 16 + lower - 0x57;
      else {
        this.#position = i;
        this.#fail("invalid escape");
      }
    }
    return unit;
  }

  #noValue(): string {
    const bytes = this.#bytes;
    const position = this.#position;
    const isMark = bytes[position] === 0xef && bytes[position + 1] === 0xbb && bytes[position + 2] === 0xbf;
    return isMark ? "expected a value, got a byte order mark" : "expected a value";
  }

  #number(first: number | undefined): void {
    const bytes = this.#bytes;
    const start = this.#position;
    const negative = first === 0x2d;
    if (negative) this.#position++;
    const digits = this.#position;
    const lead = bytes[digits] ?? 0;
    if (lead < 0x30 || lead > 0x39) this.#fail(negative ? "expected a digit" : this.#noValue());
    this.#digits();
    const digitCount = this.#position - digits;
    if (lead === 0x30 && digitCount > 1) {
      this.#position = digits + 1;
      this.#fail("leading zero in a number");
    }
    let integer = true;
    let isFar = digitCount > 200;
    if (bytes[this.#position] === 0x2e) {
      integer = false;
      this.#position++;
      this.#digits();
    }
    if (((bytes[this.#position] ?? 0) | 0x20) === 0x65) {
      integer = false;
      this.#position++;
      const sign = bytes[this.#position];
      if (sign === 0x2b || sign === 0x2d) this.#position++;
      const power = this.#position;
      this.#digits();
      if (sign !== 0x2d && this.#position - power > 2) isFar = true;
    }
    const end = this.#position;
    if (integer && digitCount <= 15 && !(negative && lead === 0x30)) {
      this.#push(SMALL_INTEGER, start, end);
      return;
    }
    const kind = integer ? integerKind(bytes, negative, digits, end) : DOUBLE;
    if (kind === LARGE_INTEGER) this.#large = true;
    if (kind === DOUBLE) {
      this.#doubles = true;
      // Only a number with over 200 digits before the point, or with a positive exponent of at least three digits, can
      // be out of range.
      if (isFar && !Number.isFinite(serdeDouble(bytes, start, end))) {
        this.#position = start;
        this.#fail("number out of range");
      }
    }
    this.#push(kind, start, end);
  }

  #digits(): void {
    const bytes = this.#bytes;
    const { length } = bytes;
    const start = this.#position;
    let position = start;
    while (position < length) {
      const byte = bytes[position] as number;
      if (byte < 0x30 || byte > 0x39) break;
      position++;
    }
    this.#position = position;
    if (position === start) this.#fail("expected a digit");
  }
}
