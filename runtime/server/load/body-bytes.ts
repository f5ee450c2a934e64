/** Limit on the total bytes of request bodies held in memory (protocol.md section 1). */

import { checkedInteger } from "../../checked-integer.js";
import { RequestError } from "../errors/request-error.js";
import { Account, type Holding } from "./account.js";
import type { Refusals } from "./refusals.js";
import type { Holder, Shares } from "./shares.js";

/** Bytes of request bodies held in memory, from their arrival until their call is answered. */
export class BodyBytes extends Account {
  constructor(shares: Shares, refusals: Refusals) {
    super(shares, "bodyBytes", refusals);
  }

  /** @throws {@link RequestError} `payload_too_large` if there is no room for the length even when nothing is held */
  override open(holder: Holder, length: number): Holding {
    const largest = this.mostOfOne;
    if (length > largest) throw new RequestError("payload_too_large", `the body is limited to ${largest} bytes`);
    return super.open(holder, length);
  }
}

/**
 * Total limit of {@link BodyBytes} for a given size limit of single bodies. At least twice the size limit, so that one
 * holder, who gets at most half, can send the largest body.
 *
 * @param given configured limit in bytes, with the name of its setting
 * @param share default limit, in bytes
 * @param most available memory, in bytes; a single body gets at most half of it, whatever its own limit
 * @throws RangeError if the configured limit is below twice the size limit
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
