/** A signed request, with the history that prevents a repeat from running twice (protocol.md section 8). */

import type { Ran } from "../../wire/error-codes.js";
import { repeatText } from "../../wire/repeat.js";

/** The body of a signed request, and the signed hash. */
export interface Envelope {
  readonly body: Uint8Array;
  /** 32 bytes. */
  readonly inputHash: Uint8Array;
}

/**
 * A signed request. Sending it again is an exact retry. `JSON.stringify` returns its stored form, which `readRequest`
 * reads.
 */
export interface SignedRequest extends Envelope {
  readonly headers: Readonly<Record<string, string>>;
  /** 64 bytes. */
  readonly leaderSignature: Uint8Array;
  /** 32 bytes. */
  readonly nonce: Uint8Array;
  /** The tool for which a client signed the request. Clients of other tools do not send it. */
  readonly fqn?: string;
  /** The history of the request, shared by its copies. */
  readonly attempts: Attempts;
}

/** A name that matches no replay memory. */
const NO_MEMORY = "unknown";

/** The attempts to send a request, in this process and, for a stored request, in others. */
export class Attempts {
  #memory: string | undefined;
  #since: number | undefined;
  /** Time of the first attempt by the monotonic clock; undefined if another process made it. */
  #startedAt: number | undefined;
  #ran: Ran = "no";
  #running = 0;
  #isStored = false;

  /** Creates the history of a request that another process may have sent. */
  static stored(memory: string | undefined, since: number): Attempts {
    const attempts = new Attempts();
    attempts.#memory = memory;
    attempts.#since = since;
    attempts.#ran = "maybe";
    attempts.#isStored = true;
    return attempts;
  }

  /** Whether any attempt has run the tool; `maybe` while one is in progress. */
  get ran(): Ran {
    return this.#ran === "no" && this.#running > 0 ? "maybe" : this.#ran;
  }

  /** The name of the replay memory before the first attempt, if known. */
  get memory(): string | undefined {
    return this.#memory;
  }

  /** The time of the first attempt, or of storing the request if that was earlier, in milliseconds since 1970. */
  get since(): number | undefined {
    return this.#since;
  }

  /**
   * Fixes the replay memory, because from now on another process may send the request.
   *
   * @param memory the name of the server's replay memory, where it is known
   */
  store(memory: string | undefined): void {
    this.#fix(memory);
    this.#isStored = true;
  }

  /** Fixes the replay memory named by all attempts while one of them may have run the tool. */
  #fix(memory: string | undefined): void {
    if (this.#isStored || this.ran !== "no") return;
    this.#memory = memory;
    this.#since = Date.now();
    this.#startedAt = performance.now();
  }

  /** The greater age by two clocks: the monotonic one stops while the machine is suspended, the other may be set back. */
  get #ageMs(): number {
    const [now, started] = [performance.now(), this.#startedAt];
    const byDate = Date.now() - (this.#since ?? Date.now());
    return Math.max(0, Math.round(Math.max(byDate, started === undefined ? 0 : now - started)));
  }

  /**
   * Begins an attempt.
   *
   * @param memory the name of the server's replay memory, where it is known
   * @returns the value of the header `X-Svc-Replay-Memory`, if the attempt sends one
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
   * @returns whether any attempt has run the tool
   */
  end(ran: Ran): Ran {
    this.#running--;
    if (this.#ran === "no" || ran === "yes") this.#ran = ran;
    return this.ran;
  }
}
