/** The input hash of a call, which the leader signs (protocol.md section 4). */

import { Buffer } from "#platform/bytes";
import { sha256 } from "#platform/hash";
import type { PortShape } from "../bcs/bcs-shapes.js";
import { lengthBytes } from "../bcs/bcs-writer.js";
import { DOMAINS } from "../protocol.js";

const RESOLVED_INPUT = Buffer.from(DOMAINS.resolvedInput);
/** `ValueKind::Data`. */
const DATA = 1;
const COMMITMENT_LENGTH = lengthBytes(32);

/** Computes the input hash of one tool. Encodes the parts that do not depend on values once. */
export class InputHasher {
  readonly #start: Buffer;
  readonly #ports: readonly { readonly head: Buffer; readonly many: boolean }[];

  /** @param ports in schema order; all must be data ports */
  constructor(ports: readonly PortShape[]) {
    this.#start = Buffer.concat([RESOLVED_INPUT, lengthBytes(ports.length)]);
    this.#ports = ports.map(({ name, many }) => ({
      head: Buffer.concat([lengthBytes(name.length), Buffer.from(name, "latin1"), Buffer.of(many ? 1 : 0, DATA)]),
      many,
    }));
  }

  /**
   * The input hash of commitments: SHA-256 of the domain string and the BCS of the port commitments.
   *
   * @param commitments 32 bytes for each value, by port in schema order
   * @returns 32 bytes
   */
  hash(commitments: readonly (readonly Uint8Array[])[]): Buffer {
    const parts: Uint8Array[] = [this.#start];
    for (const [i, { head, many }] of this.#ports.entries()) {
      const values = commitments[i] as readonly Uint8Array[];
      parts.push(head);
      if (many) parts.push(lengthBytes(values.length));
      for (const value of values) parts.push(COMMITMENT_LENGTH, value);
    }
    return sha256(Buffer.concat(parts));
  }
}
