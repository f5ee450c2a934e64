/** The shared replay store in Redis: claims calls, and stores their answers (docs/replay-store.md). */

import { setTimeout as sleep } from "node:timers/promises";
import {
  type Claim,
  checkedInteger,
  endsWithin,
  type Repeat,
  type ReplayContext,
  type ReplayLease,
  type ReplayRequest,
  type ReplayStore,
  ReplayStoreUnavailable,
  type ServerLogger,
  type SharedReplayStats,
  StartupError,
} from "svc-runtime/internal/redis";
import { type ConnectionFiles, type RedisClient, RedisConnection, RedisFault } from "./connection.js";
import { Figures } from "./figures.js";
import { Incarnation, nameOf } from "./incarnation.js";
import { type ClaimOfRun, type LeaseHost, RedisLease, Release } from "./lease.js";
import { HISTORY_MS, NotedLifetimes } from "./lifetimes.js";
import { LookUps } from "./look-ups.js";
import { PendingWrites } from "./pending-writes.js";
import { type CallKeys, callerDigest, decodeRecord, encodeRecord, newToken, RecordKeys } from "./record.js";
import { CLAIM, END, SCRIPTS, type Script, type ScriptArguments } from "./scripts.js";
import { checkServer, policyFault } from "./server-check.js";
import { addressOf, crossesNetworkInClear, parseTarget, type RedisTarget } from "./target.js";

/** Settings of a {@link RedisReplayStore}. */
export interface RedisReplayOptions {
  /**
   * `redis://user:password@host:port/db`, `rediss://…` for TLS, `unix:///path`, or
   * `redis+sentinel://user:password@h1:p,h2:p/name` (`rediss+sentinel://…`). User and password are percent-encoded.
   */
  readonly url?: string;
  /** Instance of ioredis 6 or iovalkey, instead of `url`. The store connects with its options. */
  readonly client?: RedisClient;
  /**
   * File with the password. This file and the files below are read again for each connection, so they can be replaced.
   */
  readonly passwordFile?: string;
  /** PEM file with certificate authorities for the server; by default those of Node. */
  readonly caPath?: string;
  /** PEM files with a client certificate and its key. */
  readonly certPath?: string;
  readonly keyPath?: string;
  /** Prefix of all keys: `svc:` by default. Deployments that share a Redis server need different prefixes. */
  readonly prefix?: string;
  /** Time limit of a command in milliseconds: 1,000 by default, 10 to 4,000. */
  readonly timeoutMs?: number;
  /** Milliseconds after a loss of data during which no new run starts: 5,000 by default, at most 3,600,000. */
  readonly graceMs?: number;
}

const DEFAULT_TIMEOUT_MS = 1_000;
const DEFAULT_GRACE_MS = 5_000;
/** Time limit for the first connection, in milliseconds. */
const START_LIMIT_MS = 10_000;
/** Interval of checks whether the start can continue, in milliseconds. */
const POLL_MS = 20;
const HEARTBEAT_MS = 1_000;
const POLICY_CHECK_MS = 60_000;
/**
 * Interval of checks for claims to renew, in milliseconds: half of a third of the shortest lease, because a claim is
 * renewed after a third of its lease.
 */
const RENEWAL_CHECK_MS = 5_000;
/** Milliseconds of an outage after which the tool server is not ready. */
const UNREADY_AFTER_MS = 2_000;
const RETRY_AFTER_MS = 1_000;
/** Maximum number of causes that are logged in one outage; a Redis server may send arbitrary error codes. */
const MAX_LOGGED_CAUSES = 8;
/**
 * Pauses between attempts to release a lost claim, in milliseconds. If a claim is not found, it may still be in
 * transit.
 */
const TAKE_BACK_PAUSES_MS = [300, 1_000, 3_000, 10_000, 30_000];
/** Errors at the start that waiting cannot fix. */
const HOPELESS =
  /^(?:SELECT \w+|WRONGPASS|NOAUTH|NOPERM|ERR_TLS_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+|CERT_\w+)$/;

/** Meanings of error codes at the start. */
const MEANINGS: ReadonlyMap<string, string> = new Map([
  ["READONLY", "expected a primary, got a replica"],
  ["NOPERM", "the user lacks a permission (NOPERM): docs/replicas.md lists all of them"],
  ["NOAUTH", "the server requires a user and a password (NOAUTH)"],
  ["WRONGPASS", "the user or its password is wrong (WRONGPASS)"],
]);

