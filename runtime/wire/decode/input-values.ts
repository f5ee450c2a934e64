/** Limit on the values of one call, which bounds the time and the memory that its input takes (protocol.md section 1). */

import type { Codec, Contract } from "../contract.js";
import { WireFault } from "../fault.js";
import { type JsonDocument, valueCount } from "../json/document.js";
import { JsonError, TooManyValues } from "../json/error.js";
import { parseJson } from "../json/scan.js";

/** Default limit of the values of one call. */
export const DEFAULT_MAX_INPUT_VALUES = 300_000;

/** Counts the values of one call as its documents are parsed. */
export class InputValues {
  /** Number of values of the documents parsed so far. */
  count = 0;
  /** Whether all of them are ASCII. */
  ascii = true;

  readonly #most: number;

  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  /**
   * Parses one document of the call.
   *
   * @throws {@link JsonError}; {@link WireFault} `payload_too_large` over the limit, before anything is decoded
   */
  parse(bytes: Uint8Array): JsonDocument {
    let document: JsonDocument;
    try {
      document = parseJson(bytes, this.#most - this.count);
    } catch (error) {
      if (!(error instanceof TooManyValues)) throw error;
      throw new WireFault(
        "payload_too_large",
        `the input is limited to ${this.#most} values, members' names counted; send fewer, or raise SVC_MAX_INPUT_VALUES of the server`,
      );
    }
    this.count += valueCount(document);
    if (!document.ascii) this.ascii = false;
    return document;
  }

  /** Parses one document; undefined when it is not JSON, which the decoder of the input reports. */
  parseIfJson(bytes: Uint8Array): JsonDocument | undefined {
    try {
      return this.parse(bytes);
    } catch (error) {
      if (error instanceof JsonError) return undefined;
      throw error;
    }
  }
}

/** Bytes of the tape for each value. */
const TAPE_BYTES = 16;
/** Measured bytes of heap for each value of the dearest input of a kind; for `{x?: number}[]` and `unknown` 65. */
const HEAP_BYTES = { bytes: 240, date: 136, other: 80 } as const;

/**
 * The most bytes of memory that a decoded input of a contract holds beside its body: the tape, the values, and their
 * strings, which have two bytes for each byte of the text unless that is ASCII. What only decoding itself needs is not counted:
 * one input is decoded at a time.
 *
 * @returns a function of what was counted and of the length of the body in bytes
 */
export function heapBytesOf({
  input,
  definitions = [],
}: Contract): (counted: Pick<InputValues, "count" | "ascii">, bodyBytes: number) => number {
  const kinds = new Set<Codec["kind"]>();
  const visit = (codec: Codec): void => {
    kinds.add(codec.kind);
    switch (codec.kind) {
      case "array":
      case "wrapped":
        visit(codec.item);
        break;
      case "union":
        codec.branches.forEach(visit);
        break;
      case "tuple":
        for (const item of [...codec.items, ...(codec.tail ?? []), codec.rest ?? []].flat()) visit(item);
        break;
      case "object":
        for (const { codec: member } of codec.members) visit(member);
        for (const [, member] of codec.patterns ?? []) visit(member);
        if (codec.rest !== undefined) visit(codec.rest);
    }
  };
  for (const { codec, list = codec } of input) for (const each of [codec, list]) visit(each);
  for (const [, codec] of definitions) visit(codec);
  const { bytes, date, other } = HEAP_BYTES;
  const own = kinds.has("bytes") ? bytes : kinds.has("date") ? date : other;
  const perValue = TAPE_BYTES + own;
  return ({ count, ascii }, bodyBytes) => perValue * count + (ascii ? 1 : 2) * bodyBytes;
}
