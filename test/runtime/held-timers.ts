/**
 * Timers of the code under test that are not let run: the test sees how long each would take, and fires it when it likes.
 * So what happens after 25 s is seen at once, and on any machine.
 */

/** A timer that was started and has neither fired nor been cleared. */
export interface HeldTimer {
  readonly ms: number;
  /** Whether it is an interval. */
  readonly repeats: boolean;
  /** Runs its callback; that of an interval can run again. */
  fire(): void;
}

export interface HeldTimers {
  /** Those that wait now, oldest first. */
  readonly waiting: readonly HeldTimer[];
  /** The milliseconds of every timeout that was started, those that are gone included. */
  readonly started: readonly number[];
  /** Lets later timers of the process be as they were; those that wait can still be fired, and go off by no clock. */
  restore(): void;
}

/** Holds every timer of at least so many milliseconds that is started from now on. */
export function holdTimers(least = 500): HeldTimers {
  const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis;
  const waiting = new Map<unknown, HeldTimer>();
  const started: number[] = [];
  const hold =
    (start: (callback: () => void, ms: number) => NodeJS.Timeout, once: boolean) =>
    (callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
      if (ms < least) return start(() => callback(...args), ms);
      if (once) started.push(ms);
      // A real timer, so that `ref` and `unref` work; its own time never comes.
      const timer = start(() => {}, 2 ** 31 - 1).unref();
      const fire = () => {
        if (once && !waiting.has(timer)) return;
        if (once) clear(timer);
        callback(...args);
      };
      waiting.set(timer, { ms, repeats: !once, fire });
      return timer;
    };
  const clear = (timer: unknown) => {
    waiting.delete(timer);
    clearTimeout(timer as NodeJS.Timeout);
  };
  Object.assign(globalThis, {
    setTimeout: Object.assign(hold(setTimeout, true), setTimeout),
    setInterval: hold(setInterval, false),
    clearTimeout: clear,
    clearInterval: clear,
  });
  return {
    get waiting() {
      return [...waiting.values()];
    },
    started,
    restore: () => {
      Object.assign(globalThis, { setTimeout, setInterval, clearTimeout, clearInterval });
    },
  };
}
