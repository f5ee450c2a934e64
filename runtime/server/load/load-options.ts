/** Options and statistics of load control (load-control.ts). */

/** Concurrency limit of one tool. */
export interface ConcurrencyLimits {
  /** Maximum number of concurrent runs, at least 1. Includes runs that have exceeded their deadline but not ended. */
  readonly concurrency: number;
  /** Maximum number of calls that wait, first in, first out. With 0, the default, excess calls are rejected at once. */
  readonly queue?: number;
  /**
   * Maximum waiting time of a call, in milliseconds: 1,000 by default. Then the call is rejected. The tool's deadline
   * starts after the wait.
   */
  readonly queueTimeoutMs?: number;
}

/** Rate limit of each verified leader, over all its keys and all tools of this process. */
export interface RateLimit {
  /** Maximum number of calls in a window, whatever their outcome and including exact retries. */
  readonly calls: number;
  /** Length of a window in milliseconds, from its first call: 1,000 by default, at most one day. */
  readonly windowMs?: number;
}

/** Load limits set in code. A limit that is not set does not apply. */
export interface LoadOptions {
  /** Limits that apply to each tool separately, except those in `tools`. */
  readonly limits?: ConcurrencyLimits;
  readonly tools?: Readonly<Record<string, ConcurrencyLimits>>;
  /** Allowed only if signatures are required, because unsigned callers cannot be identified. */
  readonly rateLimit?: RateLimit;
}

export const LOAD_REASONS = [
  "connections",
  "requests",
  "answers",
  "bodyBytes",
  "inputBytes",
  "httpAnswers",
  "runs",
  "queueFull",
  "queueTimeout",
  "rateLimit",
] as const;

/** Reason for a rejection. */
export type LoadReason = (typeof LOAD_REASONS)[number];

/** Current load, and counts of rejected connections and calls since the process started. */
export interface LoadStats {
  /** Bytes of request bodies held in memory now, and their limit. */
  readonly bodyBytes: { readonly inFlight: number; readonly most: number };
  /** Estimated heap bytes that the inputs of calls hold now, and their limit. Excludes small inputs. */
  readonly inputBytes: { readonly inFlight: number; readonly most: number };
  /** Number of runs of all tools that have not ended, and their limit. */
  readonly runs: { readonly inFlight: number; readonly most: number };
  /** Number of runs and waiting calls of each tool with limits, by name. */
  readonly tools: ReadonlyMap<string, { readonly running: number; readonly queued: number }>;
  /** Number of rejected connections and calls, by reason. */
  readonly refused: Readonly<Record<LoadReason, number>>;
}
