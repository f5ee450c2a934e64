/** Retries of failed requests to a publisher or an aggregator. */

import { backOffMs } from "svc-client/internal/leader/waiting";
import type { Deadline, Retries } from "./deadline.js";
import { StorageError } from "./storage-error.js";

/** Whether another attempt may succeed. GET requests can always be retried. */
export function isTransient({ code, status }: StorageError): boolean {
  if (code === "refused") return status === 429 || (status !== undefined && status >= 500);
  return code === "connection_failed" || code === "connect_timeout" || code === "progress_timeout";
}

/**
 * Repeats an operation after temporary failures, up to the number of attempts. Does not wait for a `Retry-After` that
 * exceeds the deadline.
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
      const pauseMs = Math.max(backOffMs(attempt - 1, retries.backoffMs), error.retryAfterMs ?? 0);
      if (pauseMs >= deadline.msLeft()) throw error;
      await deadline.pause(pauseMs);
    }
  }
}
