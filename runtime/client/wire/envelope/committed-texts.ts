/**
 * The texts that the leader's hash commits to (protocol.md section 5). {@link SignedInput.match} returns only texts whose
 * hash matched, so the tool decodes exactly the bytes that were signed.
 */

import type { Buffer } from "#platform/bytes";
import { sha256 } from "#platform/hash";
import type { JsonDocument } from "../json/document.js";
import { type TextForm, textOf } from "../json/print.js";
import type { InputHasher } from "../signature/input-hash.js";
import type { InputValues } from "./input-values.js";

/** Text that the leader's hash commits to: an entry of a parsed document, or bytes that are not parsed. */
export type CommittedText =
  | { readonly document: JsonDocument; readonly entry: number }
  | { readonly document: undefined; readonly bytes: Buffer };

/** Bytes of a committed text. Decoding them gives the same value as decoding the text. */
export function committedBytes(text: CommittedText): Buffer {
  if (text.document === undefined) return text.bytes;
  // A root entry is a whole document: its bytes, including white space, are committed.
  return text.entry === 0 ? text.document.bytes : textOf(text.document, text.entry, "sent");
}

/** One received value of a port: the entry of its `data` member, or its decoded `bytes` member. */
export type Item = { readonly entry: number } | EncodedItem;

interface EncodedItem {
  readonly entry: undefined;
  readonly bytes: Buffer;
}

/** The values of a body, in port order. */
export class SignedInput {
  readonly #document: JsonDocument;
  readonly #values: readonly (readonly Item[])[];
  readonly #hasher: InputHasher;
  readonly #counted: InputValues | undefined;

  constructor(
    document: JsonDocument,
    values: readonly (readonly Item[])[],
    hasher: InputHasher,
    /** Counts the values inside `bytes` items; undefined if there are no such items. */
    counted: InputValues | undefined,
  ) {
    this.#document = document;
    this.#values = values;
    this.#hasher = hasher;
    this.#counted = counted;
  }

  /**
   * Finds the form of the texts that the leader signed: as sent, canonical, or canonical with the number format of
   * older leaders. All values must have the same form.
   *
   * @param inputHash 32 bytes
   * @returns the texts with this hash, in port order; undefined if no form matches
   * @throws {@link WireFault} `payload_too_large` if the texts of `bytes` items have too many values
   */
  match(inputHash: Uint8Array): readonly (readonly CommittedText[])[] | undefined {
    const found = this.#textsOf(inputHash);
    const counted = this.#counted;
    const values = this.#values;
    if (counted === undefined) return found;
    return found?.map((texts, port) =>
      texts.map((text, i): CommittedText => {
        const item = values[port]?.[i];
        const document = item?.entry === undefined ? counted.parseIfJson((item as EncodedItem).bytes) : undefined;
        // If the text is not JSON, the input decoder reports it.
        return document === undefined ? text : { document, entry: 0 };
      }),
    );
  }

  #textsOf(inputHash: Uint8Array): readonly (readonly CommittedText[])[] | undefined {
    const sent = (item: Item) => sha256(this.#textOf(item, "sent"));
    if (this.#hasher.hash(this.#values.map((items) => items.map(sent))).equals(inputHash)) {
      return this.#values.map((items) =>
        items.map(
          (item): CommittedText =>
            item.entry === undefined
              ? { document: undefined, bytes: item.bytes }
              : { document: this.#document, entry: item.entry },
        ),
      );
    }
    for (const form of ["canonical", "legacy"] as const) {
      const texts = this.#values.map((items) =>
        items.map((item) => ({ document: undefined, bytes: this.#textOf(item, form) })),
      );
      if (this.#hasher.hash(texts.map((items) => items.map(({ bytes }) => sha256(bytes)))).equals(inputHash))
        return texts;
      // Without a positive exponent, the legacy form equals the canonical form.
      if (!texts.some((items) => items.some(({ bytes }) => bytes.includes("e+")))) break;
    }
    return undefined;
  }

  #textOf(item: Item, form: TextForm): Buffer {
    return item.entry === undefined ? item.bytes : textOf(this.#document, item.entry, form);
  }
}
