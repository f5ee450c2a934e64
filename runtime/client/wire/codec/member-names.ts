import { Buffer } from "#platform/bytes";
import { endAt, type JsonDocument, startAt } from "../json/document.js";
import { isStringOf, stringOf } from "../json/read.js";

/** Looks up declared member names: the expected one by its bytes, others as strings. */
export class MemberNames {
  readonly #bytes: readonly Buffer[];
  readonly #indexes: ReadonlyMap<string, number>;
  /** Maximum length of a declared name in a document, in bytes: a longer name is not decoded. */
  readonly #maxLength: number;

  constructor(names: readonly string[]) {
    this.#bytes = names.map((name) => Buffer.from(name));
    this.#indexes = new Map(names.map((name, index) => [name, index]));
    this.#maxLength = names.reduce((most, { length }) => Math.max(most, length * BYTES_OF_ESCAPE), -1);
  }

  /**
   * Index of a key's name; −1 if the name is not declared.
   *
   * @param expected index of the name that is tried first: the next one in declared order
   */
  indexOf(document: JsonDocument, key: number, expected: number): number {
    const next = this.#bytes[expected];
    if (next !== undefined && isStringOf(document, key, next)) return expected;
    const length = endAt(document, key) - startAt(document, key) - 2;
    return length > this.#maxLength ? -1 : (this.#indexes.get(stringOf(document, key)) ?? -1);
  }
}

/** Bytes of an escaped UTF-16 unit, `\u0061`; no other spelling is longer. */
const BYTES_OF_ESCAPE = 6;
