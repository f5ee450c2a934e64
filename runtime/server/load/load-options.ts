/** Options and statistics of load control (load-control.ts). */

/** Concurrency limit of one tool. */
export interface ConcurrencyLimits {
  /** Maximum number of concurrent runs, at least 1. A tool that exceeds its deadline counts until it ends. */
  readonly concurrency: number;
  /** Maximum number of calls in the first-in-first-out queue. The default 0 refuses excess calls at once. */
  readonly queue?: number;
  /**
   * Maximum wait of a call in milliseconds, after which it is refused: 1,000 by default. The tool's deadline starts
   * after the wait.
   */
  readonly queueTimeoutMs?: number;
}

/** Rate limit of one verified leader, over all its keys and all tools of this process. */
export interface RateLimit {
  /** Maximum number of calls in a window, regardless of outcome; exact retries count too. */
  readonly calls: number;
  /** Length of a window in milliseconds, from its first call: 1,000 by default, at most a day. */
  readonly windowMs?: number;
}

/** Load limits set in code. An omitted limit is off. */
export interface LoadOptions {
  /** Limits for each tool separately, except those named in `tools`. */
  readonly limits?: ConcurrencyLimits;
  /** Limits for individual tools, by name. */
  readonly tools?: Readonly<Record<string, ConcurrencyLimits>>;
  /** Allowed only where signatures are required, because unsigned callers cannot be identified. */
  readonly rateLimit?: RateLimit;
}

/** Reason for a refusal. */
export type LoadReason =
  | "connections"
  | "requests"
  | "answers"
  | "bodyBytes"
  | "inputBytes"
  | "runs"
  | "queueFull"
  | "queueTimeout"
  | "rateLimit";

/** Current load, and refusals since the start of the process. */
export interface LoadStats {
  /** Bytes of request bodies held in memory now, and their limit. */
  readonly bodyBytes: { readonly inFlight: number; readonly most: number };
  /** Estimated bytes of heap that the inputs of calls hold now, and their limit. Small inputs do not count. */
  readonly inputBytes: { readonly inFlight: number; readonly most: number };
  /** Runs of all tools that have not ended, and their limit. */
  readonly runs: { readonly inFlight: number; readonly most: number };
  /** Runs and queued calls of the tools that have limits, by name. */
  readonly tools: ReadonlyMap<string, { readonly running: number; readonly queued: number }>;
  /** Refused connections and calls, by reason. */
  readonly refused: Readonly<Record<LoadReason, number>>;
}
