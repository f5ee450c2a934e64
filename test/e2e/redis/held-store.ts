/** Replay stores on a real server whose clock and timers the test advances, each behind a relay that can fail a script. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { afterEach, beforeEach, mock } from "node:test";
import { type RedisReplayOptions, RedisReplayStore } from "#runtime/redis/index.js";
import { SCRIPTS } from "#runtime/redis/scripts.js";
import type { CachedAnswer, Claim, ReplayLease, ReplayRequest } from "#runtime/server/replay/store.js";
import { KeptLog } from "#runtime/testing/kept-log.js";
import { type HeldTimers, holdTimers } from "../../runtime/held-timers.js";
import { type Command, HostileRedis, type Reaction } from "./hostile-redis.js";
import type { RedisServer } from "./redis-server.js";

export const LEASE = 40_000;
export const TTL = 300_000;
/** More than a third of a lease. */
export const THIRD = LEASE / 3 + 1;
export const RESULT: CachedAnswer = { status: 200, signable: true, body: Buffer.from("result") };
export const LATE: CachedAnswer = { status: 504, code: "late", signable: false, body: Buffer.from("late") };
export const PASS: Reaction = "pass";
/** A reply that a store cannot take for a success. */
export const REFUSED: Reaction = { bytes: "-ERR refused\r\n" };

type Step = keyof typeof SCRIPTS;
const STEPS = new Map(
  Object.entries(SCRIPTS).flatMap(([step, { lua }]) => {
    const digest = createHash("sha1").update(lua).digest("hex");
    return [[lua, step] as const, [digest, step] as const];
  }),
);

export function request(nonce: number, hash = 1): ReplayRequest {
  const [nonceBytes, inputHash] = [Buffer.alloc(32), Buffer.alloc(32)];
  nonceBytes.writeUInt32BE(nonce);
  inputHash.writeUInt32BE(hash);
  const caller = { leaderId: "alice", leaderKeyId: 1n };
  return { tool: "xyz.test.tool@1", nonce: nonceBytes, inputHash, caller, leaseMs: LEASE };
}

export function leaseOf(claim: Claim): ReplayLease {
  assert.ok(claim.state === "run", `expected a run, got ${claim.state}`);
  return claim.lease;
}

/** One store with its relay and log. */
export class HeldStore {
  readonly log = new KeptLog();

  constructor(
    readonly store: RedisReplayStore,
    readonly relay: HostileRedis,
    readonly prefix: string,
  ) {}

  async run(nonce: number, hash = 1): Promise<ReplayLease> {
    return leaseOf(await this.store.claim(request(nonce, hash)));
  }

  async state(nonce: number, hash = 1): Promise<string> {
    return (await this.store.claim(request(nonce, hash))).state;
  }

  get shared() {
    return this.store.stats().shared;
  }

  /** Lets the relay react to one script; all other commands pass. */
  on(step: Step, react: (answer: () => Promise<unknown>) => Reaction | Promise<Reaction>): void {
    this.relay.attack = (command, answer) => (stepOf(command) === step ? react(answer) : "pass");
  }

  /** Lets every command pass. */
  pass(): void {
    this.relay.attack = undefined;
  }

  /** How often the relay has seen a script. */
  seen(step: Step): number {
    return this.relay.seen.filter((command) => stepOf(command) === step).length;
  }
}

const stepOf = ([, script]: Command) => STEPS.get(String(script));

/** Stores for the tests of a suite: closed after each test, together with the clock and the timers. */
export class HeldStores {
  readonly #opened: HeldStore[] = [];
  #timers: HeldTimers | undefined;
  #prefixes = 0;

  readonly #server: () => RedisServer;

  constructor(server: () => RedisServer) {
    this.#server = server;
    beforeEach(() => {
      this.#timers = holdTimers(1_000);
    });
    afterEach(async () => {
      mock.restoreAll();
      await Promise.all(this.#opened.map(({ store }) => store.close(0)));
      await Promise.all(this.#opened.splice(0).map(({ relay }) => relay.close()));
      this.#timers?.restore();
    });
  }

  get timers(): HeldTimers {
    return this.#timers ?? assert.fail("no test runs");
  }

  async open(options: RedisReplayOptions & { readonly ttlMs?: number } = {}): Promise<HeldStore> {
    const { ttlMs = TTL, prefix = `held${this.#prefixes++}:`, ...more } = options;
    const relay = await HostileRedis.start(this.#server().client);
    const held = new HeldStore(
      new RedisReplayStore({ url: relay.url, prefix, graceMs: 0, timeoutMs: 4_000, ...more }),
      relay,
      prefix,
    );
    this.#opened.push(held);
    await held.store.start({ tools: [], ttlMs: () => ttlMs, log: held.log.logger });
    return held;
  }

  /** Opens stores that share their keys. The server knows all scripts when they are open. */
  async share(options: RedisReplayOptions = {}): Promise<[HeldStore, HeldStore]> {
    const one = await this.open({ graceMs: 0, prefix: options.prefix ?? `held${this.#prefixes++}:` });
    await (await one.run(0)).release();
    await one.store.close(0);
    const { prefix } = one;
    return [await this.open({ ...options, prefix }), await this.open({ ...options, prefix })];
  }

  /** Stops the clock; the returned function lets milliseconds pass. */
  stopClock(): (ms: number) => void {
    // Whole milliseconds, so that sums are exact.
    let now = Math.ceil(performance.now());
    mock.method(performance, "now", () => now);
    return (ms) => {
      now += ms;
    };
  }

  /** Lets the intervals of so many milliseconds fire once. */
  fire(ms: number): void {
    for (const timer of this.timers.waiting) if (timer.repeats && timer.ms === ms) timer.fire();
  }

  /** Ends long pauses between attempts of a write or a connection; all other timeouts are longer. */
  retry(): void {
    for (const timer of this.timers.waiting) if (!timer.repeats && timer.ms <= 2_000) timer.fire();
  }

  /** Milliseconds that the only key of a kind (`r` run, `e` record) has left; undefined when there is none. */
  async lifetime(prefix: string, kind: "r" | "e"): Promise<number | undefined> {
    const key = await this.key(prefix, kind);
    return key && this.#server().client.pttl(key);
  }

  async key(prefix: string, kind: "r" | "e"): Promise<Buffer | undefined> {
    const keys = await this.#server().client.keysBuffer(`${prefix}*`);
    const own = keys.filter((key) => key.includes(`{00}${kind}:`));
    assert.ok(own.length <= 1, `expected one key, got ${own.length}`);
    return own[0];
  }
}
