/** The lifetimes (TTLs) by which the entries of a tool have expired, since reloads change them. */

/** Number of earlier lifetimes that are kept apart. */
const MAX_PAST = 8;

export class Lifetimes {
  /** Earlier lifetimes, oldest first, each with the last time at which it was used. */
  readonly #past: { ms: number; until: number }[] = [];
  #ms: number | undefined;
  #until = 0;

  /** Notes that entries expire by a lifetime at a time, and returns the lifetime. */
  use(ms: number, now: number): number {
    if (ms !== this.#ms) this.#change(ms);
    this.#until = now;
    return ms;
  }

  /** The shortest lifetime that was used at any time from `since` on, the current one included. */
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
    // The shorter of both for the time of both: a repeat may be refused needlessly, but none runs twice.
    if (oldest !== undefined && next !== undefined) next.ms = Math.min(oldest.ms, next.ms);
  }
}
