/** History of the lifetimes (TTLs) of a tool's entries, which reloads change. */

/** Maximum number of earlier lifetimes. Beyond it, the two oldest are merged. */
const MAX_PAST = 8;

export class Lifetimes {
  /** Earlier lifetimes, oldest first, each with the last time at which it was used. */
  readonly #past: { ms: number; until: number }[] = [];
  #ms: number | undefined;
  #until = 0;

  /** Records the lifetime in force at a time, and returns it. */
  use(ms: number, now: number): number {
    if (ms !== this.#ms) this.#change(ms);
    this.#until = now;
    return ms;
  }

  /** The shortest lifetime in force at any time since `since`, the current one included. */
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
    // The merged entry gets the shorter lifetime: a repeat may be refused needlessly, but none runs twice.
    if (oldest !== undefined && next !== undefined) next.ms = Math.min(oldest.ms, next.ms);
  }
}
