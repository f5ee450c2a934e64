/** Limit on the values of one call, which bounds the time and the memory that its input takes (protocol.md section 1). */

import { WireFault } from "./fault.js";
import { type JsonDocument, parseJson, valueCount } from "./json.js";
import { JsonError, TooManyValues } from "./json-error.js";

/** Default limit of the values of one call. */
export const DEFAULT_MAX_INPUT_VALUES = 500_000;

/** Counts the values of one call as its documents are parsed. */
export class InputValues {
  /** Number of values of the documents parsed so far. */
  count = 0;

  constructor(private readonly most = Number.POSITIVE_INFINITY) {}

  /**
   * Parses one document of the call.
   *
   * @throws {@link JsonError}; {@link WireFault} `payload_too_large` over the limit, before anything is decoded
   */
  parse(bytes: Uint8Array): JsonDocument {
    let document: JsonDocument;
    try {
      document = parseJson(bytes, this.most - this.count);
    } catch (error) {
      if (!(error instanceof TooManyValues)) throw error;
      throw new WireFault(
        "payload_too_large",
        `the input is limited to ${this.most} values, members' names counted; send fewer, or raise SVC_MAX_INPUT_VALUES of the server`,
      );
    }
    this.count += valueCount(document);
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
