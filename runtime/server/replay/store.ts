/**
 * Interfaces of replay protection (protocol.md section 8). A pair of nonce and input hash runs at most once, and every
 * retry gets the answer of that run.
 */

import type { Repeat } from "svc-client/internal/wire/replay-memory-header";
import type { ServerLogger } from "../log/safe-logger.js";

export type MaybePromise<T> = T | Promise<T>;

/** Leader and key that signed a request. */
export interface ReplayCaller {
  readonly leaderId: string;
  readonly leaderKeyId: bigint;
}

/** Answer of a run, stored for exact retries. */
export interface CachedAnswer {
  readonly status: number;
  /** Error code of the body, for logs and metrics. */
  readonly code?: string | undefined;
  /**
   * True for a result, which has the result content type and is signed; false for an error in JSON, which is never
   * signed.
   */
  readonly signable: boolean;
  /**
   * The exact body, possibly a view of a larger buffer. The store keeps a copy and returns copies of exact size.
   * Usually at most 262,144 bytes. A longer body is stored too, even if the store then exceeds its limit.
   */
  readonly body: Uint8Array;
  /**
   * Opaque data of a result, at most 256 bytes, with which exact retries are answered without signing again. A shared
   * store must return it unchanged. A store in one process may omit it; then every retry is signed.
   */
  readonly seal?: Uint8Array | undefined;
}

/** Status of a run that a shutdown interrupted. Its entry is a mark (see {@link ReplayLease.complete}). */
export const INTERRUPTED_STATUS = 503;

/** An authenticated request for a run. */
export interface ReplayRequest {
  /** FQN with its version in shortest form. */
  readonly tool: string;
  /** 32 bytes, which the store copies. */
  readonly nonce: Uint8Array;
  /** 32 bytes, which the store copies. */
  readonly inputHash: Uint8Array;
  readonly caller: ReplayCaller;
  /** Duration of the lease without renewal, in milliseconds: the tool's timeout plus 30 s. */
  readonly leaseMs: number;
  /**
   * Description of the first attempt, from a caller that repeats a request; undefined for a first attempt. A `memory`
   * that is not 22 characters of base64url matches no store.
   */
  readonly repeat?: Repeat | undefined;
}

/**
 * Result of a claim (protocol.md section 8):
 * - `run`: run the tool, then end the run through the lease;
 * - `completed`: the stored answer; `sameCaller` is false for another leader or key, which must first pass `authorize`
 * (another leader or key never finds a stored 403);
 * - `in-flight`: 409; this pair, or another pair with its nonce, is running;
 * - `lost`: 409; the pair of a repeated request is unknown or was interrupted, so its first attempt may have run;
 * nothing is stored;
 * - `full`: 503; the store is full of live entries.
 */
export type Claim =
  | { readonly state: "run"; readonly lease: ReplayLease }
  | { readonly state: "completed"; readonly answer: CachedAnswer; readonly sameCaller: boolean }
  | { readonly state: "in-flight" }
  | { readonly state: "lost" }
  | { readonly state: "full" };

/**
 * Right to run one call. The run ends exactly once, by `complete`, `timeOut` or `release`; `settle` follows `timeOut`.
 * A shared store renews the lease until then. Each method returns whether it took effect; a method that is called too
 * late does nothing and returns false.
 */
export interface ReplayLease {
  /**
   * Completes the entry when the run ends. The TTL starts now. The answer to the caller waits for this method.
   *
   * With status 503, for a run that a shutdown interrupted, the entry is a mark: no claim returns it as an answer, a
   * repeated request is `lost`, and a claim without {@link ReplayRequest.repeat} runs and replaces the mark.
   */
  complete(answer: CachedAnswer): MaybePromise<boolean>;
  /** At the deadline, completes the entry with this 504, which has no seal. The TTL starts at `settle`. */
  timeOut(answer: CachedAnswer): MaybePromise<boolean>;
  /** Starts the TTL of the entry when the tool of a timed-out run has ended. The late result is discarded. */
  settle(): MaybePromise<boolean>;
  /** Restores the state before the claim if nothing ran, for example because no thread was free. */
  release(): MaybePromise<boolean>;
}

export type ReplayUnavailability = "disconnected" | "timeout" | "grace" | "refused";

/**
 * Thrown if the store cannot claim runs now. The caller gets 503 `replay_store_unavailable` with `Retry-After`, and
 * nothing runs.
 */
