/**
 * The interfaces of replay protection (protocol.md section 8): at most one run of a (nonce, input hash), whose end answers
 * every retry.
 */

/** The leader and key that signed a request. */
export interface ReplayCaller {
  readonly leaderId: string;
  readonly leaderKeyId: bigint;
}

/** The end of a run, as it answers an exact retry. */
export interface CachedAnswer {
  readonly status: number;
  /** The error code of the body, for logs and metrics. */
  readonly code?: string | undefined;
  /** A result: it has the result content type and is signed. Otherwise a JSON error, never signed. */
  readonly signable: boolean;
  /**
   * The exact body, perhaps a view of a larger buffer; the store keeps a copy and hands out copies of exact size. At most
   * 262,144 bytes: a longer one is kept and accounted too, but the bound holds only up to there.
   */
  readonly body: Uint8Array;
  /**
   * With the result of a run, what spares its exact retries another signature: at most 256 bytes, to be given back as they
   * are. A store may leave it out; then each retry is signed.
   */
  readonly seal?: Uint8Array | undefined;
}

/**
 * What a claim finds (protocol.md section 8):
 * - `run`: the caller runs the tool and ends the run through the ticket;
 * - `completed`: the cached answer; `sameCaller` is false for another leader or key, which first passes `authorize`
 *   (a cached 403 is never found by another leader or key);
 * - `in-flight`: 409; this pair, or another entry of its nonce, is running;
 * - `full`: 503, the store is full of live entries.
 */
export type Claim =
  | { readonly state: "run"; readonly ticket: ReplayTicket }
  | { readonly state: "completed"; readonly answer: CachedAnswer; readonly sameCaller: boolean }
  | { readonly state: "in-flight" }
  | { readonly state: "full" };

/**
 * The right to run one invocation. It ends exactly once: each method answers whether it took effect, and has none on a
 * ticket that is past it, so that a late result can be handed in blindly and counted when refused.
 */
export interface ReplayTicket {
  /** The run ended: the entry is complete, and its TTL counts from now. */
  complete(answer: CachedAnswer): boolean | Promise<boolean>;
  /** The deadline passed: the entry is complete with this 504, which has no seal, but its TTL counts only from `settle`. */
  hold(answer: CachedAnswer): boolean | Promise<boolean>;
  /** The tool of a held entry ended at last; its late result is discarded. */
  settle(): boolean | Promise<boolean>;
  /** The run ended without an answer worth keeping (shutdown): the pair is as it was before the claim. */
  abandon(): boolean | Promise<boolean>;
}

/** Where replay entries live. A store in memory answers at once; one shared by several processes answers promises. */
export interface ReplayStore {
  /**
   * Looks up an authenticated request of a tool and claims its run where nothing forbids it. A cached 403 of another
   * leader or key is passed over: the nonce rule still stands before its run, the pair is in flight for everybody while
   * it lasts, and only its end replaces the 403 (`abandon` leaves it to its own leader until its TTL).
   * `nonce` and `inputHash` are 32 bytes each (else a RangeError) and are copied.
   *
   * A claim that throws, rejects or takes longer than 5 s is answered 503 `replay_store_unavailable`, and nothing runs; a
   * run that is claimed later is abandoned.
   */
  claim(tool: string, nonce: Uint8Array, inputHash: Uint8Array, caller: ReplayCaller): Claim | Promise<Claim>;
}
