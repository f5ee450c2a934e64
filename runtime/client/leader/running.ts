import { type CallState, newCall } from "./call.js";
import { LeaderError } from "./error.js";
import type { CallOptions } from "./options.js";

/** Running calls of a client, and its end. */
export class Running {
  readonly #promises = new Set<Promise<unknown>>();
  readonly #cut = new AbortController();
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Begins a call, which {@link destroy} aborts.
   *
   * @throws {@link LeaderError} `client_closed`; TypeError, RangeError for invalid options
   */
  begin(options: CallOptions, defaultMs: number): CallState {
    if (this.#isClosed) throw new LeaderError("client_closed", "the client was closed before this call");
    return newCall(options, defaultMs, this.#cut.signal);
  }

  /** Adds a promise for which {@link close} waits. */
  track<T>(promise: Promise<T>): Promise<T> {
    this.#promises.add(promise);
    const end = () => this.#promises.delete(promise);
    promise.then(end, end);
    return promise;
  }

  /** Rejects new calls and waits for running ones, which are aborted after a time. */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosed = true;
    if (this.#promises.size > 0) {
      const timer = setTimeout(() => this.destroy(), timeoutMs);
      await Promise.allSettled(this.#promises);
      clearTimeout(timer);
    }
    this.destroy();
  }

  /** Rejects new calls and aborts running ones. */
  destroy(): void {
    this.#isClosed = true;
    this.#cut.abort(new LeaderError("aborted", "the client was destroyed"));
  }
}
