/** Limit on the total bytes of request bodies held in memory (protocol.md section 1). */

import { checkedInteger } from "../../checked-integer.js";
import { RequestError } from "../errors/request-error.js";
import type { Refusals } from "./refusals.js";
import type { Holder, Shares } from "./shares.js";

/** Account of the bytes of request bodies held in memory, from their arrival to the response of their call. */
export class BodyBytes {
  readonly #shares: Shares;
  readonly #refusals: Refusals;

  constructor(shares: Shares, refusals: Refusals) {
    this.#shares = shares;
    this.#refusals = refusals;
  }

  get inFlight(): number {
    return this.#shares.total;
  }

  /** Maximum total of bytes. */
  get most(): number {
    return this.#shares.most;
  }

  /**
   * Opens the account of a body, without charging any bytes.
   *
   * @param length the announced length of the body in bytes
   * @throws {@link RequestError} `overloaded` while there is no room, `payload_too_large` when there never will be
   */
  open(holder: Holder, length: number): BodyAccount {
    const largest = this.#shares.mostOfOne;
    if (length > largest) throw new RequestError("payload_too_large", `the body is limited to ${largest} bytes`);
    this.#requireRoom(holder, length);
    let charged = 0;
    return {
      charge: (bytes) => {
        this.#requireRoom(holder, bytes);
        this.#shares.add(holder, bytes);
        charged += bytes;
      },
      release: () => {
        this.#shares.add(holder, -charged);
        charged = 0;
      },
    };
  }

  #requireRoom(holder: Holder, bytes: number): void {
    if (!this.#shares.allows(holder, bytes)) throw this.#refusals.refuse("bodyBytes");
  }
}

/** Account of the bytes that one body holds. */
export interface BodyAccount {
  /** @throws {@link RequestError} `overloaded` without room; nothing is charged then */
  charge(bytes: number): void;
  release(): void;
}

/**
 * Total limit of {@link BodyBytes} for a given size limit of single bodies. It is at least twice the size limit, so
 * that the largest body is admitted when no other is held.
 *
 * @param given the limit that is set, in bytes, with the name of its setting
 * @param share the limit by default, in bytes
 * @param most what the memory holds: a single body gets half of it, whatever its own limit
 * @throws RangeError for a total limit that is set and below twice the size limit
 */
export function bodyBytesBound(
  given: { readonly name: string; readonly bytes: number } | undefined,
  bodyLimit: bigint,
  share: number,
  most: number,
): number {
  const twice = 2n * bodyLimit;
  const least = twice > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(twice);
  if (given === undefined) return Math.max(share, Math.min(least, most));
  const { name, bytes } = given;
  const bound = checkedInteger(name, bytes, 1, Number.MAX_SAFE_INTEGER, "bytes");
  if (bound >= least) return bound;
  throw new RangeError(
    `${name}: expected at least twice invoke_max_body_bytes, ${twice} bytes, got ${bound}; a body of ${bodyLimit} bytes could never be read`,
  );
}
