/** Look-up of declared member names. */

import { Buffer } from "#platform/bytes";
import { ESCAPED_STRING, endAt, type JsonDocument, kindAt, startAt } from "../json/document.js";
import { isStringOf, stringOf } from "../json/read.js";

/** Looks up declared member names by bytes; only a name with escapes is decoded to a string. */
export class MemberNames {
  readonly #bytes: readonly Buffer[];
  readonly #byLength = new Map<number, number[]>();
  readonly #byName: ReadonlyMap<string, number>;

  constructor(names: readonly string[]) {
    this.#bytes = names.map((name) => Buffer.from(name));
    this.#byName = new Map(names.map((name, index) => [name, index]));
    for (const [index, { length }] of this.#bytes.entries()) {
      const known = this.#byLength.get(length);
      if (known === undefined) this.#byLength.set(length, [index]);
      else known.push(index);
    }
  }

  /**
   * The index of a key's name; −1 for an undeclared name.
   *
   * @param expected the next index in declared order, tried first
   */
  indexOf(document: JsonDocument, key: number, expected: number): number {
    if (this.#bytes.length === 0) return -1;
    const next = this.#bytes[expected];
    if (next !== undefined && isStringOf(document, key, next)) return expected;
    if (kindAt(document, key) === ESCAPED_STRING) return this.#byName.get(stringOf(document, key)) ?? -1;
    const candidates = this.#byLength.get(endAt(document, key) - startAt(document, key) - 2);
    if (candidates === undefined) return -1;
    if (candidates.length > MAX_COMPARED_NAMES) return this.#byName.get(stringOf(document, key)) ?? -1;
    for (const index of candidates) if (isStringOf(document, key, this.#bytes[index] as Buffer)) return index;
    return -1;
  }
}

/** Up to this many names of one length, comparing each is faster than a look-up by string. */
const MAX_COMPARED_NAMES = 8;
