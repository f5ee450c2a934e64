/** A signed request, with the history that keeps a repeat from running twice (protocol.md section 8). */

import type { Ran } from "../wire/error-codes.js";
import { repeatText } from "../wire/repeat.js";

/** The body of a signed request, and the signed hash. */
export interface Envelope {
  readonly body: Uint8Array;
  /** 32 bytes. */
  readonly inputHash: Uint8Array;
}

/**
 * A signed request. Sending it again is an exact retry. `JSON.stringify` gives its stored form; `readRequest` makes a request of
 * it.
 */
export interface SignedRequest extends Envelope {
  readonly headers: Readonly<Record<string, string>>;
  /** 64 bytes. */
  readonly leaderSignature: Uint8Array;
  /** 32 bytes. */
  readonly nonce: Uint8Array;
  /** The tool that it was signed for, where a client signed it. No other client sends it. */
  readonly fqn?: string;
  /** The history of the request. Copies of it share one. */
  readonly attempts: Attempts;
}

/** A name that no replay memory has. */
const NO_MEMORY = "unknown";

/** The attempts to send a request, in this process and, of a stored request, in others. */
export class Attempts {
  #memory: string | undefined;
  #since: number | undefined;
  /** The first attempt by the clock that does not step; undefined for one of another process. */
  #startedAt: number | undefined;
  #ran: Ran = "no";
  #running = 0;
  #isStored = false;

  /** The history of a request that another process may have sent. */
  static stored(memory: string | undefined, since: number): Attempts {
    const attempts = new Attempts();
    attempts.#memory = memory;
    attempts.#since = since;
    attempts.#ran = "maybe";
    attempts.#isStored = true;
    return attempts;
  }

  /** Whether the tool ran because of an attempt so far; `maybe` while one is running. */
  get ran(): Ran {
    return this.#ran === "no" && this.#running > 0 ? "maybe" : this.#ran;
  }

  /** The name of the replay memory that answered before the first attempt, where it was known. */
  get memory(): string | undefined {
    return this.#memory;
  }

  /** The time of the first attempt, or of storing the request before it, in milliseconds since 1970. */
  get since(): number | undefined {
    return this.#since;
  }

  /**
   * Fixes the replay memory for good, because another process may send the request from now on.
   *
   * @param memory the name of the server's replay memory, where it is known
   */
  store(memory: string | undefined): void {
    this.#fix(memory);
    this.#isStored = true;
  }

  /** All attempts name one replay memory, as long as one of them may have run the tool. */
  #fix(memory: string | undefined): void {
    if (this.#isStored || this.ran !== "no") return;
    this.#memory = memory;
    this.#since = Date.now();
    this.#startedAt = performance.now();
  }

  /** The greater age of two clocks: one stands still while the machine is suspended, the other may be set back. */
  get #ageMs(): number {
    const [now, started] = [performance.now(), this.#startedAt];
    const byDate = Date.now() - (this.#since ?? Date.now());
    return Math.max(0, Math.round(Math.max(byDate, started === undefined ? 0 : now - started)));
  }

  /**
   * Begins an attempt.
   *
   * @param memory the name of the server's replay memory, where it is known
   * @returns the text of the header `X-Svc-Replay-Memory`, if the attempt has one
   */
  begin(memory: string | undefined): string | undefined {
    const first = this.ran === "no";
    this.#fix(memory);
    this.#running++;
    const name = this.#memory ?? (first || memory === undefined ? undefined : NO_MEMORY);
    return name && repeatText({ memory: name, ageMs: this.#ageMs });
  }

  /**
   * Ends an attempt.
   *
   * @returns whether the tool ran because of any attempt
   */
  end(ran: Ran): Ran {
    this.#running--;
    if (this.#ran === "no" || ran === "yes") this.#ran = ran;
    return this.ran;
  }
}
