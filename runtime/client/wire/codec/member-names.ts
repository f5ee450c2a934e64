import { Buffer } from "#platform/bytes";
import type { JsonDocument } from "../json/document.js";
import { isStringOf, stringOf } from "../json/read.js";

/** Looks up declared member names. Most members are in declared order, so their name is only compared by its bytes. */
export class MemberNames {
  readonly #bytes: readonly Buffer[];
  readonly #byName: ReadonlyMap<string, number>;

  constructor(names: readonly string[]) {
    this.#bytes = names.map((name) => Buffer.from(name));
    this.#byName = new Map(names.map((name, index) => [name, index]));
  }

  /**
   * Index of a key's name; −1 if the name is not declared.
   *
   * @param expected index of the name that is tried first: the next one in declared order
   */
  indexOf(document: JsonDocument, key: number, expected: number): number {
    const next = this.#bytes[expected];
    if (next !== undefined && isStringOf(document, key, next)) return expected;
    return this.#bytes.length === 0 ? -1 : (this.#byName.get(stringOf(document, key)) ?? -1);
  }
}
