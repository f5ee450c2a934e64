/** The bound on the bytes of request bodies held in memory (protocol.md section 1). */

import { checkedInteger } from "../../config/checked-integer.js";
import { RequestError } from "../errors/request-error.js";
import type { Refusals } from "./refusals.js";

/** Bytes of request bodies held in memory together, unless set otherwise: 64 MiB, five bodies of the default limit. */
export const MAX_BODY_BYTES_IN_FLIGHT = 67_108_864;

/**
 * Bytes of request bodies held in memory, from their arrival until their call has its answer. One holder, a verified
 * leader or an unsigned connection, has at most as many as are left for all others: so however many hold what they can,
 * there is room for another.
 */
export class BodyBytes {
  inFlight = 0;
  readonly #held = new Map<string | object, number>();

  /**
   * @param most at a time, at most 2^53 − 1, so that the account is exact
   */
  constructor(
    readonly most: number,
    private readonly refusals: Refusals,
  ) {}

  /**
   * Opens the account of a body, for which nothing is charged yet.
   *
   * @param holder the leader's id, or the connection
   * @param length as announced
   * @throws {@link RequestError} `overloaded` while there is no room, `payload_too_large` when there never will be
   */
  open(holder: string | object, length: number): BodyAccount {
    const largest = Math.floor(this.most / 2);
    if (length > largest) throw new RequestError("payload_too_large", `the body is limited to ${largest} bytes`);
    this.#requireRoom(holder, length);
    let charged = 0;
    return {
      charge: (bytes) => {
        this.#requireRoom(holder, bytes);
        this.#add(holder, bytes);
        charged += bytes;
      },
      release: () => {
        this.#add(holder, -charged);
        charged = 0;
      },
    };
  }

  #requireRoom(holder: string | object, bytes: number): void {
    const held = this.#held.get(holder) ?? 0;
    if (held + bytes > this.most - this.inFlight - bytes) throw this.refusals.refuse("bodyBytes");
  }

  #add(holder: string | object, bytes: number): void {
    this.inFlight += bytes;
    const held = (this.#held.get(holder) ?? 0) + bytes;
    if (held === 0) this.#held.delete(holder);
    else this.#held.set(holder, held);
  }
}

/** Account of the bytes that one body holds. */
export interface BodyAccount {
  /** @throws {@link RequestError} `overloaded` without room; then nothing of it is charged */
  charge(bytes: number): void;
  release(): void;
}

/**
 * Bound of {@link BodyBytes} for a limit of single bodies, so that the largest is admitted when it comes alone: twice the
 * limit at least.
 *
 * @throws RangeError for a bound set in code that is below that
 */
export function bodyBytesBound(given: number | undefined, bodyLimit: bigint): number {
  const twice = 2n * bodyLimit;
  const least = twice > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(twice);
  if (given === undefined) return Math.max(MAX_BODY_BYTES_IN_FLIGHT, least);
  const most = checkedInteger("maxBodyBytesInFlight", given, 1, Number.MAX_SAFE_INTEGER, "bytes");
  if (most >= least) return most;
  throw new RangeError(
    `maxBodyBytesInFlight: expected at least twice invoke_max_body_bytes, ${twice} bytes, got ${most}; a body of ${bodyLimit} bytes could never be read`,
  );
}