/**
 * Replay store for several replicas of a server, in Redis or Valkey (protocol.md section 8, docs/replay-store.md). A
 * script claims a run by creating a key that expires. The answer is stored in a record that every replica can read.
 *
 * @example
 * ```ts
 * import type { BootstrapOptions } from "svc-runtime";
 * import { RedisReplayStore } from "svc-runtime-redis";
 *
 * export const options: BootstrapOptions = {
 *   replayStore: new RedisReplayStore({ url: "rediss://redis.internal:6379", graceMs: 5_000 }),
 * };
 * ```
 */
export class RedisReplayStore implements ReplayStore {
  readonly scope = "shared";
  readonly #target: RedisTarget | RedisClient;
  readonly #graceMs: number;
  readonly #keys: RecordKeys;
  readonly #figures = new Figures();
  readonly #lookUps = new LookUps();
  readonly #connection: RedisConnection;
  readonly #incarnation: Incarnation;
  readonly #noted: NotedLifetimes;
  readonly #pending: PendingWrites;
  readonly #host: LeaseHost;
  /** Context of the first registration that uses the store; below, the context of each tool's registration. */
  #context: ReplayContext | undefined;
  readonly #contexts = new Map<string, ReplayContext>();
  #registrations = 0;
  #started: Promise<void> | undefined;
  #timers: NodeJS.Timeout[] = [];
  #trouble:
    | { readonly reason: string; readonly refused: boolean; readonly since: number; readonly logged: Set<string> }
    | undefined;
  #policyFault: string | undefined;
  #lastCode = "not connected yet";

