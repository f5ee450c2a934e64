/**
 * The interfaces of replay protection (protocol.md section 8). A pair of nonce and input hash runs at most once, and
 * the answer of that run is given to every retry.
 */

/** The leader and key that signed a request. */
export interface ReplayCaller {
  readonly leaderId: string;
  readonly leaderKeyId: bigint;
}

/** The answer of a run, for exact retries. */
export interface CachedAnswer {
  readonly status: number;
  /** The error code of the body, for logs and metrics. */
  readonly code?: string | undefined;
  /** True for a result, which has the result content type and is signed; false for a JSON error, which never is. */
  readonly signable: boolean;
  /**
   * The exact body, possibly a view of a larger buffer. The store keeps a copy and returns copies of exact size.
   * At most 262,144 bytes: a longer body is kept and accounted too, but may exceed the bound of the store.
   */
  readonly body: Uint8Array;
  /**
   * Opaque data with a result that lets exact retries be answered without signing again: at most 256 bytes, returned
   * unchanged. A store may omit it; then every retry is signed.
   */
  readonly seal?: Uint8Array | undefined;
}

/**
 * The result of a claim (protocol.md section 8):
 * - `run`: the caller runs the tool and ends the run through the ticket;
 * - `completed`: the cached answer; `sameCaller` is false for another leader or key, which must first pass `authorize`
 *   (another leader or key never finds a cached 403);
 * - `in-flight`: 409; this pair, or another pair with its nonce, is running;
 * - `full`: 503, the store is full of live entries.
 */
export type Claim =
  | { readonly state: "run"; readonly ticket: ReplayTicket }
  | { readonly state: "completed"; readonly answer: CachedAnswer; readonly sameCaller: boolean }
  | { readonly state: "in-flight" }
  | { readonly state: "full" };

/**
 * The right to run one invocation. The run ends exactly once, by `complete`, `hold` or `abandon`; `settle` follows
 * `hold`. Each method returns whether it took effect. It has no effect on a ticket past that state, so a late result
 * can be passed without a check and counted when it is refused.
 */
export interface ReplayTicket {
  /** The run ended: completes the entry. Its TTL counts from now. */
  complete(answer: CachedAnswer): boolean | Promise<boolean>;
  /** The deadline passed: completes the entry with this 504, which has no seal. Its TTL counts only from `settle`. */
  hold(answer: CachedAnswer): boolean | Promise<boolean>;
  /** The tool of a held entry has ended: starts the TTL of the entry. The late result is discarded. */
  settle(): boolean | Promise<boolean>;
  /**
   * The run ended without an answer to keep, such as at a shutdown: restores the pair to its state before the claim.
   */
  abandon(): boolean | Promise<boolean>;
}

/** Storage of replay entries. A store in memory can return values; one shared by several processes returns promises. */
export interface ReplayStore {
  /**
   * Looks up an authenticated request of a tool, and claims its run unless an entry prevents it. `nonce` and
   * `inputHash` are 32 bytes each and are copied.
   *
   * A cached 403 of another leader or key does not prevent a run. The nonce rule still applies to that run. While it
   * lasts, the pair is in flight for every caller. Only the end of the run replaces the 403; `abandon` keeps the 403
   * for its own leader until its TTL has passed.
   *
   * When a claim throws, rejects or takes longer than 5 s, the caller gets a 503 `replay_store_unavailable` and nothing
   * runs. A run that is claimed later is abandoned.
   *
   * @throws RangeError for a nonce or input hash that is not of 32 bytes
   */
  claim(tool: string, nonce: Uint8Array, inputHash: Uint8Array, caller: ReplayCaller): Claim | Promise<Claim>;
}
