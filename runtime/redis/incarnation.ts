/**
 * Detects that the Redis server has lost data or is another server, and recovers. During a grace period, in which no
 * process starts new runs, each process writes its runs and recent writes (answers, released claims) again
 * (docs/replay-store.md).
 *
 * The incarnation is a key that identifies the server process. It is read on each new connection before the first
 * claim, every second, and in each claim.
 */

import type { RecentWrite, RedisLease } from "./lease.js";

/** Operations of the store that are needed for recovery. */
export interface IncarnationHost {
  /**
   * Returns the incarnation and the remaining grace period. Creates a new incarnation if the server is another one or
   * has lost it.
   */
  hello(): Promise<{ readonly value: Buffer; readonly graceMs: number }>;
  /** Called after a loss, before anything is written again. */
  lost(): void;
  /** Called when the incarnation is known and everything has been written again. */
  recovered(): void;
}

/** Milliseconds during which writes are remembered; exceeds the replication lag of a healthy server. */
const RECENT_MS = 10_000;
const MAX_RECENT_BYTES = 16 * 1024 * 1024;
/** Maximum number of scripts that run at the same time. */
const BATCH = 64;

/** State of the server, as far as this process knows it. */
export class Incarnation {
  readonly leases = new Set<RedisLease>();
  /** Recent writes with their time on the `performance.now()` clock, oldest first. */
  readonly #recent = new Map<RecentWrite, number>();
  #recentBytes = 0;
  #value: Buffer | undefined;
  #last: Buffer | undefined;
  #name: string | undefined;
  #graceUntil = 0;
  #checking: Promise<void> | undefined;
  /** Number of the connection. Results from an earlier connection are ignored. */
  #connection = 0;
  #mustRegister = false;

  readonly #host: IncarnationHost;

  constructor(host: IncarnationHost) {
    this.#host = host;
  }

  /** Incarnation for claims; undefined while it is unknown. */
  get value(): Buffer | undefined {
    return this.#value;
  }

  /** Name of the replay memory: the random bytes of the last known incarnation. */
  get name(): string | undefined {
    return this.#name;
  }

  /** Milliseconds until runs can be claimed again after a loss. */
  get graceMs(): number {
    return Math.max(0, this.#graceUntil - performance.now());
  }

  /** Forgets the incarnation; called when the connection is lost. */
  forget(): void {
    this.#connection++;
    this.#value = undefined;
    this.#checking = undefined;
  }

  /** Remembers a write that has just succeeded. */
  remember(write: RecentWrite): void {
    const now = performance.now();
    this.#forgetWrite(write);
    this.#recent.set(write, now);
    this.#recentBytes += write.bytes;
    for (const [oldest, writtenAt] of this.#recent) {
      if (this.#recentBytes <= MAX_RECENT_BYTES && now - writtenAt <= RECENT_MS) break;
      this.#forgetWrite(oldest);
    }
  }

  /**
   * Reads the incarnation, and recovers if it has changed. Concurrent checks share one request.
   *
   * @throws RedisFault
   */
  check(): Promise<void> {
    if (this.#checking !== undefined) return this.#checking;
    const checking = this.#check().finally(() => {
      if (this.#checking === checking) this.#checking = undefined;
    });
    this.#checking = checking;
    return checking;
  }

  async renewDue(): Promise<void> {
    await inBatches(this.leases, (lease) => lease.renew(false));
  }

  async #check(): Promise<void> {
    const connection = this.#connection;
    const { value, graceMs } = await this.#host.hello();
    if (connection !== this.#connection) return;
    this.#graceUntil = performance.now() + Math.max(0, graceMs);
    if (this.#last !== undefined && !this.#last.equals(value)) {
      this.#host.lost();
      this.#mustRegister = true;
    }
    this.#last = value;
    this.#name = nameOf(value);
    const isNew = this.#value === undefined;
    this.#value = value;
    if (this.#mustRegister) {
      await this.#registerAgain();
      if (connection !== this.#connection) return;
      this.#mustRegister = false;
    } else if (!isNew) return;
    this.#host.recovered();
  }

  async #registerAgain(): Promise<void> {
    await inBatches(this.leases, (lease) => lease.renew(true));
    const now = performance.now();
    const recent = [...this.#recent].filter(([, writtenAt]) => now - writtenAt <= RECENT_MS);
    await inBatches(recent, ([write]) => write.writeAgain());
  }

  #forgetWrite(write: RecentWrite): void {
    if (this.#recent.delete(write)) this.#recentBytes -= write.bytes;
  }
}

/** Random bytes at the end of an incarnation. */
export function nameOf(incarnation: Buffer): string {
  return incarnation.subarray(-16).toString("base64url");
}

/** Runs work in batches. Rejects with the first error after its batch has ended. */
async function inBatches<T>(all: Iterable<T>, work: (each: T) => Promise<void>): Promise<void> {
  const items = [...all];
  for (let at = 0; at < items.length; at += BATCH) {
    const results = await Promise.allSettled(items.slice(at, at + BATCH).map(work));
    const failed = results.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined;
    if (failed !== undefined) throw failed.reason;
  }
}
