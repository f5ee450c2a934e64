/** Deadlines that all lie as far ahead when they begin, so that they pass in the order in which they began. */

import { AsyncResource } from "node:async_hooks";

/** What has a deadline. */
export interface Due {
  /** On the clock of `performance.now()`, in milliseconds. */
  readonly deadline: number;
  /** Called once the deadline has passed, unless it was met. */
  onExpired(): void;
}

/**
 * The deadlines that are not met yet, with one timer for the next of them: a timer for each costs a call several
 * microseconds.
 */
export class RunDeadlines {
  readonly #open = new Set<Due>();
  #timer: NodeJS.Timeout | undefined;
  /** The timer is nobody's: it would run in the context (`AsyncLocalStorage`) of the call that happened to start it. */
  readonly #nobody = new AsyncResource("svc-runtime deadlines");

  /** @param due not before any other that was added */
  add(due: Due): void {
    this.#open.add(due);
    if (this.#timer === undefined) this.#wait(due);
    else if (this.#open.size === 1) this.#timer.ref();
  }

  cancel(due: Due): void {
    // A timer that nobody needs keeps no process alive; it is cheaper to let it run out than to stop it.
    if (this.#open.delete(due) && this.#open.size === 0) this.#timer?.unref();
  }

  #wait({ deadline }: Due): void {
    const start = () => setTimeout(() => this.#look(), Math.ceil(deadline - performance.now()));
    this.#timer ??= this.#nobody.runInAsyncScope(start);
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
