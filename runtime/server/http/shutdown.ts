/** Graceful shutdown with time limits (protocol.md section 8). */

import { checkedInteger } from "svc-client/internal/checked-integer";
import type { ErrorCode } from "svc-client/internal/wire/error-codes";
import { endsWithin } from "../../time-limit.js";
import type { ServerLogger } from "../log/safe-logger.js";

/**
 * Time limits of a shutdown. The defaults add up to 29 s, including 2 s for aborted tools and 2 s for callers;
 * Kubernetes allows 30 s.
 */
export interface ShutdownOptions {
  /**
   * Milliseconds between becoming not ready and closing the listener, so that load balancers can react: 0 by default,
   * at most 600,000. Calls are still served, but each answer closes its connection.
   */
  readonly readinessDelayMs?: number;
  /**
   * Milliseconds for requests to finish after the listener has closed: 25,000 by default, at most 3,600,000. Then the
   * abort signals of running tools fire.
   */
  readonly drainMs?: number;
}

export interface ShutdownSummary {
  /** Duration of the shutdown in milliseconds. */
  readonly ms: number;
  /** Number of requests, in flight when the listener closed, that finished with their own answer. */
  readonly finished: number;
  /** Number of requests that got 503 because they had not finished at the drain limit. */
  readonly cut: number;
  /** Number of requests in `cut` whose tool had started (`tool_invocation_interrupted`). */
  readonly interrupted: number;
}

export interface InFlight {
  /** Whether the request is running code of a tool. */
  runs: boolean;
  /** Called with the code of the 503 if a shutdown has answered the request. */
  refused?(code: ErrorCode): void;
}

/** Leaves 5 s of the 30 s that Kubernetes allows by default, for {@link GRACE_MS} and {@link LINGER_MS}. */
const DEFAULT_DRAIN_MS = 25_000;
/** Time for a tool to end after its abort signal, in milliseconds. */
export const GRACE_MS = 2_000;
/** Time for callers to finish sending a request, and to read the last response, in milliseconds. */
export const LINGER_MS = 2_000;
/** Minimum time for releasing resources, in milliseconds, even if the time limits are exceeded. */
const MIN_RELEASE_MS = 500;

/**
 * Requests that have no answer yet.
 *
 * @typeParam R the transport's handle of a request
 */
export class InFlightRequests<R> {
  readonly #open = new Map<R, InFlight>();
  readonly #waiting: (() => void)[] = [];
  /** Number of requests that got their own answer. */
  answered = 0;
  /** Number of requests that a shutdown answered with 503. */
  cut = 0;
  /** Number of requests in `cut` whose run was aborted. */
  interrupted = 0;

  readonly #refuse: (request: R, code: ErrorCode) => void;
  readonly #arrived: (request: R) => boolean;

  /**
   * @param refuse answers a request with 503 and this code
   * @param arrived whether a request has arrived completely
   */
  constructor(refuse: (request: R, code: ErrorCode) => void, arrived: (request: R) => boolean) {
    this.#refuse = refuse;
    this.#arrived = arrived;
  }

  get size(): number {
    return this.#open.size;
  }

  has(request: R): boolean {
    return this.#open.has(request);
  }

  begin(request: R, state: InFlight = { runs: false }): void {
    this.#open.set(request, state);
  }

