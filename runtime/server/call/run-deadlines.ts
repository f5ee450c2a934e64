/** Deadlines of one common length: they expire in the order in which they were added. */

import { AsyncResource } from "node:async_hooks";

/** Something with a deadline. */
export interface Due {
  /** The deadline on the clock of `performance.now()`, in milliseconds. {@link RunDeadlines.advance} brings it nearer. */
  deadline: number;
  /** Called once the deadline has passed, unless it was cancelled. */
  onExpired(): void;
}

/**
 * The open deadlines, with one timer for the earliest of them. A timer for each deadline would cost several
 * microseconds per call.
 */
export class RunDeadlines {
  readonly #open = new Set<Due>();
  #timer: NodeJS.Timeout | undefined;
  /** A context of its own for the timer, which would otherwise run in the `AsyncLocalStorage` context of some call. */
  readonly #detached = new AsyncResource("svc-runtime deadlines");

  /** @param due its deadline is not earlier than that of any other that was added */
  add(due: Due): void {
    this.#open.add(due);
    if (this.#timer === undefined) this.#wait(due);
    else if (this.#open.size === 1) this.#timer.ref();
  }

  cancel(due: Due): void {
    // Without open deadlines the timer must not keep the process alive. Letting it expire is cheaper than clearing it.
    if (this.#open.delete(due) && this.#open.size === 0) this.#timer?.unref();
  }

  /** Brings all open deadlines nearer, for tests that let time pass. Those that have passed expire before it returns. */
  advance(ms: number): void {
    for (const due of this.#open) due.deadline -= ms;
    clearTimeout(this.#timer);
    this.#look();
  }

  #wait({ deadline }: Due): void {
    const start = () => setTimeout(() => this.#look(), Math.ceil(deadline - performance.now()));
    this.#timer ??= this.#detached.runInAsyncScope(start);
  }

  #look(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const due of this.#open) {
      if (due.deadline > now) {
        this.#wait(due);
        return;
      }
      this.#open.delete(due);
      due.onExpired();
    }
  }
}
