/** History of the lifetime (TTL) of a tool's entries, which a reload can change. */

/** Maximum number of earlier lifetimes. If there are more, the two oldest are merged. */
const MAX_PAST = 8;

export class Lifetimes {
  /** Earlier lifetimes, oldest first, each with the time until which it was used. */
  readonly #past: { ms: number; until: number }[] = [];
  #ms: number | undefined;
  #until = 0;

  /** Records the lifetime that applies at a time, and returns it. */
  use(ms: number, now: number): number {
    if (ms !== this.#ms) this.#change(ms);
    this.#until = now;
    return ms;
  }

  /** Shortest lifetime that has applied since a time, including the current one. */
  shortestSince(since: number): number {
    let shortest = this.#ms ?? 0;
    for (const { ms, until } of this.#past) if (until >= since && ms < shortest) shortest = ms;
    return shortest;
  }

  #change(ms: number): void {
    if (this.#ms !== undefined) this.#past.push({ ms: this.#ms, until: this.#until });
    this.#ms = ms;
    const oldest = this.#past.length > MAX_PAST ? this.#past.shift() : undefined;
    const [next] = this.#past;
    // The merged entry has the shorter lifetime: a repeated request may be rejected needlessly, but cannot run twice.
    if (oldest !== undefined && next !== undefined) next.ms = Math.min(oldest.ms, next.ms);
  }
}
