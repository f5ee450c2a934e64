/** Shares one listener of each abort signal among many calls. */

import { MAX_TIMEOUT_MS } from "../../wire/protocol.js";
import { aborted } from "./transport.js";

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
