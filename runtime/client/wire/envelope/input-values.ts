/** Limit on the number of values in one call, which bounds the time and memory of its input (protocol.md section 1). */

import { WireFault } from "../fault.js";
import { type JsonDocument, valueCount } from "../json/document.js";
import { JsonError, TooManyValues } from "../json/error.js";
import { parseJson } from "../json/scan.js";

/** Counts the values of one call as its documents are parsed. */
export class InputValues {
  /** Number of values in the documents parsed so far. */
  count = 0;
  /** Whether these documents are pure ASCII. */
  ascii = true;

  readonly #most: number;

  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  /**
   * Parses one document of the call.
   *
   * @throws {@link JsonError}; {@link WireFault} `payload_too_large` if the call has too many values
   */
  parse(bytes: Uint8Array): JsonDocument {
    let document: JsonDocument;
    try {
      document = parseJson(bytes, this.#most - this.count);
    } catch (error) {
      if (!(error instanceof TooManyValues)) throw error;
      throw new WireFault(
        "payload_too_large",
        `the input may have at most ${this.#most} values, including names of members: send fewer, or raise SVC_MAX_INPUT_VALUES of the server`,
      );
    }
    this.count += valueCount(document);
    if (!document.ascii) this.ascii = false;
    return document;
  }

  /** Like `parse`, but returns undefined for a text that is not JSON; the input decoder reports the error. */
  parseIfJson(bytes: Uint8Array): JsonDocument | undefined {
    try {
      return this.parse(bytes);
    } catch (error) {
      if (error instanceof JsonError) return undefined;
      throw error;
    }
  }
}
