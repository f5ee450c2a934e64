/** Shares one listener of each abort signal among many calls. */

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
