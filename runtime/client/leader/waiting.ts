/** Waiting: pauses between attempts, time limits, abort signals. */

import { MAX_TIMEOUT_MS } from "../wire/protocol.js";
import { aborted, type HttpResponse } from "./transport/transport.js";

const MAX_PAUSE_MS = 5_000;

/**
 * Random pause after a failure, in milliseconds, so that callers do not all repeat at the same time. Doubles with each
 * earlier pause.
 */
export function backOffMs(earlierPauses: number, firstMs = 100): number {
  return Math.min(MAX_PAUSE_MS, firstMs * 2 ** earlierPauses) * (1 - Math.random() / 2);
}

/** `Retry-After` in seconds, from either format (RFC 9110 section 10.2.3). */
export function retryAfterOf(headers: HttpResponse["headers"]): number | undefined {
  const after = headers["retry-after"];
  if (typeof after !== "string") return undefined;
  if (/^\d{1,9}$/.test(after)) return Number(after);
  const at = /GMT$/.test(after) ? Date.parse(after) : Number.NaN;
  if (Number.isNaN(at)) return undefined;
  // Relative to the server's clock, if the answer contains its time.
  const now = typeof headers.date === "string" ? Date.parse(headers.date) : Number.NaN;
  return Math.max(0, Math.ceil((at - (Number.isNaN(now) ? Date.now() : now)) / 1000));
}

interface AbortActions {
  readonly acts: Set<() => void>;
  readonly fire: () => void;
}

const waitingFor = new WeakMap<AbortSignal, AbortActions>();

/**
 * Calls a function when any of several signals fires. All calls share one listener for each signal: Node warns of a
 * leak at the eleventh listener, and signals derived by `AbortSignal.any` stay in memory as long as their source.
 *
 * @returns a function that removes the callback
 */
export function onAbort(signals: readonly AbortSignal[], act: (signal: AbortSignal) => void): () => void {
  const ends = signals.map((signal) => onOne(signal, () => act(signal)));
  return () => {
    for (const end of ends) end();
  };
}

function onOne(signal: AbortSignal, act: () => void): () => void {
  let waiting = waitingFor.get(signal);
  if (waiting === undefined) {
    const acts = new Set<() => void>();
    const fire = () => {
      for (const each of [...acts]) each();
    };
    waiting = { acts, fire };
    waitingFor.set(signal, waiting);
    signal.addEventListener("abort", fire);
  }
  const { acts, fire } = waiting;
  acts.add(act);
  return () => {
    if (!acts.delete(act) || acts.size > 0) return;
    waitingFor.delete(signal);
    signal.removeEventListener("abort", fire);
  };
}

/**
 * Waits for a promise, at most for `ms` milliseconds.
 *
 * @param overdue result, or exception, if the time is over
 * @throws {@link LeaderError} `aborted` if a signal fires
 */
export function waitFor<T>(
  work: Promise<T>,
  ms: number,
  signals: readonly AbortSignal[],
  overdue: () => T,
): Promise<T> {
  let end = () => {};
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => resolve(new Promise((settle) => settle(overdue()))), Math.min(ms, MAX_TIMEOUT_MS));
    const stop = (signal: AbortSignal) => reject(aborted(signal));
    const ignore = onAbort(signals, stop);
    end = () => {
      clearTimeout(timer);
      ignore();
    };
    work.then(resolve, reject);
    const fired = signals.find(({ aborted }) => aborted);
    if (fired !== undefined) stop(fired);
  }).finally(() => end());
}
