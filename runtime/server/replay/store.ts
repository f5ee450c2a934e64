/**
 * The interfaces of replay protection (protocol.md section 8). A pair of nonce and input hash runs at most once, and
 * the answer of that run is given to every retry.
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
  /** True for a result, which has the result content type and is signed; false for a JSON error, which never is. */
  readonly signable: boolean;
  /**
   * The exact body, possibly a view of a larger buffer. The store keeps a copy and returns copies of exact size.
   * At most 262,144 bytes: a longer body is kept and accounted too, but may exceed the bound of the store.
   */
  readonly body: Uint8Array;
  /**
   * Opaque data with a result that lets exact retries be answered without signing again: at most 256 bytes, returned
   * unchanged. A store of one process may omit it; then every retry is signed. A shared store must keep it.
   */
  readonly seal?: Uint8Array | undefined;
}

/** Status of the answer of a run that shutdown interrupted; an entry with it is a mark ({@link ReplayLease.complete}). */
export const INTERRUPTED_STATUS = 503;

/** An authenticated request that wants to run. */
export interface ReplayRequest {
  /** The FQN, with its version in shortest form. */
  readonly tool: string;
  /** 32 bytes, copied. */
  readonly nonce: Uint8Array;
  /** 32 bytes, copied. */
  readonly inputHash: Uint8Array;
  readonly caller: ReplayCaller;
  /** How long a run may keep its claim without a renewal, in milliseconds: the timeout of the tool and 30 s. */
  readonly leaseMs: number;
  /**
   * What a caller that repeats a request knows of its first attempt; undefined for a first attempt. A `memory` that is
   * not 22 characters of base64url names no store.
   */
  readonly repeat?: Repeat | undefined;
}

/**
 * The result of a claim (protocol.md section 8):
 * - `run`: the caller runs the tool and ends the run through the lease;
 * - `completed`: the cached answer; `sameCaller` is false for another leader or key, which must first pass `authorize`
 *   (another leader or key never finds a cached 403);
 * - `in-flight`: 409; this pair, or another pair with its nonce, is running;
 * - `lost`: 409; the pair of a repeat is unknown or interrupted, and its first attempt may have run; nothing is stored;
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
 * called too late does nothing and returns false, so the caller need not check the state first, and can count late
 * results.
 */
export interface ReplayLease {
  /**
   * The run ended: completes the entry. Its TTL counts from now. The answer to the caller waits for this.
   *
   * With the status 503, of a run that shutdown interrupted, the entry is a mark: no claim finds it as an answer, a repeat is
   * `lost`, and a claim without {@link ReplayRequest.repeat} runs and replaces it.
   */
  complete(answer: CachedAnswer): MaybePromise<boolean>;
  /** The deadline passed: completes the entry with this 504, which has no seal. Its TTL counts only from `settle`. */
  timeOut(answer: CachedAnswer): MaybePromise<boolean>;
  /** The tool of a timed out run has ended: starts the TTL of the entry. The late result is discarded. */
  settle(): MaybePromise<boolean>;
  /**
   * Nothing ran, such as when no thread was free: restores the pair to its state before the claim.
   */
  release(): MaybePromise<boolean>;
}

/** Why a store cannot claim runs now. */
export type ReplayUnavailability = "disconnected" | "timeout" | "grace" | "refused";

/** A claim cannot be made. The caller gets a 503 `replay_store_unavailable` with `Retry-After`, and nothing runs. */
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

/** What a server tells its store before it listens. */
export interface ReplayContext {
  readonly tools: readonly { readonly fqn: string; readonly timeoutMs: number }[];
  /** The lifetime of completed entries of a tool that is in force now, in milliseconds. */
  ttlMs(tool: string): number;
  readonly log: ServerLogger;
  /** Whether a single leader may call now, which then need not leave room for others. */
  readonly hasOneLeader?: (() => boolean) | undefined;
  /** Told of each operation on a shared state, for metrics: its name and its milliseconds. */
  readonly observe?: ((operation: string, ms: number) => void) | undefined;
}

/** Figures of a store that processes share, for metrics: counts since its start, unless said otherwise. */
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
  /** Writes that are to be repeated now. */
  readonly pendingWrites: number;
  /** Writes that were given up. */
  readonly droppedWrites: number;
  /** Claims without an answer that were found and taken back. */
  readonly takeBacks: number;
  /** Losses of data, or changes of the server, that were noticed. */
  readonly losses: number;
  /** Claims and answers that were lost and registered again. */
  readonly reclaimed: number;
  readonly restored: number;
  /** Calls that ran in another process too. */
  readonly conflicts: number;
  /** Connections that were replaced because they did not answer. */
  readonly replacedConnections: number;
}

/** Figures of a store, for metrics. */
export interface ReplayStats {
  /** Complete entries within their lifetime, of this process. */
  readonly entries?: number;
  /** Runs of this process that have not ended. */
  readonly inFlight?: number;
  /** Bytes in use by this process. */
  readonly bytes?: number;
  /** Figures of a shared store. */
  readonly shared?: SharedReplayStats;
}

/** Storage of replay entries. A store in memory can return values; one shared by several processes returns promises. */
export interface ReplayStore {
  /**
   * `shared`: other processes write to the same state, so a cached result is signed anew only when the tool's own
   * signature in its seal verifies.
   */
  readonly scope: "process" | "shared";

  /**
   * The name of the memory: 16 random bytes in base64url, made when it begins, and anew when it has lost data. Processes that
   * share a state have one name. It is sent in every answer, and a repeat comes back with it
   * ({@link ReplayRequest.repeat}): the store claims no run for a repeat of an unknown pair whose `memory` is another
   * name, or whose `ageMs` is not below the shortest lifetime of entries in that time, because an entry may be lost; nor
   * for any repeat of a pair whose run was interrupted. It decides that in one step with the claim.
   *
   * A store without a name takes no repeats: its answers have no such header, and the run that it claims for a repeat is
   * released and answered 409 `replay_memory_lost`.
   */
  readonly memoryName?: string | undefined;

  /**
   * Makes the store ready. Called before a signed server listens; once for each registration that shares the store.
   *
   * @throws StartupError when the store cannot be used
   */
  start?(context: ReplayContext): MaybePromise<void>;

  /**
   * Looks up an authenticated request of a tool, and claims its run unless an entry prevents it.
   *
   * A cached 403 of another leader or key does not prevent a run; a run in flight with the same nonce does. While the
   * new run lasts, the pair is in flight for every caller. Only the end of the new run replaces the 403; `release`
   * keeps the 403 for its own leader until its TTL has passed. The same holds for the mark of an interrupted run.
   *
   * When a claim throws, rejects or takes longer than 5 s, the caller gets a 503 `replay_store_unavailable` and nothing
   * runs. A run that is claimed later is released.
   *
   * @throws ReplayStoreUnavailable while no run can be claimed; RangeError for a nonce or input hash that is not of 32
   * bytes
   */
  claim(request: ReplayRequest): MaybePromise<Claim>;

  /** Why claims are refused now, for the readiness probe; undefined when they are not. Without input or output. */
  readonly unavailable?: string | undefined;

  /** Bound of the bytes in use by this process. */
  readonly maxBytes?: number;

  /** Figures for metrics, without input or output. */
  stats?(): ReplayStats;

  /** Finishes pending writes within a time limit and disconnects. Called once for each start, after the last call has ended. */
  close?(timeoutMs: number): MaybePromise<void>;
}
