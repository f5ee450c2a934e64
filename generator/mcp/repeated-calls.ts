/** Calls that a client made already, so that the same call by it is the same signed request: the tool runs once. */

import { createHash } from "node:crypto";
import type { SignedRequest } from "svc-runtime/leader";

/** Member of a call's `_meta` with which a client makes two calls one. */
export const IDEMPOTENCY_KEY = "svc-gen/idempotency-key";

/** Calls that are remembered, and the bytes of their requests. The oldest go first. */
const MAX_CALLS = 1_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** The same key was used for another call. */
export class ReusedKey extends Error {}

interface Made {
  readonly hash: string;
  readonly request: SignedRequest;
}

export class RepeatedCalls {
  readonly #made = new Map<string, Made>();
  #bytes = 0;

  /**
   * The signed request of a call.
   *
   * @param key of the call; undefined for one that is never the same as another
   * @param call all that makes two calls the same
   * @param isExclusive whether another call with the key is an error, or takes its place
   * @throws ReusedKey
   */
  requestOf(key: string | undefined, call: string, isExclusive: boolean, sign: () => SignedRequest): SignedRequest {
    if (key === undefined) return sign();
    const hash = createHash("sha256").update(call).digest("base64");
    const made = this.#made.get(key);
    if (made?.hash === hash) return made.request;
    if (made !== undefined && isExclusive) throw new ReusedKey(`the ${IDEMPOTENCY_KEY} was used for another call`);
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
