/** The right to run once, held in Redis; and its end, which is repeated until it is written. */

import type { CachedAnswer, ReplayLease } from "../server/replay/store.js";
import { type CallKeys, encodeRecord } from "./record.js";
import { END, SCRIPTS, type Script } from "./scripts.js";

/** What a lease needs of its store. */
export interface LeaseHost {
  /** Runs a script whose reply is one of {@link END}; another reply is a fault. */
  run(script: Script, ...args: readonly (Buffer | string | number)[]): Promise<number>;
  /** Tries a write once; what fails is repeated in the background, at most for some milliseconds. Undefined then. */
  write(write: () => Promise<unknown>, bytes: number, forMs: number): Promise<unknown>;
  ttlMs(tool: string): number;
  /** Notes the lifetime of a record before it is written. */
  note(key: Buffer, ms: number): Promise<void>;
  /** The run has ended; `end` is there when its answer is kept, for the case that the server loses it. */
  ended(lease: RedisLease, end: RunEnd | undefined): void;
  /** Another process runs, or has run, what this one ran. */
  conflict(claim: ClaimOfRun): void;
  renewed(): void;
  restored(): void;
  reclaimed(): void;
}

/** One claim. */
export interface ClaimOfRun {
  readonly tool: string;
  readonly keys: CallKeys;
  /** Input hash ‖ token: the value of the marker. */
  readonly mark: Buffer;
  readonly token: Buffer;
  readonly caller: Buffer;
  readonly leaseMs: number;
  readonly ttlMs: number;
  /** Whether a conflict was counted: once for each claim. */
  conflicting?: boolean;
}

const FORBIDDEN = 403;

/** A lease in Redis. */
export class RedisLease implements ReplayLease {
  #state: "running" | "held" | "ended" = "running";
  #held: RunEnd | undefined;
  /** When the marker or the held record was last given its whole lifetime, by `performance.now()`. */
  #renewedAt = performance.now();

  constructor(
    private readonly host: LeaseHost,
    readonly claim: ClaimOfRun,
  ) {}

  async complete(answer: CachedAnswer): Promise<boolean> {
    if (this.#state !== "running") return false;
    this.#state = "ended";
    const end = new RunEnd(this.host, this.claim, answer, this.host.ttlMs(this.claim.tool));
    this.host.ended(this, end);
    return end.write();
  }

  async timeOut(answer: CachedAnswer): Promise<boolean> {
    if (this.#state !== "running") return false;
    this.#state = "held";
    this.#held = new RunEnd(this.host, this.claim, answer, this.#lifetimeMs);
    return this.#held.write();
  }

  async settle(): Promise<boolean> {
    if (this.#state !== "held") return false;
    this.#state = "ended";
    const held = this.#held as RunEnd;
    const settled = held.setLifetime(this.host.ttlMs(this.claim.tool));
    // Only now its age counts from here, so that it is kept among the recent ends.
    this.host.ended(this, held);
    return settled;
  }

  async release(): Promise<boolean> {
    if (this.#state !== "running") return false;
    this.#state = "ended";
    this.host.ended(this, undefined);
    const { keys, mark } = this.claim;
    const write = () => this.host.run(SCRIPTS.release, keys.marker, mark);
    return (await this.host.write(write, mark.length, this.#lifetimeMs)) !== 0;
  }

  /** Renews the lease when a third of it has passed; after a loss of data at once. */
  async renew(lost: boolean): Promise<void> {
    if (!lost && performance.now() - this.#renewedAt < this.claim.leaseMs / 3) return;
    this.#renewedAt = performance.now();
    this.host.renewed();
    if (this.#state === "running") await this.#renewMarker();
    else if (this.#state === "held") await (this.#held as RunEnd).renew(lost);
  }

  /** Lease and TTL: how long the claim lasts without a renewal. */
  get #lifetimeMs(): number {
    return this.claim.leaseMs + this.claim.ttlMs;
  }

  async #renewMarker(): Promise<void> {
    const { keys, mark } = this.claim;
    const reply = await this.host.run(SCRIPTS.renew, keys.marker, keys.record, mark, this.#lifetimeMs);
    if (reply === END.restored) this.host.reclaimed();
    if (reply === END.conflict) this.host.conflict(this.claim);
  }
}

/** The end of a run with the answer that is kept. */
export class RunEnd {
  readonly bytes: number;
  readonly #record: Buffer;
  readonly #isForbidden: boolean;
  #endedAt = performance.now();
  #written = false;

  constructor(
    private readonly host: LeaseHost,
    private readonly claim: ClaimOfRun,
    answer: CachedAnswer,
    private lifetimeMs: number,
  ) {
    this.#isForbidden = answer.status === FORBIDDEN;
    this.#record = encodeRecord(answer, claim.token, claim.caller);
    this.bytes = this.#record.length + 512;
  }

  /** Milliseconds since the end. */
  get age(): number {
    return performance.now() - this.#endedAt;
  }

  /**
   * Writes the record. A write that does not succeed in time is repeated in the background and counts as taken.
   *
   * @returns false when another process has ended, or runs, the pair
   */
  async write(): Promise<boolean> {
    const reply = await this.host.write(() => this.#write(), this.bytes, this.claim.leaseMs + this.claim.ttlMs);
    return reply !== END.conflict;
  }

  /** Writes the record again after a loss of data. */
  async writeAgain(): Promise<void> {
    await this.#write();
  }

  /** Sets how long the record lives from now on. */
  async setLifetime(ms: number): Promise<boolean> {
    this.lifetimeMs = ms;
    this.#endedAt = performance.now();
    // A record that is still to be written is written with the new lifetime.
    if (!this.#written) return true;
    return (await this.host.write(() => this.#touch(), 64, ms)) !== 0;
  }

  /** Renews a held record; after a loss of data it is written again. */
  async renew(lost: boolean): Promise<void> {
    this.#endedAt = performance.now();
    if (lost) await this.#write();
    else await this.#touch();
  }

  async #write(): Promise<unknown> {
    const { keys, mark } = this.claim;
    const { lifetimeMs } = this;
    await this.host.note(keys.lifetimes, lifetimeMs);
    const left = Math.max(1, Math.ceil(lifetimeMs - this.age));
    const reply = await this.host.run(SCRIPTS.end, keys.marker, keys.record, mark, this.#record, left);
    this.#written = true;
    if (reply === END.restored) this.host.restored();
    // An own 403 may have been replaced by the run of another leader, which is no second run of the tool.
    if (reply === END.conflict && !this.#isForbidden) this.host.conflict(this.claim);
    if (this.lifetimeMs !== lifetimeMs) await this.#touch();
    return reply;
  }

  async #touch(): Promise<unknown> {
    const { keys, token } = this.claim;
    const { lifetimeMs } = this;
    await this.host.note(keys.lifetimes, lifetimeMs);
    return this.host.run(SCRIPTS.touch, keys.record, token, lifetimeMs);
  }
}
