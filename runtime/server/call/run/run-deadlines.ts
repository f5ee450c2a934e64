/** Deadlines of equal length, which expire in the order in which they were added. */

import { AsyncResource } from "node:async_hooks";

export interface Due {
  /** Deadline in milliseconds, on the clock of `performance.now()`. {@link RunDeadlines.advance} changes it. */
  deadline: number;
  /** Called when the deadline passes, unless it was cancelled. */
  onExpired(): void;
}

/**
 * Open deadlines, with one timer for the earliest. A timer for each deadline would cost several microseconds for each
 * call.
 */
export class RunDeadlines {
  readonly #open = new Set<Due>();
  #timer: NodeJS.Timeout | undefined;
  /** Detaches the timer from the `AsyncLocalStorage` context of the call that starts it. */
  readonly #detached = new AsyncResource("svc-runtime deadlines");

  /** @param due its deadline must not be earlier than that of any `due` added before */
  add(due: Due): void {
    this.#open.add(due);
    if (this.#timer === undefined) {
      // Not always `due`: it may have been added while another one expires.
      const [earliest = due] = this.#open;
      this.#wait(earliest);
    } else if (this.#open.size === 1) this.#timer.ref();
  }

  cancel(due: Due): void {
    // Without open deadlines, the timer must not keep the process alive. Letting it expire is cheaper than clearing it.
    if (this.#open.delete(due) && this.#open.size === 0) this.#timer?.unref();
  }

  /**
   * Brings all open deadlines closer, for tests. Deadlines that are then in the past expire before this method returns.
   */
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
