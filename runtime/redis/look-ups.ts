/**
 * Limits the claims of a process that Redis is answering. A reply may contain a whole result, and Redis keeps replies in
 * its own memory until they are read: without a limit, retries of results could fill that memory.
 */

import type { Claim } from "svc-runtime/internal/redis";

/** Maximum number of claims that Redis is answering. With the largest results, their replies take 8.4 MB. */
export const MAX_LOOK_UPS = 32;

interface LookUp {
  readonly caller: Buffer;
  readonly claim: Promise<Claim>;
}

export class LookUps {
  /** The last look-up under way, by pair. */
  readonly #pairs = new Map<string, LookUp>();
  #running = 0;
  /** Look-ups that wait, by leader. The leader whose turn is next is the first one. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /**
   * Claims a pair. Concurrent claims of one pair share one reply. Leaders take turns if look-ups must wait.
   *
   * @param caller digest of the caller
   */
  async claim(pair: string, leader: string, caller: Buffer, claim: () => Promise<Claim>): Promise<Claim> {
    const earlier = this.#pairs.get(pair);
    if (earlier !== undefined) {
      const shared = sharedClaim(await earlier.claim, earlier.caller.equals(caller));
      if (shared !== undefined) return shared;
    }
    const own = { caller, claim: this.#inTurn(leader, claim) };
    this.#pairs.set(pair, own);
    try {
      return await own.claim;
    } finally {
      if (this.#pairs.get(pair) === own) this.#pairs.delete(pair);
    }
  }

  async #inTurn(leader: string, claim: () => Promise<Claim>): Promise<Claim> {
    if (this.#running < MAX_LOOK_UPS) this.#running++;
    else {
      await new Promise<void>((begin) => {
        const queue = this.#waiting.get(leader);
        if (queue === undefined) this.#waiting.set(leader, [begin]);
        else queue.push(begin);
      });
    }
    try {
      return await claim();
    } finally {
      this.#beginNext();
    }
  }

  #beginNext(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#running--;
      return;
    }
    const [leader, queue] = first;
    this.#waiting.delete(leader);
    queue.shift()?.();
    if (queue.length > 0) this.#waiting.set(leader, queue);
  }
}

/**
 * Outcome of a claim for another claim of the same pair that arrived meanwhile; undefined if it depends on the caller or
 * on the name of the replay memory in the request.
 */
function sharedClaim(claim: Claim, isSameCaller: boolean): Claim | undefined {
  if (claim.state === "run") return { state: "in-flight" };
  const isShared = claim.state === "completed" ? isSameCaller : claim.state !== "lost";
  return isShared ? claim : undefined;
}
