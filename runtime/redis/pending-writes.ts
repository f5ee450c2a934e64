/**
 * Writes of a store: ends of runs, and releases of claims whose reply was lost. One loop retries failed writes until
 * they succeed or become pointless. If there are too many, the oldest is dropped. That is safe: its pair stays in
 * flight until its lease and TTL have expired.
 */

import { RedisFault } from "./connection.js";

/** A write that may be retried. */
export interface PendingWrite {
  readonly bytes: number;
  /** Time after which the write is pointless, on the `performance.now()` clock. */
  readonly until: number;
  /** Earliest time of the next attempt, on the `performance.now()` clock. */
  readonly notBefore?: number;
  /** Rejects with {@link RedisFault} if the write must be retried. */
  write(): Promise<unknown>;
}

const MAX_ENTRIES = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** Maximum number of writes at the same time. */
const BATCH = 32;
const MIN_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 2_000;

export class PendingWrites {
  #queue = new Set<PendingWrite>();
  #bytes = 0;
  #backoff = MIN_BACKOFF_MS;
  #timer: NodeJS.Timeout | undefined;
  #draining: Promise<void> | undefined;
  #stopped = false;
  #finishing = false;
  readonly #first = new Set<Promise<unknown>>();

  readonly #canWrite: () => boolean;
  readonly #dropped: (count: number) => void;
  readonly #failed: (error: unknown) => void;

  /**
   * @param canWrite whether an attempt may succeed now
   * @param dropped called with the number of writes that were given up
   * @param failed called with an error that retries cannot fix
   */
  constructor(canWrite: () => boolean, dropped: (count: number) => void, failed: (error: unknown) => void) {
    this.#canWrite = canWrite;
    this.#dropped = dropped;
    this.#failed = failed;
  }

  get size(): number {
    return this.#queue.size;
  }

  /** Tries a write once. Returns undefined if it failed and was queued. */
  async attempt(write: Omit<PendingWrite, "notBefore">): Promise<unknown> {
    if (this.#canWrite()) {
      const attempt = write.write();
      this.#first.add(attempt);
      try {
        return await attempt;
      } catch (error) {
        if (!(error instanceof RedisFault)) throw error;
        // `stop` has already counted this write as dropped.
        if (this.#stopped) return undefined;
      } finally {
        this.#first.delete(attempt);
      }
    }
    this.add(write);
    return undefined;
  }

  /**
   * Queues a write for retry. After {@link stop}, drops it. While the store closes, a write whose `notBefore` is in the
   * future is not queued.
   */
  add(write: PendingWrite): void {
    if (this.#finishing && (write.notBefore ?? 0) > performance.now()) return;
    if (this.#stopped) {
      this.#dropped(1);
      return;
    }
    this.#queue.add(write);
    this.#bytes += write.bytes;
    let dropped = 0;
    for (const oldest of this.#queue) {
      if (this.#queue.size <= MAX_ENTRIES && this.#bytes <= MAX_BYTES) break;
      this.#delete(oldest);
      dropped++;
    }
    if (dropped > 0) this.#dropped(dropped);
    this.#schedule();
  }

  /** Retries all writes now; called when the store is writable again. */
  kick(): Promise<void> {
    this.#unschedule();
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined;
      this.#schedule();
    });
    return this.#draining;
  }

  /** Retries all writes, including those that wait. Resolves when none is left or in flight, or after {@link stop}. */
  async done(): Promise<void> {
    this.#finishing = true;
    while (this.#first.size > 0 || this.#queue.size > 0) {
      await Promise.allSettled(this.#first);
      await this.kick();
      if (this.#queue.size > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Stops the loop. Returns the number of remaining writes, including those in flight. */
  stop(): number {
    this.#stopped = true;
    this.#unschedule();
    const size = this.#queue.size + this.#first.size;
    this.#first.clear();
    this.#queue.clear();
    this.#bytes = 0;
    return size;
  }

  #schedule(): void {
    if (this.#draining !== undefined || this.#queue.size === 0) return;
    this.#timer ??= setTimeout(() => void this.kick(), this.#backoff).unref();
  }

  #unschedule(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #drain(): Promise<void> {
    this.#dropOutdated();
    const now = performance.now();
    const due = [...this.#queue].filter(({ notBefore = 0 }) => this.#finishing || notBefore <= now);
    for (let at = 0; at < due.length; at += BATCH) {
      const batch = due.slice(at, at + BATCH);
      const results = this.#canWrite() ? await Promise.all(batch.map((write) => this.#attempt(write))) : [false];
      if (!results.every(Boolean)) {
        this.#backoff = Math.min(this.#backoff * 2, MAX_BACKOFF_MS);
        return;
      }
      this.#backoff = MIN_BACKOFF_MS;
    }
  }

  /** Tries a write. Resolves to whether it needs no further attempt. */
  async #attempt(write: PendingWrite): Promise<boolean> {
    try {
      await write.write();
    } catch (error) {
      if (error instanceof RedisFault) {
        // Moved to the end, so that a write that the server always rejects does not block the others.
        if (this.#queue.delete(write)) this.#queue.add(write);
        return false;
      }
      this.#failed(error);
    }
    this.#delete(write);
    return true;
  }

  #dropOutdated(): void {
    const now = performance.now();
    let dropped = 0;
    for (const write of this.#queue) {
      if (write.until > now) continue;
      this.#delete(write);
      dropped++;
    }
    if (dropped > 0) this.#dropped(dropped);
  }

  #delete(write: PendingWrite): void {
    if (this.#queue.delete(write)) this.#bytes -= write.bytes;
  }
}
