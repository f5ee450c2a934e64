/** Repeats of a call until it has a result, or an end that no repeat changes. */

import { MAX_TIMEOUT_MS } from "../wire/protocol.js";
import { onAbort } from "./abort-listeners.js";
import { LeaderError, type LeaderErrorCode } from "./error.js";
import { aborted } from "./transport.js";

/** Milliseconds before the first repeat, doubled for each further one. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
/** Answers by other memories before a repeat is given up: the memory that it names may be one of several in turn. */
const MAX_LOST = 6;

/**
 * Failures after which another attempt can have another end. All other answers are kept, or given to every attempt; after
 * `tool_invocation_interrupted` a repeat is only refused.
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

/** Whether another attempt of the same request, here or at another address, can have another end. */
export function isRepeatable({ code }: LeaderError): boolean {
  return REPEATABLE.has(code);
}

/** Milliseconds to wait after a failure, of random length, so that many callers do not repeat at once. */
export function backOffMs(earlierPauses: number): number {
  return Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** earlierPauses) * (0.5 + Math.random() / 2);
}

/**
 * Calls a function until it returns, with growing pauses of random length, at least `Retry-After`.
 *
 * @param msLeft gives the time until the deadline in milliseconds
 * @throws {@link LeaderError} the last one, when it cannot be repeated or its pause would last beyond the deadline;
 * `aborted`
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
    await pause(pauseMs, signals, failure);
  }
}

function pause(ms: number, signals: readonly AbortSignal[], { ran, request }: LeaderError): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      ignore();
    };
    const stop = (signal: AbortSignal) => {
      end();
      reject(aborted(signal).with({ ran, request }));
    };
    const timer = setTimeout(
      () => {
        end();
        resolve();
      },
      Math.min(ms, MAX_TIMEOUT_MS),
    );
    const ignore = onAbort(signals, stop);
    const fired = signals.find(({ aborted }) => aborted);
    if (fired !== undefined) stop(fired);
  });
}
