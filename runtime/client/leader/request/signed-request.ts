/** Signed request, with the history that prevents a repeat from running twice (protocol.md section 8). */

import type { Ran } from "../../wire/error-codes.js";
import { repeatText } from "../../wire/replay-memory-header.js";

/** Body of a signed request, and the hash that is signed. */
export interface Envelope {
  readonly body: Uint8Array;
  /** 32 bytes. */
  readonly inputHash: Uint8Array;
}

/**
 * A signed request. Sending it again is an exact retry. `JSON.stringify` returns a form that can be stored and read by
 * `readRequest`.
 */
export interface SignedRequest extends Envelope {
  readonly headers: Readonly<Record<string, string>>;
  /** 64 bytes. */
  readonly leaderSignature: Uint8Array;
  /** 32 bytes. */
  readonly nonce: Uint8Array;
  /** Tool for which a client signed the request. Clients of other tools reject it. */
  readonly fqn?: string;
  /** History of the request, shared by its copies. */
  readonly attempts: Attempts;
}

/** Name that matches no replay memory. */
const NO_MEMORY = "unknown";

/** Attempts to send a request, in this process and, for a stored request, in others. */
export class Attempts {
  #memory: string | undefined;
  #since: number | undefined;
  /** Time of the first attempt on the monotonic clock; undefined if another process made it. */
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

  /** Whether an attempt has run the tool; `maybe` while an attempt is in progress. */
  get ran(): Ran {
    return this.#ran === "no" && this.#running > 0 ? "maybe" : this.#ran;
  }

  /** Name of the replay memory before the first attempt, if known. */
  get memory(): string | undefined {
    return this.#memory;
  }

  /** Time of the first attempt, or of storing the request if that was earlier, in milliseconds since 1970. */
  get since(): number | undefined {
    return this.#since;
  }

  /**
   * Fixes the replay memory, because another process may send the request from now on.
   *
   * @param memory name of the server's replay memory, if known
   */
  store(memory: string | undefined): void {
    this.#fix(memory);
    this.#isStored = true;
  }

  /** Fixes the replay memory that all attempts name, unless one of them may already have run the tool. */
  #fix(memory: string | undefined): void {
    if (this.#isStored || this.ran !== "no") return;
    this.#memory = memory;
    this.#since = Date.now();
    this.#startedAt = performance.now();
  }

  /**
   * Age by the clock that shows more: the monotonic clock stops while the machine is suspended, the other may be set
   * back.
   */
  get #ageMs(): number {
    const [now, started] = [performance.now(), this.#startedAt];
    const byDate = Date.now() - (this.#since ?? Date.now());
    return Math.max(0, Math.round(Math.max(byDate, started === undefined ? 0 : now - started)));
  }

  /**
   * Begins an attempt.
   *
   * @param memory name of the server's replay memory, if it has one and the name is known
   * @param isKnown whether the server has answered, so that an undefined `memory` means that it has none
   * @returns value of the header `X-Svc-Replay-Memory`, if the attempt sends one
   */
  begin(memory: string | undefined, isKnown: boolean): string | undefined {
    const first = this.ran === "no";
    this.#fix(memory);
    this.#running++;
    const name = this.#memory ?? (first || (isKnown && memory === undefined) ? undefined : NO_MEMORY);
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

/** @throws TypeError if a client of the tool `tool` cannot send the request */
export function checkRequest(request: SignedRequest, tool: string): void {
  const { attempts, body, leaderSignature, nonce, fqn = tool }: SignedRequest = Object(request);
  const isWhole = [body, leaderSignature, nonce].every((each) => each instanceof Uint8Array);
  if (!(attempts instanceof Attempts) || !isWhole) {
    throw new TypeError("request: expected a request returned by `sign` or `readRequest`, got another value");
  }
  if (fqn !== tool) throw new TypeError(`request: expected one signed for ${tool}, got one signed for ${fqn}`);
}
