import { LeaderError, type LeaderErrorCode } from "./error.js";
import { backOffMs, waitFor } from "./waiting.js";

/**
 * Number of answers from other replay memories after which a repeat fails. One is not enough: a load balancer may route
 * a later attempt to the named memory.
 */
const MAX_LOST = 6;

/**
 * Failures after which another attempt may have another outcome. All other answers are stored, or are the same for
 * every attempt; after `tool_invocation_interrupted`, a repeat can only be rejected.
 */
const REPEATABLE: ReadonlySet<LeaderErrorCode> = new Set<LeaderErrorCode>([
  "connection_failed",
  "timeout",
  "gateway_error",
  "request_timeout",
  "request_in_flight",
  "replay_memory_lost",
  "rate_limited",
  "replay_store_full",
  "replay_store_unavailable",
  "overloaded",
  "shutting_down",
]);

/**
 * Whether another attempt of the same request, at any address, may soon have another outcome. A 429 with details is a
 * refusal by `around`, of which the caller must learn the reason.
 */
export function isRepeatable({ code, details }: LeaderError): boolean {
  return REPEATABLE.has(code) && !(code === "rate_limited" && details);
}

/**
 * Calls a function until it succeeds, with growing random pauses that are at least `Retry-After`.
 *
 * @param msLeft returns the milliseconds until the deadline
 * @throws {@link LeaderError} the last one, if it is final or the next pause would exceed the deadline; `aborted`
 */
export async function repeatUntil<T>(
  attempt: () => Promise<T>,
  msLeft: () => number,
  signals: readonly AbortSignal[],
): Promise<T> {
  let lost = 0;
  for (let pauses = 0; ; pauses++) {
    let failure: LeaderError;
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof LeaderError) || !isRepeatable(error)) throw error;
      failure = error;
    }
    if (failure.code === "replay_memory_lost" && failure.ran !== "no" && ++lost === MAX_LOST) throw failure;
    const pauseMs = Math.max(backOffMs(pauses), (failure.retryAfter ?? 0) * 1_000);
    if (pauseMs >= msLeft()) throw failure;
    try {
      await waitFor(new Promise<void>(() => {}), pauseMs, signals, () => undefined);
    } catch (stopped) {
      const { ran, request } = failure;
      throw (stopped as LeaderError).with({ ran, request });
    }
  }
}
