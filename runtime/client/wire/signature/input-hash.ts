/** The input hash of a call, which the leader signs (protocol.md section 4). */

import { Buffer } from "#platform/bytes";
import { sha256 } from "#platform/hash";
import type { PortShape } from "../bcs/bcs-shapes.js";
import { copyBytes, lengthSize, writeLength } from "../bcs/bcs-writer.js";
import { DOMAINS } from "../protocol.js";

const RESOLVED_INPUT = Buffer.from(DOMAINS.resolvedInput);

/** Computes the input hash of one tool. Encodes the parts that do not depend on values once. */
export class InputHasher {
  readonly #heads: readonly { readonly bytes: Buffer; readonly many: boolean }[];
  readonly #start: Buffer;

  /** @param ports in schema order; all must be data ports */
  constructor(ports: readonly PortShape[]) {
    this.#heads = ports.map(({ name, many }) => {
      const head = Buffer.alloc(lengthSize(name.length) + name.length + 2);
      const at = writeLength(head, 0, name.length);
      head.write(name, at, "latin1");
      head[head.length - 2] = many ? 1 : 0;
      head[head.length - 1] = 1; // ValueKind::Data
      return { bytes: head, many };
    });
    const count = Buffer.alloc(lengthSize(ports.length));
    writeLength(count, 0, ports.length);
    this.#start = Buffer.concat([RESOLVED_INPUT, count]);
  }

  /**
   * The input hash of commitments.
   *
   * @param commitments 32 bytes for each value, by port in schema order
   * @returns 32 bytes
   */
  hash(commitments: readonly (readonly Uint8Array[])[]): Buffer {
    return sha256(this.#preimage(commitments));
  }

  /** The domain string and the BCS of the port commitments. */
  #preimage(ports: readonly (readonly Uint8Array[])[]): Buffer {
    let size = this.#start.length;
    for (let i = 0; i < this.#heads.length; i++) {
      const { bytes, many } = this.#heads[i] as { bytes: Buffer; many: boolean };
      const values = ports[i] as readonly Uint8Array[];
      size += bytes.length + (many ? lengthSize(values.length) : 0) + 33 * values.length;
    }
    const target = Buffer.allocUnsafe(size);
    let at = copyBytes(target, 0, this.#start);
    for (let i = 0; i < this.#heads.length; i++) {
      const { bytes, many } = this.#heads[i] as { bytes: Buffer; many: boolean };
      const values = ports[i] as readonly Uint8Array[];
      at = copyBytes(target, at, bytes);
      if (many) at = writeLength(target, at, values.length);
      for (const value of values) {
        target[at] = 32;
        at = copyBytes(target, at + 1, value);
      }
    }
    return target;
  }
}