export class ReplayStoreUnavailable extends Error {
  override readonly name = "ReplayStoreUnavailable";

  constructor(
    readonly reason: ReplayUnavailability,
    /** Milliseconds after which a retry may succeed. */
    readonly retryAfterMs: number,
    options?: { readonly cause?: unknown },
  ) {
    super(`the replay store cannot claim a run: ${reason}`, options);
  }
}

export interface ReplayContext {
  readonly tools: readonly { readonly fqn: string; readonly timeoutMs: number }[];
  /** Returns the current lifetime of a tool's completed entries, in milliseconds. */
  ttlMs(tool: string): number;
  readonly log: ServerLogger;
  /** Whether only one leader can call now, so that it need not leave room for others. */
  readonly hasOneLeader?: (() => boolean) | undefined;
  /** Records an operation on a shared store, and its duration in milliseconds, for metrics. */
  readonly observe?: ((operation: string, ms: number) => void) | undefined;
}

/** Metrics of a shared store. Counts begin when the process starts, unless stated otherwise. */
export interface SharedReplayStats {
  /** Whether runs can be claimed now. */
  readonly up: boolean;
  /** Number of claims, by tool and outcome. */
  readonly claims: ReadonlyMap<string, Readonly<Record<string, number>>>;
  /** Number of failed operations, by reason. */
  readonly errors: ReadonlyMap<string, number>;
  /** Number of this process's runs that hold a claim now. */
  readonly running: number;
  readonly renewals: number;
  /** Number of writes that wait to be retried. */
  readonly pendingWrites: number;
  /** Number of writes that were given up. */
  readonly droppedWrites: number;
  /** Number of claims whose reply was lost and that were released later. */
  readonly takeBacks: number;
  /** Number of detected data losses and server changes. */
  readonly losses: number;
  /** Numbers of lost claims and of lost answers that were written again. */
  readonly reclaimed: number;
  readonly restored: number;
  /** Number of calls that also ran in another process. */
  readonly conflicts: number;
}

export interface ReplayStats {
  /** Number of this process's completed entries within their lifetime. */
  readonly entries?: number;
  /** Number of this process's runs that have not ended. */
  readonly inFlight?: number;
  /** Bytes in use by this process. */
  readonly bytes?: number;
  /** Metrics of a shared store. */
  readonly shared?: SharedReplayStats;
}

/** Storage of replay entries. A store in the process may return plain values; a shared store returns promises. */
export interface ReplayStore {
  /**
   * With `shared`, other processes can write to the same state. A stored result is then signed again only if the seal
   * contains a valid signature of the tool.
   */
  readonly scope: "process" | "shared";

  /**
   * Name of the memory: 16 random bytes in base64url, created with the memory and replaced after a loss of data.
   * Processes that share a store have the same name. Every answer contains the name, and a repeated request sends it
   * back.
   *
   * The store must not claim a run for a repeated request whose first attempt may have run. That is so if the run of the
   * pair was interrupted; or if the pair is unknown, and `memory` is another name or `ageMs` is at least the shortest
   * lifetime of entries since the first attempt. The check must be atomic with the claim.
   *
   * A store without a name does not support repeated requests: answers have no such header, and a run that it claims
   * for a repeated request is released and answered with 409 `replay_memory_lost`.
   */
  readonly memoryName?: string | undefined;

  /**
   * Prepares the store. Called before a signed server listens, once for each registration that shares the store.
   *
   * @throws StartupError if the store cannot be used
   */
  start?(context: ReplayContext): MaybePromise<void>;

  /**
   * Looks up an authenticated request, and claims its run unless an entry prevents it.
   *
   * A stored 403 of another leader or key does not prevent a run; a run in flight with the same nonce does. During the
   * new run the pair is in flight for every caller. Only the end of the new run replaces the 403; after `release` the
   * 403 remains for its own leader until its TTL has passed. The same applies to the mark of an interrupted run.
   *
   * If a claim throws, rejects or takes longer than 5 s, the caller gets 503 `replay_store_unavailable` and nothing
   * runs. A run that is claimed later is released.
   *
   * @throws ReplayStoreUnavailable if no run can be claimed now; RangeError if nonce or input hash does not have 32
   * bytes
   */
  claim(request: ReplayRequest): MaybePromise<Claim>;

  /** Reason why claims are rejected now, for the readiness probe; undefined if they are not. Must not perform I/O. */
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
