/** Pauses between attempts, for leaders' calls and for requests of tools. */

/** Pause before the first retry, in milliseconds; doubled for each later one. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

/** Random pause after a failure, in milliseconds, so that callers do not all repeat at the same time. */
export function backOffMs(earlierPauses: number): number {
  return Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** earlierPauses) * (0.5 + Math.random() / 2);
}
