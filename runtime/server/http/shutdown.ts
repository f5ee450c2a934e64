/** The end of a server: from the word to stop to the last answer, within bounds (protocol.md section 8). */

import { checkedInteger } from "../../config/checked-integer.js";
import type { ServerLogger } from "../log/safe-logger.js";

/** How a server ends. Together, and with 4 s to spare, below the grace that the platform gives before it kills. */
export interface ShutdownOptions {
  /**
   * Milliseconds between the turn of readiness and the end of the listener, for load balancers to notice: 0 by default,
   * at most 600,000. Calls are served as ever, but each answer asks its caller to connect anew.
   */
  readonly readinessDelayMs?: number;
  /**
   * Milliseconds that requests have to end by themselves once nothing is accepted any more: 25,000 by default, at most
   * 3,600,000. Then the signals of running tools fire.
   */
  readonly drainMs?: number;
}

/** What became of the requests of a server that stopped. */
export interface ShutdownSummary {
  /** Milliseconds that it took. */
  readonly ms: number;
  /** Requests that had begun when the listener closed and got their answer. */
  readonly finished: number;
  /** Requests that got 503 `shutting_down` in its place, because their tool did not end before the drain limit. */
  readonly cut: number;
}

/** 5 s below the 30 s that Kubernetes gives by default. */
const DEFAULT_DRAIN_MS = 25_000;
/** Milliseconds that a tool has from its signal to its end. */
export const GRACE_MS = 2_000;
/** Milliseconds that callers have to send what they began, and, once all is answered, to read it. */
export const LINGER_MS = 2_000;

/**
 * The requests that wait for their answer.
 *
 * @typeParam R what the transport knows a request by
 */
export class InFlightRequests<R> {
  readonly #open = new Set<R>();
  readonly #waiting: (() => void)[] = [];
  #answered = 0;
  #cut = 0;

  /**
   * @param refuse answers a request 503 `shutting_down`
   * @param arrived whether a request is there to its last byte
   */
  constructor(
    private readonly refuse: (request: R) => void,
    private readonly arrived: (request: R) => boolean,
  ) {}

  get size(): number {
    return this.#open.size;
  }

  /** Requests that got an answer of their own. */
  get answered(): number {
    return this.#answered;
  }

  /** Requests that were running and got 503 `shutting_down` for an answer. */
  get cut(): number {
    return this.#cut;
  }

  /** A request that waits for its answer. */
  find(matches: (request: R) => boolean): R | undefined {
    for (const request of this.#open) if (matches(request)) return request;
    return undefined;
  }

  begin(request: R): void {
    this.#open.add(request);
  }

  /**
   * A request has come to its answer.
   *
   * @param cut whether that is 503 `shutting_down`
   * @returns false when it was refused before: nobody waits for this answer
   */
  end(request: R, cut: boolean): boolean {
    if (!this.#delete(request)) return false;
    if (cut) this.#cut++;
    else this.#answered++;
    return true;
  }

  /** Resolves when no request waits or the time is over; says which. */
  async none(ms: number): Promise<boolean> {
    if (this.#open.size === 0) return true;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
      this.#waiting.push(resolve);
    });
    clearTimeout(timer);
    return this.#open.size === 0;
  }

  /** Refuses the requests whose callers have not sent all of it. Nothing of theirs has run. */
  refuseUnsent(): void {
    for (const request of this.#open) {
      if (this.arrived(request)) continue;
      this.#delete(request);
      this.refuse(request);
    }
  }

  /** Refuses all that still wait. */
  refuseAll(): void {
    for (const request of this.#open) if (this.end(request, true)) this.refuse(request);
  }

  #delete(request: R): boolean {
    const was = this.#open.delete(request);
    if (this.#open.size === 0 && this.#waiting.length > 0) for (const wake of this.#waiting.splice(0)) wake();
    return was;
  }
}

/** What a server consists of, as far as its end goes. */
export interface ShutdownParts {
  readonly requests: Omit<InFlightRequests<never>, "begin" | "end" | "find">;
  readonly log: ServerLogger;
  /** Closes the listener and idle connections; resolves when the others are closed as well. */
  close(): Promise<void>;
  /** Fires the signals of running tools. */
  abortRuns(): void;
  /** Hangs up on everybody. */
  hangUp(): void;
  /** Lets go of everything else, last. */
  release(): void | Promise<void>;
}

/** Where a server is in its life, and the one way to its end. */
export class Shutdown {
  readonly #readinessDelayMs: number;
  /** Milliseconds that requests have to end by themselves. */
  readonly drainMs: number;
  #stopped: Promise<ShutdownSummary> | undefined;
  #closed = false;

  /** @throws RangeError for a time out of its range */
  constructor({ readinessDelayMs = 0, drainMs = DEFAULT_DRAIN_MS }: ShutdownOptions = {}) {
    this.#readinessDelayMs = checkedInteger("shutdown.readinessDelayMs", readinessDelayMs, 0, 600_000, "milliseconds");
    this.drainMs = checkedInteger("shutdown.drainMs", drainMs, 0, 3_600_000, "milliseconds");
  }

  /** Whether the server was told to stop: it is not ready any more, and answers ask callers to connect anew. */
  get stopping(): boolean {
    return this.#stopped !== undefined;
  }

  /** Whether new requests are turned away. */
  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Stops the server; whoever asks again gets the same end. Never rejects for what a request or a tool does.
   *
   * @param signal what it was told by, for the log
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
    await parts.release();
    const { answered, cut } = requests;
    const stopped = { ms: Math.round(performance.now() - started), finished: answered - before, cut };
    log.info(stopped, "stopped");
    return stopped;
  }

  async #drain({ requests, log, abortRuns }: ShutdownParts): Promise<void> {
    const unsent = setTimeout(() => requests.refuseUnsent(), Math.min(LINGER_MS, this.drainMs));
    const drained = await requests.none(this.drainMs);
    clearTimeout(unsent);
    if (drained) return;
    log.warn({ running: requests.size, drainMs: this.drainMs }, "the drain limit has passed: tools are told to end");
    abortRuns();
    if (await requests.none(GRACE_MS)) return;
    log.warn({ running: requests.size, graceMs: GRACE_MS }, "tools did not end: their callers are told 503");
    requests.refuseAll();
  }
}
