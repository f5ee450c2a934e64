/** Limit on the runs of a process, over all tools, signed or not, with any replay store. */

import type { Refusals } from "./refusals.js";
import { type Holder, Shares } from "./shares.js";

/** Default number of runs: 4,096 waiting runs of small calls take some 30 MB. */
export const MAX_RUNS = 4_096;

/** Runs that have not ended, those that wait for a slot and those past their deadline included. */
export class Runs {
  readonly #shares: Shares;

  /** @param most maximum number of runs, at least 2, because one holder gets at most half of them */
  constructor(
    readonly most: number,
    private readonly refusals: Refusals,
  ) {
    this.#shares = new Shares(most);
  }

  get inFlight(): number {
    return this.#shares.total;
  }

  /**
   * Counts a run.
   *
   * @returns a function that ends it, to be called once
   * @throws {@link RequestError} `overloaded`
   */
  enter(holder: Holder): () => void {
    if (!this.#shares.allows(holder, 1)) throw this.refusals.refuse("runs");
    this.#shares.add(holder, 1);
    return () => this.#shares.add(holder, -1);
  }
}
