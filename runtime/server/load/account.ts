/** Counts the amounts of a limited resource that calls hold until their runs have ended. */

import type { AnswerMemory } from "../../answer-memory.js";
import { RequestError } from "../errors/request-error.js";
import type { LoadReason } from "./load-options.js";
import type { Refusals } from "./refusals.js";
import { type Holder, Shares } from "./shares.js";

/** Amounts held by calls. A call that exceeds the limit is rejected. */
export class Account extends Shares {
  readonly #reason: LoadReason;
  readonly #refusals: Refusals;

  /** @param reason reason under which rejected calls are counted */
  constructor(most: number, isOnly: (() => boolean) | undefined, reason: LoadReason, refusals: Refusals) {
    super(most, isOnly);
    this.#reason = reason;
    this.#refusals = refusals;
  }

  get inFlight(): number {
    return this.total;
  }

  /**
   * Takes an amount.
   *
   * @returns a function that releases it; call it once
   * @throws {@link RequestError} `overloaded`
   */
  enter(holder: Holder, amount = 1): () => void {
    this.#requireRoom(holder, amount);
    this.add(holder, amount);
    return () => this.add(holder, -amount);
  }

  /**
   * Opens a holding for the bytes of a body, or of the answers that a run reads. Takes nothing yet.
   *
   * @param length of the body in bytes
   * @throws {@link RequestError} `overloaded` if there is no room for it now; `payload_too_large` if it can never fit
   */
  open(holder: Holder, length = 0): Holding {
    const largest = this.mostOfOne;
    if (length > largest) throw new RequestError("payload_too_large", `the body is limited to ${largest} bytes`);
    // A holder can exceed its share when others enter later, and may still open an empty holding.
    if (length > 0) this.#requireRoom(holder, length);
    let held = 0;
    let isOver = false;
    return {
      most: largest,
      charge: (amount) => {
        if (isOver) return;
        this.#requireRoom(holder, amount);
        this.add(holder, amount);
        held += amount;
      },
      release: (amount = held) => {
        const released = Math.min(amount, held);
        this.add(holder, -released);
        held -= released;
      },
      end() {
        isOver = true;
        this.release();
      },
    };
  }

  #requireRoom(holder: Holder, amount: number): void {
    if (!this.allows(holder, amount)) throw this.#refusals.refuse(this.#reason);
  }
}

export interface Holding extends AnswerMemory {
  /** @throws {@link RequestError} `overloaded` if there is no room; then nothing is charged */
  charge(amount: number): void;
  /** Releases an amount; everything by default. */
  release(amount?: number): void;
  /** Releases everything. Later charges count nothing. */
  end(): void;
}
