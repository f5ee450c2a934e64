/**
 * The interfaces of replay protection (protocol.md section 8). A pair of nonce and input hash runs at most once, and
 * every retry gets the answer of that run.
 */

import type { Repeat } from "../../wire/repeat.js";
import type { ServerLogger } from "../log/safe-logger.js";

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

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
  /** True for a result, which has the result content type and is signed; false for a JSON error, which is never signed. */
  readonly signable: boolean;
  /**
   * The exact body, possibly a view of a larger buffer. The store keeps a copy and returns copies of exact size.
   * Normally at most 262,144 bytes; a longer body is stored and counted too, but may exceed the bound of the store.
   */
  readonly body: Uint8Array;
  /**
   * Opaque data of a result, at most 256 bytes, with which exact retries are answered without signing again. A shared
   * store must store it and return it unchanged. A store of one process may omit it; every retry is then signed.
   */
  readonly seal?: Uint8Array | undefined;
}

/** Status of a run that a shutdown interrupted. An entry with it is a mark ({@link ReplayLease.complete}). */
export const INTERRUPTED_STATUS = 503;

/** An authenticated request for a run. */
export interface ReplayRequest {
  /** The FQN, with its version in shortest form. */
  readonly tool: string;
  /** 32 bytes, copied. */
  readonly nonce: Uint8Array;
  /** 32 bytes, copied. */
  readonly inputHash: Uint8Array;
  readonly caller: ReplayCaller;
  /** Lease of the claim without renewal, in milliseconds: the timeout of the tool plus 30 s. */
  readonly leaseMs: number;
  /**
   * The first attempt, as described by a caller that repeats a request; undefined for a first attempt. A `memory` that
   * is not 22 characters of base64url matches no store.
   */
  readonly repeat?: Repeat | undefined;
}

/**
 * The result of a claim (protocol.md section 8):
 * - `run`: run the tool, then end the run through the lease;
 * - `completed`: the cached answer; `sameCaller` is false for another leader or key, which must first pass `authorize`
 *   (another leader or key never finds a cached 403);
 * - `in-flight`: 409; this pair, or another pair with its nonce, is running;
 * - `lost`: 409; the pair of a repeat is unknown or was interrupted, so its first attempt may have run; nothing is
 *   stored;
 * - `full`: 503, the store is full of live entries.
 */
export type Claim =
  | { readonly state: "run"; readonly lease: ReplayLease }
  | { readonly state: "completed"; readonly answer: CachedAnswer; readonly sameCaller: boolean }
  | { readonly state: "in-flight" }
  | { readonly state: "lost" }
  | { readonly state: "full" };

/**
 * The right to run one invocation. The run ends exactly once, by `complete`, `timeOut` or `release`; `settle` follows
 * `timeOut`. A shared store renews the lease until then. Each method returns whether it took effect. A method that is
 * called too late does nothing and returns false, so callers need not check the state first and can count late results.
 */
export interface ReplayLease {
  /**
   * Completes the entry at the end of the run. The TTL starts now. The answer to the caller waits for this method.
   *
   * With status 503, for a run that a shutdown interrupted, the entry is a mark: no claim returns it as an answer, a
   * repeat is `lost`, and a claim without {@link ReplayRequest.repeat} runs and replaces it.
   */
  complete(answer: CachedAnswer): MaybePromise<boolean>;
  /** Completes the entry with this 504 when the deadline has passed. It has no seal. The TTL starts at `settle`. */
  timeOut(answer: CachedAnswer): MaybePromise<boolean>;
  /** Starts the TTL of the entry when the tool of a timed out run has ended. The late result is discarded. */
  settle(): MaybePromise<boolean>;
  /** Restores the state before the claim when nothing ran, for example because no thread was free. */
  release(): MaybePromise<boolean>;
}

/** Reasons why a store cannot claim runs. */
export type ReplayUnavailability = "disconnected" | "timeout" | "grace" | "refused";

/** The store cannot claim runs now. The caller gets 503 `replay_store_unavailable` with `Retry-After`, and nothing runs. */
export class ReplayStoreUnavailable extends Error {
  override readonly name = "ReplayStoreUnavailable";

  constructor(
    readonly reason: ReplayUnavailability,
    /** Milliseconds after which a retry makes sense. */
    readonly retryAfterMs: number,
    options?: { readonly cause?: unknown },
  ) {
    super(`the replay store cannot claim a run: ${reason}`, options);
  }
}

