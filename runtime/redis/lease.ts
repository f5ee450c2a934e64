/** Lease on a run, stored in Redis. Writing the end of the run is retried until it succeeds. */

import { type CachedAnswer, INTERRUPTED_STATUS, type ReplayLease } from "svc-runtime/internal/redis";
import type { Figures } from "./figures.js";
import { type CallKeys, encodeRecord } from "./record.js";
import { END, SCRIPTS, type Script, type ScriptArguments } from "./scripts.js";

/** Operations of the store that are needed by leases. */
export interface LeaseHost {
  /** Runs a script whose reply is one of {@link END}. Throws for any other reply. */
  run(script: Script, ...args: ScriptArguments): Promise<number>;
  /**
   * Tries a write once. Returns undefined if it failed; then it is retried in the background for at most `forMs`
   * milliseconds.
   */
  write(write: () => Promise<unknown>, bytes: number, forMs: number): Promise<unknown>;
  ttlMs(tool: string): number;
  /** Stores the lifetime of a record; called before the record is written. */
  note(key: Buffer, ms: number): Promise<void>;
  /** Called when the run has ended, so that its claim need not be renewed. */
  ended(lease: RedisLease): void;
  /** Called when the server has accepted a write that ended a claim; the server may still lose that write. */
  wrote(write: RecentWrite): void;
  /** Called if another process runs, or has run, the same call. */
  conflict(claim: ClaimOfRun): void;
  readonly figures: Pick<Figures, "renewals" | "restored" | "reclaimed">;
}

/** A write that ended a claim. If the server loses it, the call gets 409 until lease and TTL have expired. */
export interface RecentWrite {
  readonly bytes: number;
  /** Repeats the write after a loss of data. */
  writeAgain(): Promise<void>;
}

export interface ClaimOfRun {
  readonly tool: string;
  readonly keys: CallKeys;
  /** Value of the marker key: input hash ‖ token. */
  readonly mark: Buffer;
  readonly token: Buffer;
  readonly caller: Buffer;
  readonly leaseMs: number;
  readonly ttlMs: number;
  /** Whether a conflict of this claim was already counted. */
  conflicting?: boolean;
}

const FORBIDDEN = 403;

export class RedisLease implements ReplayLease {
  #state: "running" | "held" | "ended" = "running";
  #held: RunEnd | undefined;
  /** Time of the last renewal of the marker or held record, on the `performance.now()` clock. */
  #renewedAt = performance.now();

  readonly #host: LeaseHost;

  constructor(
    host: LeaseHost,
    readonly claim: ClaimOfRun,
  ) {
    this.#host = host;
  }

