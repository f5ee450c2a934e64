/** Runs of one tool at a time, and the calls that wait for one of them to end, first come first served. */

import { RequestError } from "../errors/request-error.js";
import type { ConcurrencyLimits } from "./load-options.js";
import type { Refusals } from "./refusals.js";

/** A call that waits. */
export interface Waiting {
  /** Resolves with a slot taken; rejects with a {@link RequestError}. */
  readonly slot: Promise<void>;
  /** Gives up the place; the promise rejects. */
  leave(): void;
}

interface Place {
  take(): void;
  refuse(error: RequestError): void;
}

/** The slots of one tool. */
export class Slots {
  /** Runs that have a slot. */
  running = 0;
  readonly #concurrency: number;
  readonly #queue: number;
  readonly #timeoutMs: number;
  readonly #refusals: Refusals;
  /** In order of arrival. */
  readonly #places = new Set<Place>();
  #stopped = false;

  constructor({ concurrency, queue = 0, queueTimeoutMs = 1_000 }: ConcurrencyLimits, refusals: Refusals) {
    this.#concurrency = concurrency;
    this.#queue = queue;
    this.#timeoutMs = queueTimeoutMs;
    this.#refusals = refusals;
  }

  /** Calls that wait. */
  get queued(): number {
    return this.#places.size;
  }

  /**
   * Takes a slot, which `release` gives back, or a place in the queue.
   *
   * @returns undefined when the slot is taken
   * @throws {@link RequestError} `overloaded` when the queue is full, `shutting_down` when there is none any more
   */
  enter(): Waiting | undefined {
    if (this.running < this.#concurrency) {
      this.running++;
      return undefined;
    }
    if (this.#stopped) throw new RequestError("shutting_down");
    if (this.#places.size >= this.#queue) throw this.#refusals.refuse("queueFull");
    return this.#wait();
  }

  #wait(): Waiting {
    let leave = () => {};
    const slot = new Promise<void>((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.#places.delete(place);
      };
      const place: Place = {
        take: () => {
          end();
          resolve();
        },
        refuse: (error) => {
          end();
          reject(error);
        },
      };
      const timer = setTimeout(() => place.refuse(this.#refusals.refuse("queueTimeout")), this.#timeoutMs);
      leave = () => place.refuse(new RequestError("overloaded"));
      this.#places.add(place);
    });
    return { slot, leave };
  }

  /** Gives a slot back: to the call that has waited longest, if any waits. */
  release(): void {
    const [next] = this.#places;
    if (next === undefined) this.running--;
    else next.take();
  }

  /** Refuses all that wait, and whoever would wait. */
  stop(): void {
    this.#stopped = true;
    for (const place of this.#places) place.refuse(new RequestError("shutting_down"));
  }
}