/** Information that a server passes to its store before it listens. */
export interface ReplayContext {
  readonly tools: readonly { readonly fqn: string; readonly timeoutMs: number }[];
  /** Returns the current lifetime of a tool's completed entries, in milliseconds. */
  ttlMs(tool: string): number;
  readonly log: ServerLogger;
  /** Whether only one leader can call now. It need not leave room for others. */
  readonly hasOneLeader?: (() => boolean) | undefined;
  /** Records an operation on a shared store and its duration in milliseconds, for metrics. */
  readonly observe?: ((operation: string, ms: number) => void) | undefined;
}

/** Metrics of a shared store. Counts start at the start of the process, unless stated otherwise. */
export interface SharedReplayStats {
  /** Whether runs can be claimed now. */
  readonly up: boolean;
  /** Claims by tool and outcome. */
  readonly claims: ReadonlyMap<string, Readonly<Record<string, number>>>;
  /** Failed operations by reason. */
  readonly errors: ReadonlyMap<string, number>;
  /** Runs of this process that hold a claim now. */
  readonly running: number;
  readonly renewals: number;
  /** Writes waiting to be retried. */
  readonly pendingWrites: number;
  /** Abandoned writes. */
  readonly droppedWrites: number;
  /** Claims whose reply was lost and that were released later. */
  readonly takeBacks: number;
  /** Detected data losses and server changes. */
  readonly losses: number;
  /** Lost claims and answers that were written again. */
  readonly reclaimed: number;
  readonly restored: number;
  /** Calls that also ran in another process. */
  readonly conflicts: number;
  /** Unresponsive connections that were replaced. */
  readonly replacedConnections: number;
}

/** Metrics of a store. */
export interface ReplayStats {
  /** Completed entries of this process within their lifetime. */
  readonly entries?: number;
  /** Runs of this process that have not ended. */
  readonly inFlight?: number;
  /** Bytes in use by this process. */
  readonly bytes?: number;
  /** Metrics of a shared store. */
  readonly shared?: SharedReplayStats;
}

/** Storage of replay entries. An in-process store may return plain values; a shared store returns promises. */
export interface ReplayStore {
  /**
   * With `shared`, other processes can write to the same state. A cached result is then signed again only if the seal
   * contains a valid signature of the tool itself.
   */
  readonly scope: "process" | "shared";

  /**
   * The name of the memory: 16 random bytes in base64url, created with the memory and replaced after a loss of data.
   * Processes that share a state have one name. Every answer contains it, and a repeat sends it back. The store must not
   * claim a run for a repeat of an unknown pair whose `memory` is another name, or whose `ageMs` is not below the
   * shortest lifetime of entries in that time, because the entry may be lost; nor for a repeat of a pair whose run was
   * interrupted. The check must be atomic with the claim.
   *
   * A store without a name does not support repeats: answers have no such header, and a run that it claims for a repeat
   * is released and answered with 409 `replay_memory_lost`.
   */
  readonly memoryName?: string | undefined;

  /**
   * Prepares the store. Called before a signed server listens, once for each registration that shares the store.
   *
   * @throws StartupError when the store cannot be used
   */
  start?(context: ReplayContext): MaybePromise<void>;

  /**
   * Looks up an authenticated request, and claims its run unless an entry prevents it.
   *
   * A cached 403 of another leader or key does not prevent a run; a run in flight with the same nonce does. During the
   * new run the pair is in flight for every caller. Only the end of the new run replaces the 403; after `release` the
   * 403 remains for its own leader until its TTL has passed. The same applies to the mark of an interrupted run.
   *
   * When a claim throws, rejects or takes longer than 5 s, the caller gets 503 `replay_store_unavailable` and nothing
   * runs. A run that is claimed later is released.
   *
   * @throws ReplayStoreUnavailable while no run can be claimed; RangeError for a nonce or input hash that does not have
   * 32 bytes
   */
  claim(request: ReplayRequest): MaybePromise<Claim>;

  /** Reason why claims are refused now, for the readiness probe; undefined when they are not. Must not perform I/O. */
  readonly unavailable?: string | undefined;

  /** Maximum bytes in use by this process. */
  readonly maxBytes?: number;

  /** Metrics snapshot. Must not perform I/O. */
  stats?(): ReplayStats;

  /**
   * Finishes pending writes within a time limit, then disconnects. Called once for each `start`, after the last call
   * has ended.
   */
  close?(timeoutMs: number): MaybePromise<void>;
}