  async complete(answer: CachedAnswer): Promise<boolean> {
    if (this.#state !== "running") return false;
    this.#state = "ended";
    const end = new RunEnd(this.#host, this.claim, answer, this.#host.ttlMs(this.claim.tool));
    this.#host.ended(this);
    return end.write();
  }

  async timeOut(answer: CachedAnswer): Promise<boolean> {
    if (this.#state !== "running") return false;
    this.#state = "held";
    this.#held = new RunEnd(this.#host, this.claim, answer, this.#lifetimeMs);
    return this.#held.write();
  }

  async settle(): Promise<boolean> {
    if (this.#state !== "held") return false;
    this.#state = "ended";
    const held = this.#held as RunEnd;
    this.#host.ended(this);
    return held.setLifetime(this.#host.ttlMs(this.claim.tool));
  }

  async release(): Promise<boolean> {
    if (this.#state !== "running") return false;
    this.#state = "ended";
    this.#host.ended(this);
    const release = new Release(this.#host, this.claim);
    return (await this.#host.write(() => release.write(), release.bytes, this.#lifetimeMs)) !== 0;
  }

  /** Renews the lease after a third of its duration, or at once after a loss of data. */
  async renew(lost: boolean): Promise<void> {
    if (!lost && performance.now() - this.#renewedAt < this.claim.leaseMs / 3) return;
    this.#renewedAt = performance.now();
    this.#host.figures.renewals++;
    if (this.#state === "running") await this.#renewMarker();
    else if (this.#state === "held") await (this.#held as RunEnd).renew(lost);
  }

  /** Lifetime of the claim without renewal, in milliseconds: lease plus TTL. */
  get #lifetimeMs(): number {
    return this.claim.leaseMs + this.claim.ttlMs;
  }

  async #renewMarker(): Promise<void> {
    const { keys, mark } = this.claim;
    const reply = await this.#host.run(SCRIPTS.renew, keys.marker, keys.record, mark, this.#lifetimeMs);
    if (reply === END.restored) this.#host.figures.reclaimed++;
    if (reply === END.conflict) this.#host.conflict(this.claim);
  }
}

/** Ends a claim whose run never started. */
export class Release implements RecentWrite {
  readonly bytes = 512;

  readonly #host: Pick<LeaseHost, "run" | "wrote">;
  readonly #claim: ClaimOfRun;

  constructor(host: Pick<LeaseHost, "run" | "wrote">, claim: ClaimOfRun) {
    this.#host = host;
    this.#claim = claim;
  }

  /** Removes the marker. Returns 0 if this claim has no marker. */
  async write(): Promise<number> {
    const found = await this.#host.run(SCRIPTS.release, this.#claim.keys.marker, this.#claim.mark);
    this.#host.wrote(this);
    return found;
  }

  async writeAgain(): Promise<void> {
    await this.write();
  }
}

/** Ends a run and stores its answer. */
export class RunEnd implements RecentWrite {
  readonly bytes: number;
  readonly #record: Buffer;
  readonly #isReplaceable: boolean;
  #endedAt = performance.now();
  #written = false;

  readonly #host: LeaseHost;
  readonly #claim: ClaimOfRun;
  #lifetimeMs: number;

  constructor(host: LeaseHost, claim: ClaimOfRun, answer: CachedAnswer, lifetimeMs: number) {
    this.#host = host;
    this.#claim = claim;
    this.#lifetimeMs = lifetimeMs;
    this.#isReplaceable = answer.status === FORBIDDEN || answer.status === INTERRUPTED_STATUS;
    this.#record = encodeRecord(answer, claim.token, claim.caller);
    this.bytes = this.#record.length + 512;
  }

  /**
   * Writes the record. If that does not succeed in time, it is retried in the background, and this method returns true.
   *
   * @returns false if another process runs the pair or has ended it
   */
  async write(): Promise<boolean> {
    const reply = await this.#host.write(() => this.#write(), this.bytes, this.#claim.leaseMs + this.#claim.ttlMs);
    return reply !== END.conflict;
  }

  async writeAgain(): Promise<void> {
    await this.#write();
  }

  /** Sets the remaining lifetime of the record. */
  async setLifetime(ms: number): Promise<boolean> {
    this.#lifetimeMs = ms;
    this.#endedAt = performance.now();
    // A record that is not written yet will be written with the new lifetime.
    if (!this.#written) return true;
    return (await this.#host.write(() => this.#touch(), 64, ms)) !== 0;
  }

  /** Renews a held record, or writes it again after a loss of data. */
  async renew(lost: boolean): Promise<void> {
    this.#endedAt = performance.now();
    if (lost) await this.#write();
    else await this.#touch();
  }

  async #write(): Promise<unknown> {
    const { keys, mark } = this.#claim;
    const lifetimeMs = this.#lifetimeMs;
    await this.#host.note(keys.lifetimes, lifetimeMs);
    const left = Math.max(1, Math.ceil(lifetimeMs - (performance.now() - this.#endedAt)));
    const reply = await this.#host.run(SCRIPTS.end, keys.marker, keys.record, mark, this.#record, left);
    this.#written = true;
    if (reply !== END.conflict) this.#host.wrote(this);
    if (reply === END.restored) this.#host.figures.restored++;
    // If this run stored a 403 or a mark, another run may replace it. That is not a conflict.
    if (reply === END.conflict && !this.#isReplaceable) this.#host.conflict(this.#claim);
    if (this.#lifetimeMs !== lifetimeMs) await this.#touch();
    return reply;
  }

  async #touch(): Promise<unknown> {
    const { keys, token } = this.#claim;
    const lifetimeMs = this.#lifetimeMs;
    await this.#host.note(keys.lifetimes, lifetimeMs);
    const found = await this.#host.run(SCRIPTS.touch, keys.record, token, lifetimeMs);
    if (found !== 0) this.#host.wrote(this);
    return found;
  }
}
