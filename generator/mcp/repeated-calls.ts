/** Remembers calls of clients, so that a repeated call sends the same signed request and the tool runs once. */

import { createHash } from "node:crypto";
import type { SignedRequest } from "svc-runtime/leader";

/** Key in a call's `_meta`; calls with the same value are one call. */
export const IDEMPOTENCY_KEY = "svc-gen/idempotency-key";

/** Maximum number of remembered calls, and maximum size of their requests in bytes. The oldest are dropped first. */
const MAX_CALLS = 1_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** Thrown if the key was used for a different call. */
export class ReusedKey extends Error {}

interface Made {
  readonly hash: string;
  readonly request: SignedRequest;
}

export class RepeatedCalls {
  readonly #made = new Map<string, Made>();
  #bytes = 0;

  /**
   * Returns the signed request of a call: the remembered one if the call is a repetition, otherwise a new one.
   *
   * @param key identifies the call; undefined if it is never a repetition
   * @param call text that is equal for equal calls
   * @param isExclusive whether it is an error if a different call has the key; otherwise the new call replaces the
   * first
   * @throws ReusedKey
   */
  requestOf(key: string | undefined, call: string, isExclusive: boolean, sign: () => SignedRequest): SignedRequest {
    if (key === undefined) return sign();
    const hash = createHash("sha256").update(call).digest("base64");
    const made = this.#made.get(key);
    if (made?.hash === hash) return made.request;
    if (made !== undefined && isExclusive)
      throw new ReusedKey(`the ${IDEMPOTENCY_KEY} was already used for a different call`);
    const request = sign();
    this.#forget(key);
    this.#made.set(key, { hash, request });
    this.#bytes += request.body.length;
    for (const oldest of this.#made.keys()) {
      if (this.#made.size <= MAX_CALLS && this.#bytes <= MAX_BYTES) break;
      this.#forget(oldest);
    }
    return request;
  }

  #forget(key: string): void {
    this.#bytes -= this.#made.get(key)?.request.body.length ?? 0;
    this.#made.delete(key);
  }
}
