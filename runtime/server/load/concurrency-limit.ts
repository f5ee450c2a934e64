/** Concurrency limit of one tool, with a bounded first-in-first-out queue of waiting calls. */

import { RequestError } from "../errors/request-error.js";
import type { ConcurrencyLimits } from "./load-options.js";
import type { Refusals } from "./refusals.js";
import { Semaphore } from "./semaphore.js";

export interface QueuedCall {
  /** Resolves when a slot is taken; rejects with `overloaded` (queue full, or queue timeout) or `shutting_down`. */
  readonly slot: Promise<void>;
  /** Leaves the queue; the promise rejects. */
  leave(): void;
}

/** Concurrency slots of one tool. */
export class Slots {
  readonly #semaphore: Semaphore;
  readonly #timeoutMs: number;
  readonly #refusals: Refusals;
  /** Functions that reject the waiting calls. */
  readonly #waiting = new Set<(error: RequestError) => void>();
  #stopped = false;

  constructor({ concurrency, queue = 0, queueTimeoutMs = 1_000 }: ConcurrencyLimits, refusals: Refusals) {
    this.#semaphore = new Semaphore(concurrency, queue);
    this.#timeoutMs = queueTimeoutMs;
    this.#refusals = refusals;
  }

  /** Number of runs that hold a slot. */
  get running(): number {
    return this.#semaphore.taken;
  }

  get queued(): number {
    return this.#semaphore.waiting;
  }

  /**
   * Takes a slot or joins the queue. `release` returns the slot.
   *
   * @returns undefined if a slot was free
   * @throws {@link RequestError} `shutting_down` after `stop`
   */
  enter(): QueuedCall | undefined {
    if (this.#semaphore.tryTake()) return undefined;
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

  /** Returns a slot. The call that has waited longest gets it. */
  release(): void {
    this.#semaphore.give();
  }

  /** Rejects the waiting calls, and later calls that would have to wait. */
  stop(): void {
    this.#stopped = true;
    for (const refuse of this.#waiting) refuse(new RequestError("shutting_down"));
  }
}
