/** Load control as it is set and as it is seen (load.ts). */

/** How many runs of one tool there may be at a time. */
export interface ConcurrencyLimits {
  /** Runs at a time, at least 1. A tool that goes on past its deadline counts until it ends. */
  readonly concurrency: number;
  /** Calls that wait for a run to end, first come first served: 0 by default, then a call too many is refused at once. */
  readonly queue?: number;
  /** Milliseconds that a call waits before it is refused: 1,000 by default. The tool's own deadline begins after. */
  readonly queueTimeoutMs?: number;
}

/** How often one verified leader may call, over all its keys and all tools of this process. */
export interface RateLimit {
  /** Calls in a window, whatever becomes of them: exact retries count too. */
  readonly calls: number;
  /** Milliseconds from the first call of a window to its end: 1,000 by default, at most a day. */
  readonly windowMs?: number;
}

/** When the process has no time left: calls are refused while the last half second was over one of these. */
export interface OverloadLimits {
  /** Mean milliseconds by which the event loop came late. */
  readonly eventLoopDelayMs?: number;
  /** The share of time in which the event loop was busy, above 0 and below 1. */
  readonly eventLoopUtilization?: number;
}

/** Load control as an application sets it; what is left out is off. */
export interface LoadOptions {
  /** For each tool by itself, unless `tools` has its name. */
  readonly limits?: ConcurrencyLimits;
  /** For single tools, by name. */
  readonly tools?: Readonly<Record<string, ConcurrencyLimits>>;
  /** Only where signatures are required: who calls is not known otherwise. */
  readonly rateLimit?: RateLimit;
  readonly overload?: OverloadLimits;
}

/** Why something was refused. */
export type LoadReason = "connections" | "bodyBytes" | "queueFull" | "queueTimeout" | "rateLimit" | "eventLoop";

/** What there is to do and what was refused, since the start of the process. */
export interface LoadStats {
  /** Bytes of request bodies held now, and at most. */
  readonly bodyBytes: { readonly inFlight: number; readonly most: number };
  /** Runs and waiting calls of the tools that have limits, by name. */
  readonly tools: ReadonlyMap<string, { readonly running: number; readonly queued: number }>;
  /** The last half second of the event loop; undefined without limits for it. */
  readonly eventLoop: { readonly delayMs: number; readonly utilization: number; readonly over: boolean } | undefined;
  /** Connections and calls by reason. */
  readonly refused: Readonly<Record<LoadReason, number>>;
}
