/** Retries of failed requests to a publisher or an aggregator. */

import { backoffDelay, type Deadline, type Retries } from "./deadline.js";
import { StorageError } from "./storage-error.js";

/** Whether another attempt may succeed. GET requests can always be retried. */
export function isTransient({ code, status }: StorageError): boolean {
  if (code === "refused") return status === 429 || (status !== undefined && status >= 500);
  return code === "connection_failed" || code === "connect_timeout" || code === "progress_timeout";
}

/**
 * Repeats an operation after temporary failures, up to the number of attempts.
 *
 * @param shouldRetry whether to try again after this failure; {@link isTransient} by default
 */
export async function retry<T>(
  retries: Retries,
  deadline: Deadline,
  run: () => Promise<T>,
  shouldRetry: (error: StorageError) => boolean = isTransient,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof StorageError) || attempt >= retries.attempts || !shouldRetry(error)) throw error;
      try {
        await deadline.pause(Math.max(backoffDelay(attempt, retries), error.retryAfterMs ?? 0));
      } catch (late) {
        // The deadline passed between two attempts: the error of the last attempt says more.
        throw deadline.signal.reason instanceof StorageError && deadline.signal.reason.code === "aborted"
          ? late
          : error;
      }
    }
  }
}
