/** Reads and writes JSON of one type, with the member's path in errors (protocol.md section 11). */

import type { Codec, Contract } from "./contract.js";
import { ValueDecoder } from "./decoder.js";
import { ValueEncoder } from "./encoder.js";

/**
 * A wrapper around one value that is sent and written as the value itself. In the types of a tool it has the schema of
 * the value, except that a wrapped list is one value, not a `many` port.
 */
export class WithSerdeErrorPath<T> {
  constructor(public value: T) {}

  static of<T>(this: void, value: T): WithSerdeErrorPath<T> {
    return new WithSerdeErrorPath(value);
  }

  /**
   * Reads one JSON text. Checks all constraints except `format`.
   *
   * @param codec codec of a port in a generated contract
   * @param definitions definitions of the same contract, needed for `ref` codecs
   * @throws {@link WireFault} `input_deserialization_error`: `when.at: expected a string, got a number`
   */
  static fromJson<T>(codec: Codec, bytes: Uint8Array, definitions?: Contract["definitions"]): WithSerdeErrorPath<T> {
    return new WithSerdeErrorPath(
      new ValueDecoder(codec, definitions, { wrap: WithSerdeErrorPath.of }).read(bytes) as T,
    );
  }

  /**
   * Writes the value as JSON, in declared order.
   *
   * @throws {@link WireFault} `output_serialization_error` with the member's path
   */
  toJson(codec: Codec, definitions?: Contract["definitions"]): string {
    return new ValueEncoder(codec, definitions).write(this.value);
  }

  /** The value, for `JSON.stringify`. */
  toJSON(): T {
    return this.value;
  }
}
