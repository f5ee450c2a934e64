/** Runs of one tool at a time, and the calls that wait for one of them to end, first come first served. */

import { RequestError } from "../errors/request-error.js";
import type { ConcurrencyLimits } from "./load-options.js";
import type { Refusals } from "./refusals.js";
import { Semaphore } from "./semaphore.js";

/** A call that waits. */
export interface Waiting {
  /** Resolves with a slot taken; rejects with `overloaded` (queue full, or waited too long) or `shutting_down`. */
  readonly slot: Promise<void>;
  /** Gives up the place; the promise rejects. */
  leave(): void;
}

/** The slots of one tool. */
export class Slots {
  readonly #semaphore: Semaphore;
  readonly #timeoutMs: number;
  readonly #refusals: Refusals;
  /** Refuses one of the calls that wait. */
  readonly #waiting = new Set<(error: RequestError) => void>();
  #stopped = false;

  constructor({ concurrency, queue = 0, queueTimeoutMs = 1_000 }: ConcurrencyLimits, refusals: Refusals) {
    this.#semaphore = new Semaphore(concurrency, queue);
    this.#timeoutMs = queueTimeoutMs;
    this.#refusals = refusals;
  }

  /** Runs that have a slot. */
  get running(): number {
    return this.#semaphore.taken;
  }

  /** Calls that wait. */
  get queued(): number {
    return this.#semaphore.waiting;
  }

  /**
   * Takes a slot, which `release` gives back, or a place in the queue.
   *
   * @returns undefined when the slot is taken
   * @throws {@link RequestError} `shutting_down` once stopped
   */
  enter(): Waiting | undefined {
    if (this.#semaphore.tryTake() !== undefined) return undefined;
    if (this.#stopped) throw new RequestError("shutting_down");
    let leave = () => {};
    const slot = new Promise<void>((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(refuse);
      };
      const take = () => {
        end();
        resolve();
      };
      const refuse = (error: RequestError) => {
        end();
        this.#semaphore.leave(take);
        reject(error);
      };
      if (!this.#semaphore.wait(take)) throw this.#refusals.refuse("queueFull");
      const timer = setTimeout(() => refuse(this.#refusals.refuse("queueTimeout")), this.#timeoutMs);
      leave = () => refuse(new RequestError("overloaded"));
      this.#waiting.add(refuse);
    });
    return { slot, leave };
  }

  /** Gives a slot back: to the call that has waited longest, if any waits. */
  release(): void {
    // Slots have no numbers of their own.
    this.#semaphore.give(0);
  }

  /** Refuses the calls that wait, and further ones that would. */
  stop(): void {
    this.#stopped = true;
    for (const refuse of this.#waiting) refuse(new RequestError("shutting_down"));
  }
}
