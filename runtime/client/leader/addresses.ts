/** The addresses of one tool, and the choice of the next address after a failed attempt. */

import type { SignatureHeaders } from "../wire/protocol.js";
import { isMemoryName } from "../wire/replay-memory-header.js";
import type { LeaderError } from "./error.js";
import type { Attempts } from "./request/signed-request.js";
import type { HttpResponse } from "./transport/transport.js";

export interface Address {
  readonly url: string;
  /** Name of the replay memory that answered last. */
  memory: string | undefined;
  /** Whether the server has answered. Only then does an undefined `memory` mean that it has no replay memory. */
  known: boolean;
}

/** Records and returns the name of the replay memory that answered. */
export function noteMemory(
  address: Address,
  { status, headers }: HttpResponse,
  { replayMemory }: SignatureHeaders,
): string | undefined {
  const text = headers[replayMemory.toLowerCase()];
  const name = typeof text === "string" && isMemoryName(text) ? text : undefined;
  if (name !== undefined) address.memory = name;
  // An answer of a gateway tells nothing about the tool's memory.
  if (text !== undefined || status === 200) address.known = true;
  return name;
}

export class Addresses {
  readonly #all: readonly Address[];
  /** The address that calls are sent to first. */
  #current: Address;

  /** @param urls at least one */
  constructor(urls: readonly string[]) {
    this.#all = urls.map((url) => ({ url, memory: undefined, known: false }));
    this.#current = this.#all[0] as Address;
  }

  get current(): Address {
    return this.#current;
  }

  select(index: number): Address {
    this.#current = this.#all[index] as Address;
    return this.#current;
  }

  /**
   * Selects another address that may get a request without the risk that the tool runs twice: the failed attempt
   * certainly ran nothing, or the server of the address has the same replay memory or rejects the request because it has
   * another one.
   *
   * @param tried addresses that have had the request
   * @param attempts undefined for an unsigned call
   * @returns whether there is such an address
   */
  selectNext(tried: ReadonlySet<Address>, { ran }: LeaderError, attempts: Attempts | undefined): boolean {
    const isShared = ({ memory }: Address) =>
      attempts?.memory !== undefined && (memory === undefined || memory === attempts.memory);
    const next = this.#all.find((address) => !tried.has(address) && (ran === "no" || isShared(address)));
    if (next !== undefined) this.#current = next;
    return next !== undefined;
  }
}
