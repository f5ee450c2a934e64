/** Calls of each leader, counted in windows of fixed length. A window begins with its first call. */
export class RateWindows {
  /** Open windows by leader, ordered by end. Ended windows are removed, so the map contains only recent callers. */
  readonly #windows = new Map<string, { readonly end: number; calls: number }>();

  readonly #calls: number;
  readonly #windowMs: number;

  constructor(calls: number, windowMs: number) {
    this.#calls = calls;
    this.#windowMs = windowMs;
  }

  /**
   * Counts a call of a verified leader.
   *
   * @returns 0 within the limit, otherwise the milliseconds until the window ends
   */
  count(leaderId: string): number {
    const now = performance.now();
    for (const [leader, { end }] of this.#windows) {
      if (end > now) break;
      this.#windows.delete(leader);
    }
    const window = this.#windows.get(leaderId);
    if (window === undefined) this.#windows.set(leaderId, { end: now + this.#windowMs, calls: 1 });
    else if (++window.calls > this.#calls) return window.end - now;
    return 0;
  }
}
