import { Buffer } from "#platform/bytes";
import { ESCAPED_STRING, endAt, type JsonDocument, kindAt, startAt } from "../json/document.js";
import { isStringOf, stringOf } from "../json/read.js";

/** Looks up declared member names by their bytes; only a name with escapes is decoded to a string. */
export class MemberNames {
  readonly #bytes: readonly Buffer[];
  readonly #byLength = new Map<number, number[]>();
  readonly #byName: ReadonlyMap<string, number>;
  /** Maximum length of a declared name with escapes, in bytes: a longer name is not decoded. */
  readonly #maxEscaped: number;

  constructor(names: readonly string[]) {
    this.#bytes = names.map((name) => Buffer.from(name));
    this.#byName = new Map(names.map((name, index) => [name, index]));
    this.#maxEscaped = BYTES_OF_ESCAPE * names.reduce((most, { length }) => Math.max(most, length), 0);
    for (const [index, { length }] of this.#bytes.entries()) {
      const known = this.#byLength.get(length);
      if (known === undefined) this.#byLength.set(length, [index]);
      else known.push(index);
    }
  }

  /**
   * Index of a key's name; −1 if the name is not declared.
   *
   * @param expected index of the name that is tried first: the next one in declared order
   */
  indexOf(document: JsonDocument, key: number, expected: number): number {
    if (this.#bytes.length === 0) return -1;
    const next = this.#bytes[expected];
    if (next !== undefined && isStringOf(document, key, next)) return expected;
    const length = endAt(document, key) - startAt(document, key) - 2;
    if (kindAt(document, key) === ESCAPED_STRING) {
      return length > this.#maxEscaped ? -1 : (this.#byName.get(stringOf(document, key)) ?? -1);
    }
    const candidates = this.#byLength.get(length);
    if (candidates === undefined) return -1;
    if (candidates.length > MAX_COMPARED_NAMES) return this.#byName.get(stringOf(document, key)) ?? -1;
    for (const index of candidates) if (isStringOf(document, key, this.#bytes[index] as Buffer)) return index;
    return -1;
  }
}

/** Bytes of an escaped UTF-16 unit, `\u0061`. */
const BYTES_OF_ESCAPE = 6;

/**
 * Maximum number of names of one length that are compared one by one. For more names, a look-up by string is faster.
 */
const MAX_COMPARED_NAMES = 8;
