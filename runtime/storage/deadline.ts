import { setTimeout as sleep } from "node:timers/promises";
import { onAbort } from "svc-client/internal/leader/waiting";
import { MAX_TIMEOUT_MS } from "svc-client/internal/wire/protocol";
import { requireInteger, StorageError } from "./storage-error.js";

/** Time limits in milliseconds, each 1 to 2,147,483,647. */
export interface Deadlines {
  /** For DNS, TCP connection and TLS handshake together: 5,000 by default. */
  readonly connectMs: number;
  /** Between two chunks of an answer: 10,000 by default. Does not apply to the wait for the start of an answer. */
  readonly progressMs: number;
  /** For the whole operation including retries: 60,000 by default. Keep it below the tool's `timeout()`. */
  readonly totalMs: number;
}

/** @throws {@link StorageError} `invalid_option` */
export function deadlinesOf({ connectMs = 5_000, progressMs = 10_000, totalMs = 60_000 }: Partial<Deadlines> = {}) {
  return {
    connectMs: requireInteger("connectMs", connectMs, 1, MAX_TIMEOUT_MS),
    progressMs: requireInteger("progressMs", progressMs, 1, MAX_TIMEOUT_MS),
    totalMs: requireInteger("totalMs", totalMs, 1, MAX_TIMEOUT_MS),
  };
}

/**
 * Time limit and abort signal of one operation. The signal fires with a {@link StorageError} `total_timeout` or
 * `aborted`.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #until: number;
  readonly #ignoreCaller: () => void;

  constructor(totalMs: number, caller?: AbortSignal) {
    this.#until = performance.now() + totalMs;
    const overdue = () =>
      new StorageError("total_timeout", `storage: the operation did not finish within ${totalMs} ms`);
    this.#timer = setTimeout(() => this.#controller.abort(overdue()), totalMs);
    const abort = () => {
      const cause: unknown = caller?.reason;
      this.#controller.abort(
        new StorageError("aborted", "storage: the operation was aborted by its signal", { cause }),
      );
    };
    this.#ignoreCaller = onAbort(caller === undefined ? [] : [caller], abort);
    if (caller?.aborted) abort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  msLeft(): number {
    return this.#until - performance.now();
  }

  /** Waits for a promise until the deadline. */
  race<T>(promise: Promise<T>): Promise<T> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const ignore = onAbort([signal], () => reject(signal.reason));
      promise.then(resolve, reject).finally(ignore);
    });
  }

  /** Waits for a number of milliseconds, at most until the deadline. */
  async pause(ms: number): Promise<void> {
    await sleep(Math.min(ms, MAX_TIMEOUT_MS), undefined, { signal: this.signal }).catch(() =>
      this.signal.throwIfAborted(),
    );
  }

  /** Ends the operation and aborts its remaining work. */
  end(): void {
    clearTimeout(this.#timer);
    this.#ignoreCaller();
    this.#controller.abort(new StorageError("aborted", "storage: the operation has ended"));
  }
}

export interface RetryOptions {
  /** Total number of attempts: 1 to 10, 3 by default. */
  readonly attempts?: number;
  /** Milliseconds before the second attempt: 200 by default; doubled for each later attempt, up to 5,000. */
  readonly backoffMs?: number;
}

/** Checked {@link RetryOptions}. */
export type Retries = Required<RetryOptions>;

/** @throws {@link StorageError} `invalid_option` */
export function retriesOf({ attempts = 3, backoffMs = 200 }: RetryOptions = {}): Retries {
  return {
    attempts: requireInteger("attempts", attempts, 1, 10),
    backoffMs: requireInteger("backoffMs", backoffMs, 0, 5_000),
  };
}