  /**
   * @param noteMs milliseconds during which a stored lifetime is not stored again; set by tests
   * @throws RangeError for invalid options; messages contain no password
   */
  constructor(options: RedisReplayOptions, noteMs?: number) {
    const { url, client, prefix = "svc:", passwordFile, caPath, certPath, keyPath } = options;
    if ((url === undefined) === (client === undefined))
      throw new RangeError("RedisReplayStore: expected either url or client");
    this.#target = client ?? parseTarget(url as string);
    const timeoutMs = checkedInteger("timeoutMs", options.timeoutMs ?? DEFAULT_TIMEOUT_MS, 10, 4_000, "milliseconds");
    this.#graceMs = checkedInteger("graceMs", options.graceMs ?? DEFAULT_GRACE_MS, 0, 3_600_000, "milliseconds");
    const files = { passwordFile, caPath, certPath, keyPath };
    requireFilesToFit(files, this.#target);
    this.#keys = new RecordKeys(prefix);
    this.#noted = new NotedLifetimes((...script) => this.#run(...script), noteMs);
    this.#connection = new RedisConnection(
      {
        ...{ to: this.#target, timeoutMs, ...files },
        // After reconnecting, enough of the grace period must be left to write all runs again.
        ...(this.#graceMs > 0 && { maxPauseMs: this.#graceMs / 4 }),
      },
      { ready: () => this.#connected(), lost: (fault) => this.#disconnected(fault) },
    );
    this.#incarnation = new Incarnation({
      hello: () => this.#hello(),
      lost: () => {
        this.#figures.losses++;
        this.#noted.forget();
        this.#log?.warn(
          {},
          "Redis lost data or was replaced by another server; new calls are refused until the grace period is over",
        );
      },
      recovered: () => void this.#pending.kick(),
    });
    this.#pending = new PendingWrites(
      () => this.#writable,
      (count) => {
        this.#figures.droppedWrites += count;
        this.#log?.error(
          { count },
          "answers could not be written to Redis in time; retries of these calls get 409 until their entries in Redis expire",
        );
      },
      (error) => this.#log?.error({ err: error }, "a write to Redis failed and will be retried"),
    );
    this.#host = this.#leaseHost();
  }

  get #log(): ServerLogger | undefined {
    return this.#context?.log;
  }

  get #writable(): boolean {
    return this.#incarnation.value !== undefined && this.#connection.ready;
  }

  /**
   * Connects, for the first registration. Later registrations of the process share the connection until the last one is
   * closed.
   */
  async start(context: ReplayContext): Promise<void> {
    this.#registrations++;
    this.#context ??= context;
    for (const { fqn } of context.tools) {
      this.#contexts.set(fqn, context);
      this.#figures.countTool(fqn);
    }
    this.#requireOpen();
    this.#started ??= this.#start();
    await this.#started;
  }

  async #start(): Promise<void> {
    try {
      await this.#open();
    } catch (error) {
      await this.#end(0);
      throw error;
    }
    this.#every(HEARTBEAT_MS, () => this.#incarnation.check());
    this.#every(POLICY_CHECK_MS, () => this.#checkPolicy());
    this.#every(RENEWAL_CHECK_MS, () => this.#incarnation.renewDue());
    await this.#graceOver();
  }

  /**
   * Waits until runs can be claimed again. Meanwhile the heartbeat maintains the connection and detects another loss.
   */
  async #graceOver(): Promise<void> {
    const { graceMs } = this.#incarnation;
    if (graceMs > 0)
      this.#log?.info(
        { ms: Math.ceil(graceMs) },
        "the server starts when the grace period of the replay store is over",
      );
    while (this.#incarnation.graceMs > 0) {
      await sleep(POLL_MS);
      this.#requireOpen();
    }
  }

  /** Claims a run. Concurrent claims of one call in this process share one reply of Redis (`look-ups.ts`). */
  async claim(request: ReplayRequest): Promise<Claim> {
    const keys = this.#keys.of(request);
    try {
      const { leaderId } = request.caller;
      const caller = callerDigest(request.caller);
      const pairKey = keys.record.toString("latin1");
      const claim = await this.#lookUps.claim(pairKey, leaderId, caller, () => this.#claim(request, keys, caller));
      const outcome = claim.state === "in-flight" ? "in_flight" : claim.state;
      this.#figures.claimed(request.tool, outcome);
      return claim;
    } catch (error) {
      this.#figures.claimed(request.tool, "unavailable");
      if (error instanceof RedisFault) throw unavailable(error.reason);
      throw error;
    }
  }

  get memoryName(): string | undefined {
    return this.#incarnation.name;
  }

  get unavailable(): string | undefined {
    if (this.#policyFault !== undefined) return this.#policyFault;
    const { reason, since } = this.#trouble ?? {};
    return since !== undefined && performance.now() - since >= UNREADY_AFTER_MS ? reason : undefined;
  }

  stats(): { readonly inFlight: number; readonly shared: SharedReplayStats } {
    const running = this.#incarnation.leases.size;
    const up = this.#writable && this.#trouble === undefined && this.#policyFault === undefined;
    return { inFlight: running, shared: this.#figures.read({ up, running, pendingWrites: this.#pending.size }) };
  }

  async close(timeoutMs: number): Promise<void> {
    if (--this.#registrations <= 0) await this.#end(timeoutMs);
  }

  async #end(timeoutMs: number): Promise<void> {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    await endsWithin(timeoutMs, this.#pending.done());
    const left = this.#pending.stop();
    if (left > 0)
      this.#log?.error(
        { left },
        "the server stopped before all answers were written to Redis; retries of these calls get 409 until their entries in Redis expire",
      );
    this.#connection.close();
  }

  async #claim(request: ReplayRequest, keys: CallKeys, caller: Buffer): Promise<Claim> {
    if (this.#context === undefined) throw new Error("RedisReplayStore: claim before start");
    if (this.#policyFault !== undefined) throw unavailable("refused");
    const { tool, leaseMs } = request;
    const ttlMs = this.#ttlMs(tool);
    const token = newToken();
    const mark = Buffer.concat([request.inputHash, token]);
    const claim: ClaimOfRun = { tool, keys, mark, token, caller, leaseMs, ttlMs };
    let reply = await this.#tryClaim(claim, request.repeat);
    if (reply === CLAIM.lost) {
      await this.#incarnation.check();
      reply = await this.#tryClaim(claim, request.repeat);
    }
    switch (reply) {
      case CLAIM.run:
        return { state: "run", lease: this.#lease(claim) };
      case CLAIM.inFlight:
        return { state: "in-flight" };
      case CLAIM.repeatLost:
        return { state: "lost" };
      case CLAIM.full:
        return { state: "full" };
      case CLAIM.lost:
        throw unavailable("refused");
      case CLAIM.grace:
        throw new ReplayStoreUnavailable("grace", Math.max(this.#incarnation.graceMs, RETRY_AFTER_MS));
    }
    return this.#completed(reply, caller);
  }

  /** Tries once to claim a run. If the reply was lost, the claim is released later. */
  async #tryClaim(claim: ClaimOfRun, repeat: Repeat | undefined): Promise<unknown> {
    const { keys, mark, token, caller, leaseMs, ttlMs } = claim;
    const incarnation = this.#incarnation.value;
    if (incarnation === undefined) throw new RedisFault("disconnected", this.#connection.lastFault.code, false);
    await this.#noted.note(keys.lifetimes, ttlMs);
    const all = [keys.marker, keys.record, this.#keys.incarnation, this.#keys.grace, keys.lifetimes];
    const age = repeat === undefined ? "" : ageHere(repeat, nameOf(incarnation));
    const given = [mark.subarray(0, 32), token, caller, leaseMs + ttlMs, incarnation, age];
    try {
      return await this.#run(SCRIPTS.claim, ...all, ...given);
    } catch (error) {
      if (!(error instanceof RedisFault)) throw error;
      if (error.code === "OOM") return this.#run(SCRIPTS.look, ...all, ...given);
      if (error.inDoubt) this.#takeBack(claim, 0);
      throw error;
    }
  }

  /**
   * Releases a claim whose reply was lost: the server may still execute the command, and no process would end that run.
   */
  #takeBack(claim: ClaimOfRun, attempt: number): void {
    const now = performance.now();
    const release = new Release(this.#host, claim);
    const write = async () => {
      if ((await release.write()) === 1) this.#figures.takeBacks++;
      else if (attempt < TAKE_BACK_PAUSES_MS.length) this.#takeBack(claim, attempt + 1);
    };
    const notBefore = now + (TAKE_BACK_PAUSES_MS[attempt - 1] ?? 0);
    this.#pending.add({ bytes: release.bytes, notBefore, until: now + claim.leaseMs + claim.ttlMs, write });
  }

  #completed(reply: unknown, caller: Buffer): Claim {
    const record = Buffer.isBuffer(reply) ? decodeRecord(reply) : undefined;
    if (record !== undefined) {
      return { state: "completed", answer: record.answer, sameCaller: record.caller.equals(caller) };
    }
    this.#figures.failed("record");
    this.#log?.error(
      {},
      "a call was refused, because its entry in Redis has an unknown format: give each deployment its own key prefix",
    );
    // An unknown record may be of a run that has ended.
    if (Buffer.isBuffer(reply)) return { state: "in-flight" };
    throw unavailable("refused");
  }

  #ttlMs(tool: string): number {
    return (this.#contexts.get(tool) ?? (this.#context as ReplayContext)).ttlMs(tool);
  }

  #lease(claim: ClaimOfRun): ReplayLease {
    const lease = new RedisLease(this.#host, claim);
    this.#incarnation.leases.add(lease);
    return lease;
  }

  #leaseHost(): LeaseHost {
    return {
      run: async (script, ...args) => {
        const reply = await this.#run(script, ...args);
        if (typeof reply === "number" && reply >= END.conflict && reply <= END.otherHash) return reply;
        throw new RedisFault("refused", "reply", true);
      },
      write: (write, bytes, forMs) => this.#pending.attempt({ bytes, until: performance.now() + forMs, write }),
      ttlMs: (tool) => this.#ttlMs(tool),
      note: (key, ms) => this.#noted.note(key, ms),
      ended: (lease) => this.#incarnation.leases.delete(lease),
      wrote: (write) => this.#incarnation.remember(write),
      conflict: (claim) => {
        if (claim.conflicting) return;
        claim.conflicting = true;
        this.#figures.conflicts++;
        this.#log?.error(
          { tool: claim.tool },
          "a call ran in two processes, because Redis lost the entry of the first run",
        );
      },
      figures: this.#figures,
    };
  }

  async #run(script: Script, ...args: ScriptArguments): Promise<unknown> {
    const began = performance.now();
    try {
      return await this.#connection.run(script, ...args);
    } catch (error) {
      if (error instanceof RedisFault) this.#failed(error);
      throw error;
    } finally {
      this.#context?.observe?.(OPERATIONS[script.name] as string, performance.now() - began);
    }
  }

  #failed({ reason, code }: RedisFault): void {
    this.#lastCode = code;
    this.#figures.failed(code === "OOM" ? "full" : reason);
    // A server without free memory can still serve exact retries and end runs.
    if (code === "OOM") return;
    this.#troubled(reason, code);
  }

  /** Logs each cause once in an outage; a lost connection may be followed by a rejected password, for example. */
  #troubled(kind: RedisFault["reason"], code: string): void {
    const reason = `${kind}: ${code}`;
    const { since, logged, refused } = this.#trouble ?? {
      since: performance.now(),
      logged: new Set<string>(),
      refused: false,
    };
    if (!logged.has(code) && logged.size < MAX_LOGGED_CAUSES) {
      logged.add(code);
      this.#log?.warn({ reason }, "the replay store in Redis is unavailable; new calls are refused");
    }
    this.#trouble = { reason, refused: refused || kind === "refused", since, logged };
  }

  #disconnected({ reason, code }: RedisFault): void {
    this.#lastCode = code;
    this.#incarnation.forget();
    this.#troubled(reason, code);
  }

  #connected(): void {
    // An error was recorded where the command failed.
    this.#incarnation
      .check()
      .then(() => this.#checkPolicy())
      .catch(() => {});
  }

  async #hello(): Promise<{ value: Buffer; graceMs: number }> {
    const { incarnation, grace } = this.#keys;
    const reply = await this.#run(SCRIPTS.hello, incarnation, grace, newToken(), this.#graceMs);
    const [value, graceMs] = Array.isArray(reply) ? reply : [];
    if (!Buffer.isBuffer(value) || typeof graceMs !== "number") throw new RedisFault("refused", "reply", false);
    // The server may accept the connection but reject commands that calls need, for example after permissions of the
    // user were removed.
    if (this.#trouble?.refused) await this.#tryRights();
    this.#healthy();
    return { value, graceMs };
  }

  #healthy(): void {
    if (this.#trouble === undefined) return;
    this.#log?.info(
      { ms: Math.round(performance.now() - this.#trouble.since) },
      "the replay store in Redis is available again",
    );
    this.#trouble = undefined;
  }

  /** @throws StartupError after {@link close} */
  #requireOpen(): void {
    if (this.#connection.closed)
      throw new StartupError(
        "replay store: expected an open store, got a closed one; create a new store for each start",
      );
  }

  /** Connects within the time limit. Errors that waiting cannot fix end the attempt at once. */
  async #open(): Promise<void> {
    this.#connection.open();
    const deadline = performance.now() + START_LIMIT_MS;
    while (!(await this.#isServing())) {
      this.#requireOpen();
      const code = this.#lastCode;
      if (HOPELESS.test(code) || performance.now() > deadline) throw new StartupError(this.#startMessage(code));
      await sleep(POLL_MS);
    }
  }

  /** Whether the server responds, is suitable and grants all permissions. */
  async #isServing(): Promise<boolean> {
    if (!this.#connection.ready) return false;
    try {
      await this.#incarnation.check();
      await this.#checkServer();
      return this.#writable;
    } catch (error) {
      if (!(error instanceof RedisFault)) throw error;
      this.#lastCode = error.code;
      if (error.code === "ERR" && (await this.#isSentinel())) {
        throw new StartupError(
          this.#startMessage("expected Redis, got a Sentinel: use redis+sentinel://HOST:PORT/NAME"),
        );
      }
      return false;
    }
  }

  /** Whether the server is a Sentinel, which has no commands for keys. */
  async #isSentinel(): Promise<boolean> {
    const facts = await this.#connection.info().catch(() => undefined);
    return facts?.get("redis_mode") === "sentinel";
  }

  async #checkServer(): Promise<void> {
    const facts = await this.#connection.info();
    const { fault, warnings, server } = checkServer(facts);
    if (fault !== undefined) throw new StartupError(this.#startMessage(fault));
    await this.#tryRights();
    for (const warning of warnings) this.#log?.warn({}, `replay store: ${warning}`);
    if (!("duplicate" in this.#target) && this.#target.password !== undefined && crossesNetworkInClear(this.#target)) {
      this.#log?.warn({}, "replay store: the Redis password is sent over the network unencrypted: use rediss://");
    }
    const address = this.#address;
    this.#log?.info({ server, ...(address && { address }) }, "connected to the replay store in Redis");
  }

  /** Uses every permission that calls need, on separate keys, so that a missing one is found at the start. */
  async #tryRights(): Promise<void> {
    const [nonce, token] = [crypto.getRandomValues(new Uint8Array(32)), newToken()];
    const { marker, record, lifetimes } = this.#keys.of({ ...PROBE, nonce, inputHash: nonce });
    const mark = Buffer.concat([nonce, token]);
    const incarnation = this.#incarnation.value ?? "";
    const store = [this.#keys.incarnation, this.#keys.grace, lifetimes];
    await this.#run(SCRIPTS.note, lifetimes, 1, 0, 1_000);
    await this.#run(SCRIPTS.look, marker, record, ...store, mark.subarray(0, 32), token, token, 1, incarnation, 0);
    await this.#run(SCRIPTS.renew, marker, record, mark, 1_000);
    await this.#run(SCRIPTS.end, marker, record, mark, encodeRecord(PROBE.answer, token, token), 1_000);
    await this.#run(SCRIPTS.touch, record, token, 0);
  }

  /**
   * Checks the eviction policy. Entries that may be evicted give no protection, so no run is claimed while the policy
   * allows eviction.
   */
  async #checkPolicy(): Promise<void> {
    const fault = policyFault(await this.#connection.info());
    if (fault !== undefined && this.#policyFault === undefined) this.#log?.error({}, `replay store: ${fault}`);
    if (fault === undefined && this.#policyFault !== undefined)
      this.#log?.info({}, "replay store: maxmemory-policy is noeviction again");
    this.#policyFault = fault;
  }

  #every(ms: number, work: () => Promise<unknown>): void {
    // The error was recorded where the command failed.
    this.#timers.push(setInterval(() => void work().catch(() => {}), ms).unref());
  }

  get #address(): string | undefined {
    return "duplicate" in this.#target ? undefined : addressOf(this.#target);
  }

  #startMessage(what: string): string {
    const meaning = MEANINGS.get(what);
    if (meaning !== undefined) return this.#startMessage(meaning);
    if (what.startsWith("SELECT ") && !("duplicate" in this.#target)) {
      return this.#startMessage(`database ${this.#target.db} cannot be selected (${what.slice(7)})`);
    }
    const at = this.#address ?? "the address of the given client";
    const hasFile = this.#connection.options.passwordFile !== undefined;
    const file = what.includes("WRONGPASS") && hasFile ? " and SVC_REPLAY_REDIS_PASSWORD_FILE" : "";
    return `replay store: Redis at ${at}: ${what}; check SVC_REPLAY_REDIS_URL${file}`;
  }
}

/** Call for the check at the start, which belongs to no tool. */
const PROBE = {
  tool: "start",
  answer: { status: 503, signable: false, body: new Uint8Array(0) },
  caller: { leaderId: "", leaderKeyId: 0n },
  leaseMs: 1_000,
};

/** Names of operations in metrics, by script. */
const OPERATIONS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(SCRIPTS).map(([operation, { name }]) => [name, operation]),
);

/** Age of a repeated request if this memory knows its first attempt, otherwise an age beyond every lifetime. */
function ageHere({ memory, ageMs }: Repeat, name: string): number {
  return memory === name && ageMs < HISTORY_MS ? ageMs : Number.MAX_VALUE;
}

function unavailable(reason: RedisFault["reason"]): ReplayStoreUnavailable {
  return new ReplayStoreUnavailable(reason, RETRY_AFTER_MS);
}

/** @throws RangeError for files that the connection would ignore */
function requireFilesToFit(files: ConnectionFiles, target: RedisTarget | RedisClient): void {
  const { passwordFile, caPath, certPath, keyPath } = files;
  const given = Object.entries(files).flatMap(([name, path]) => (path === undefined ? [] : [name]));
  if ("duplicate" in target) {
    if ("isCluster" in target && target.isCluster === true) throw new RangeError("client: a cluster is not supported");
    if (given.length > 0) throw new RangeError(`${given.join(", ")}: set them in the options of the given client`);
    return;
  }
  if (passwordFile !== undefined && target.password !== undefined) {
    throw new RangeError("passwordFile: the URL contains a password too; remove one of the two");
  }
  if ((certPath === undefined) !== (keyPath === undefined))
    throw new RangeError("certPath and keyPath: expected both, got one");
  if (!target.tls && (caPath ?? certPath) !== undefined) {
    throw new RangeError(
      "url: expected a URL that begins with rediss, because caPath or certPath is set; got one without TLS",
    );
  }
}
