/** Concurrency limit of one tool, with a bounded first-in-first-out queue of waiting calls. */

import { RequestError } from "../errors/request-error.js";
import type { ConcurrencyLimits } from "./load-options.js";
import type { Refusals } from "./refusals.js";

export const DEFAULT_QUEUE = 0;
export const DEFAULT_QUEUE_TIMEOUT_MS = 1_000;

export interface QueuedCall {
  /** Resolves when a slot is taken; rejects with `overloaded` (queue timeout) or `shutting_down`. */
  readonly slot: Promise<void>;
  /** Leaves the queue; the promise rejects. */
  leave(): void;
}

/** A call in the queue. Both functions remove it. */
interface Waiting {
  take(): void;
  refuse(error: RequestError): void;
}

/** Concurrency slots of one tool. */
export class Slots {
  readonly #limits: Required<ConcurrencyLimits>;
  readonly #refusals: Refusals;
  readonly #waiting = new Set<Waiting>();
  #running = 0;
  #stopped = false;

  constructor(
    { concurrency, queue = DEFAULT_QUEUE, queueTimeoutMs = DEFAULT_QUEUE_TIMEOUT_MS }: ConcurrencyLimits,
    refusals: Refusals,
  ) {
    this.#limits = { concurrency, queue, queueTimeoutMs };
    this.#refusals = refusals;
  }

  /** Number of runs that hold a slot. */
  get running(): number {
    return this.#running;
  }

  get queued(): number {
    return this.#waiting.size;
  }

  /**
   * Takes a slot or joins the queue. `release` returns the slot.
   *
   * @returns undefined if a slot was free
   * @throws {@link RequestError} `overloaded` if the queue is full, `shutting_down` if the call would have to wait after
   * `stop`
   */
  enter(): QueuedCall | undefined {
    const { concurrency, queue, queueTimeoutMs } = this.#limits;
    if (this.#running < concurrency) {
      this.#running++;
      return undefined;
    }
    if (this.#stopped) throw new RequestError("shutting_down");
    if (this.#waiting.size >= queue) throw this.#refusals.refuse("queueFull");
    let leave = () => {};
    const slot = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => waiting.refuse(this.#refusals.refuse("queueTimeout")), queueTimeoutMs);
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
      };
      const waiting: Waiting = {
        take: () => {
          end();
          resolve();
        },
        refuse: (error) => {
          end();
          reject(error);
        },
      };
      this.#waiting.add(waiting);
      leave = () => waiting.refuse(new RequestError("overloaded"));
    });
    return { slot, leave };
  }

  /** Returns a slot. The call that has waited longest gets it. */
  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#running--;
    else next.take();
  }

  /** Rejects the waiting calls, and later calls that would have to wait. */
  stop(): void {
    this.#stopped = true;
    for (const { refuse } of this.#waiting) refuse(new RequestError("shutting_down"));
  }
}
