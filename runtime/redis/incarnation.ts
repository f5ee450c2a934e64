/**
 * Notices that the server has lost data, or is another one, and heals it: the runs and the recent writes of this process
 * (answers, claims given up) are registered again in the grace period, in which no process runs anything new
 * (docs/replay-store.md).
 *
 * The incarnation is a key with the identity of the server process. It is read on each new connection before anything
 * is claimed, each second, and within each claim.
 */

import type { RecentWrite, RedisLease } from "./lease.js";

/** What the store does at the server for the recovery. */
export interface IncarnationHost {
  /** The incarnation, made anew if the server is another one or has lost it, and the rest of the grace period. */
  hello(): Promise<{ readonly value: Buffer; readonly graceMs: number }>;
  /** Told of a loss before anything is registered again. */
  lost(): void;
  /** The incarnation is known, and everything is registered again. */
  recovered(): void;
}

/** Milliseconds for which writes are remembered: longer than the replication of a server that keeps up. */
const RECENT_MS = 10_000;
const MAX_RECENT_BYTES = 16 * 1024 * 1024;
/** Scripts under way at the same time. */
const BATCH = 64;

/** The state of the server as this process knows it. */
export class Incarnation {
  readonly leases = new Set<RedisLease>();
  /** Each with when it was written, by `performance.now()`, oldest first. */
  readonly #recent = new Map<RecentWrite, number>();
  #recentBytes = 0;
  #value: Buffer | undefined;
  #last: Buffer | undefined;
  #name: string | undefined;
  #graceUntil = 0;
  #checking: Promise<void> | undefined;
  /** Counts connections: what was learned over an earlier one does not hold. */
  #connection = 0;
  #mustRegister = false;

  readonly #host: IncarnationHost;
  readonly #reclaim: boolean;

  constructor(host: IncarnationHost, reclaim: boolean) {
    this.#host = host;
    this.#reclaim = reclaim;
  }

  /** The incarnation to claim under; undefined while it is not known. */
  get value(): Buffer | undefined {
    return this.#value;
  }

  /** The name of the replay memory: the random bytes of the last known incarnation. */
  get name(): string | undefined {
    return this.#name;
  }

  /** Milliseconds until runs can be claimed again after a loss. */
  get graceMs(): number {
    return Math.max(0, this.#graceUntil - performance.now());
  }

  /** Forgets the incarnation when the connection is lost. */
  forget(): void {
    this.#connection++;
    this.#value = undefined;
    this.#checking = undefined;
  }

  /** Remembers a write that has just succeeded, for the first time or again. */
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
   * Asks for the incarnation, and recovers when it is another one. Checks at the same time are one.
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

  /** Renews the leases that are due. */
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
      this.#mustRegister = this.#reclaim;
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

/** The random bytes of an incarnation, which are its last. */
export function nameOf(incarnation: Buffer): string {
  return incarnation.subarray(-16).toString("base64url");
}

/** Runs the work for all, some at a time; rejects with the first fault after its batch has ended. */
async function inBatches<T>(all: Iterable<T>, work: (each: T) => Promise<void>): Promise<void> {
  const items = [...all];
  for (let at = 0; at < items.length; at += BATCH) {
    const results = await Promise.allSettled(items.slice(at, at + BATCH).map(work));
    const failed = results.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined;
    if (failed !== undefined) throw failed.reason;
  }
}