  /**
   * Records that the answer to a request is ready.
   *
   * @param code error code of the answer, if any
   * @returns false if a shutdown has answered the request, so this answer must not be sent
   */
  end(request: R, code?: string): boolean {
    if (!this.#delete(request)) return false;
    const interrupted = code === "tool_invocation_interrupted";
    if (interrupted) this.interrupted++;
    if (interrupted || code === "shutting_down") this.cut++;
    else this.answered++;
    return true;
  }

  /** Waits up to `ms` milliseconds until no request is in flight. Resolves to whether that is so. */
  async none(ms: number): Promise<boolean> {
    return this.#open.size === 0 || endsWithin(ms, new Promise<void>((resolve) => this.#waiting.push(resolve)));
  }

  /** Answers requests that have not arrived completely, so no tool has run for them. */
  refuseUnsent(): void {
    for (const [request, { refused }] of this.#open) {
      if (this.#arrived(request)) continue;
      this.#delete(request);
      this.#refuse(request, "shutting_down");
      refused?.("shutting_down");
    }
  }

  refuseAll(): void {
    for (const [request, { runs, refused }] of this.#open) {
      const code = runs ? "tool_invocation_interrupted" : "shutting_down";
      this.end(request, code);
      this.#refuse(request, code);
      refused?.(code);
    }
  }

  #delete(request: R): boolean {
    const was = this.#open.delete(request);
    if (this.#open.size === 0 && this.#waiting.length > 0) for (const wake of this.#waiting.splice(0)) wake();
    return was;
  }
}

/** Parts of a server that a shutdown uses. */
export interface ShutdownParts {
  readonly requests: Omit<InFlightRequests<never>, "begin" | "end" | "has">;
  readonly log: ServerLogger;
  /** Closes the listener and idle connections. Resolves when all other connections are closed; never rejects. */
  close(): Promise<void>;
  /** Fires the abort signals of running tools. */
  abortRuns(): void;
  /** Closes all connections. */
  hangUp(): void;
  /** Releases all other resources, within the remaining milliseconds. Called last. */
  release(limitMs: number): void | Promise<void>;
}

export class Shutdown {
  readonly #readinessDelayMs: number;
  readonly #drainMs: number;
  #stopped: Promise<ShutdownSummary> | undefined;
  #closed = false;

  /** @throws RangeError if a time is outside its range */
  constructor({ readinessDelayMs = 0, drainMs = DEFAULT_DRAIN_MS }: ShutdownOptions = {}) {
    this.#readinessDelayMs = checkedInteger("shutdown.readinessDelayMs", readinessDelayMs, 0, 600_000, "milliseconds");
    this.#drainMs = checkedInteger("shutdown.drainMs", drainMs, 0, 3_600_000, "milliseconds");
  }

  /** Maximum number of milliseconds until the last request is answered. */
  get limitMs(): number {
    return this.#readinessDelayMs + this.#drainMs + GRACE_MS;
  }

  /** Whether a shutdown has begun: the server is not ready, and each answer closes its connection. */
  get stopping(): boolean {
    return this.#stopped !== undefined;
  }

  /** Whether new requests are rejected. */
  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Stops the server. Later calls return the same promise, which failing requests and tools never reject.
   *
   * @param signal name of the process signal, for the log
   */
  stop(parts: ShutdownParts, signal: string | undefined): Promise<ShutdownSummary> {
    this.#stopped ??= this.#stop(parts, signal);
    return this.#stopped;
  }

  async #stop(parts: ShutdownParts, signal: string | undefined): Promise<ShutdownSummary> {
    const { requests, log } = parts;
    const started = performance.now();
    log.info({ ...(signal !== undefined && { signal }), running: requests.size }, "stopping");
    if (this.#readinessDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#readinessDelayMs));
    this.#closed = true;
    const before = requests.answered;
    const closing = parts.close();
    await this.#drain(parts);
    const hangUp = setTimeout(parts.hangUp, LINGER_MS);
    await closing;
    clearTimeout(hangUp);
    await parts.release(Math.max(MIN_RELEASE_MS, this.limitMs + LINGER_MS - (performance.now() - started)));
    const { answered, cut, interrupted } = requests;
    const stopped = { ms: Math.round(performance.now() - started), finished: answered - before, cut, interrupted };
    log.info(stopped, "stopped");
    return stopped;
  }

  async #drain({ requests, log, abortRuns }: ShutdownParts): Promise<void> {
    const unsent = setTimeout(() => requests.refuseUnsent(), Math.min(LINGER_MS, this.#drainMs));
    const drained = await requests.none(this.#drainMs);
    clearTimeout(unsent);
    if (drained) return;
    log.warn(
      { running: requests.size, drainMs: this.#drainMs },
      "calls are still running at the end of the drain time; aborting their tools",
    );
    abortRuns();
    if (await requests.none(GRACE_MS)) return;
    log.warn(
      { running: requests.size, graceMs: GRACE_MS },
      "tools did not stop after their abort signal; answering their callers with 503",
    );
    requests.refuseAll();
  }
}
