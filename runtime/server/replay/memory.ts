/**
 * The replay store in the memory of one process.
 *
 * Completed entries are appended to byte segments in the order of completion. They expire in the same order for any
 * TTL, so expiry examines only the oldest records of a tool's log. Segments are outside the JavaScript heap, so entries
 * neither slow down garbage collection nor count towards the heap limit. Runs in flight, and the 504s of tools that are
 * still running, are ordinary objects.
 *
 * A map from pairs to positions finds completed entries.
 */

import { checkedInteger } from "svc-client/internal/checked-integer";
import { exactBytes } from "svc-client/internal/wire/bcs/bcs-writer";
import { DEFAULT_REPLAY_CACHE_TTL_MS } from "svc-client/internal/wire/protocol";
import { Lifetimes } from "./lifetime-history.js";
import {
  Arena,
  BODY,
  DEAD,
  HELD_BYTES,
  INDEX_BYTES,
  KEY,
  KIND,
  LENGTH,
  MAX_SHARED_RECORD,
  NO_SEAL,
  RECLAIM_BY_TURN,
  RUN_BYTES,
  recordBytes,
  SEGMENT,
  SEGMENT_OBJECTS,
  type Segment,
  SMALLEST_SEGMENT,
} from "./memory-arena.js";
import {
  type CachedAnswer,
  type Claim,
  INTERRUPTED_STATUS,
  type ReplayCaller,
  type ReplayContext,
  type ReplayLease,
  type ReplayRequest,
  type ReplayStats,
  type ReplayStore,
} from "./store.js";

/** Options of `ReplayMemory`. */
export interface ReplayMemoryOptions {
  /** Maximum bytes for all tools, including entries, bodies and index: 512 MiB by default, at least 1 MiB. */
  readonly maxBytes?: number;
  /**
   * Returns the current TTL of a tool in milliseconds; by default that of the server's configuration. Called at each
   * use, so that a reload takes effect at once.
   */
  readonly ttlMs?: (tool: string) => number;
  /** Monotonic clock in milliseconds: `performance.now` by default. */
  readonly now?: () => number;
}

const MIN_BOUND = 1_048_576;
/**
 * Maximum number of expired entries removed by one claim: more than the one that it may add, few enough to take
 * negligible time.
 */
const RECLAIM_BY_CLAIM = 8;

/** Nonce and input hash of the current claim. One buffer is sufficient because claims are synchronous. */
const pair = Buffer.alloc(64);

const IN_FLIGHT: Claim = Object.freeze({ state: "in-flight" });
const LOST: Claim = Object.freeze({ state: "lost" });
const FULL: Claim = Object.freeze({ state: "full" });

/**
 * Entries of one tool: runs in flight by nonce, stored 504s of tools that are still running by nonce and input hash,
 * and the log of completed entries.
 */
class ToolEntries {
  readonly arena: Arena;
  /** Runs in flight, by nonce; a nonce has at most one. */
  readonly running = new Map<string, Lease>();
  readonly held = new Map<string, Lease>();
  /** Positions of completed entries, by nonce and input hash as text. */
  readonly #index = new Map<string, number>();
  readonly #ttlMs: () => number;
  readonly #lifetimes = new Lifetimes();
  /**
   * Log: its oldest segment, the offset of the oldest record there, its newest segment, and the bytes of all segments.
   */
  #oldest: Segment | undefined;
  #start = 0;
  #newest: Segment | undefined;
  #size = 0;

  constructor(arena: Arena, ttlMs: () => number) {
    this.arena = arena;
    this.#ttlMs = ttlMs;
  }

  /**
   * Claims the run of a pair.
   *
   * @param key nonce and input hash as text
   * @param age for a repeated request, milliseconds since its first attempt; infinite if that may be in another memory
   */
  claim(key: string, caller: ReplayCaller, age: number | undefined): Claim {
    const now = this.arena.now();
    this.reclaim(now, RECLAIM_BY_CLAIM);
    const nonce = key.slice(0, 32);
    const running = this.running.get(nonce);
    // Also applies to a run that will replace a stored 403 or a mark: every caller gets 409 until it ends.
    if (running?.key === key) return IN_FLIGHT;
    const found = this.#findHeld(key, caller) ?? this.#findRecord(key, caller, now);
    const isMark = found?.answer.status === INTERRUPTED_STATUS;
    if (found !== undefined && !isMark && (found.sameCaller || found.answer.status !== 403)) return found;
    // A 403 of another caller may have replaced a mark.
    if (age !== undefined && (found !== undefined || this.#mayHaveExpired(age, now))) return LOST;
    if (running !== undefined) return IN_FLIGHT;
    if (!this.arena.reserve(caller.leaderId, now)) return FULL;
    const lease = new Lease(this, nonce, key, caller, found !== undefined);
    this.running.set(nonce, lease);
    return { state: "run", lease };
  }

  /** Returns the current lifetime, and records it in the history for `#mayHaveExpired`. */
  #ttl(now: number): number {
    return this.#lifetimes.use(this.#ttlMs(), now);
  }

  /** Whether the entry of a request first sent `age` milliseconds ago may have expired. */
  #mayHaveExpired(age: number, now: number): boolean {
    this.#ttl(now);
    return age >= this.#lifetimes.shortestSince(now - age);
  }

  #findHeld(key: string, caller: ReplayCaller): Completed | undefined {
    const lease = this.held.size === 0 ? undefined : this.held.get(key);
    if (lease?.answer === undefined) return undefined;
    const answer = { ...lease.answer, body: new Uint8Array(lease.answer.body) };
    return { state: "completed", answer, sameCaller: isSameCaller(lease.caller, caller) };
  }

  #findRecord(key: string, caller: ReplayCaller, now: number): Completed | undefined {
    const position = this.#index.get(key);
    if (position === undefined) return undefined;
    const { bytes, words, doubles } = this.arena.segment(position);
    const at = position & 8191;
    if (now - doubles[at]! >= this.#ttl(now)) {
      // If an expired record stayed in the index, a longer TTL could revive it, and the pair would have two live
      // records.
      this.#kill(key, position);
      return undefined;
    }
    const kind = this.arena.kind(words[at * 2 + KIND]!);
    const { status, code, signable, sealBytes } = kind;
    const start = at * 8 + BODY;
    const end = start + words[at * 2 + LENGTH]!;
    const body = copyOf(bytes, start, end - sealBytes);
    const seal = sealBytes === 0 ? undefined : copyOf(bytes, end - sealBytes, end);
    const answer = { status, code, signable, body, seal };
    return { state: "completed", answer, sameCaller: isSameCaller(kind, caller) };
  }

  /** Appends a completed entry. Allocates at most `room` bytes for it. */
  append({ key, caller }: Lease, answer: CachedAnswer, room: number): void {
    const { body, seal = NO_SEAL } = answer;
    const length = body.length + seal.length;
    const size = recordBytes(length);
    let segment = this.#newest;
    if (segment === undefined || segment.used + size > segment.size) {
      segment = this.arena.allocate(this.#segmentBytes(size, room));
      if (this.#newest === undefined) this.#oldest = segment;
      else this.#newest.next = segment;
      this.#newest = segment;
      this.#size += segment.size;
    }
    const at = segment.used / 8;
    segment.used += size;
    segment.doubles[at] = this.arena.now();
    segment.words[at * 2 + KIND] = this.arena.kindNumber(answer, caller);
    segment.words[at * 2 + LENGTH] = length;
    segment.bytes.write(key, at * 8 + KEY, "latin1");
    segment.bytes.set(body, at * 8 + BODY);
    segment.bytes.set(seal, at * 8 + BODY + body.length);
    this.#index.set(key, segment.slot * 8192 + at);
    this.arena.bytes += INDEX_BYTES;
    this.arena.records++;
    this.arena.leaders.add(caller.leaderId, size + INDEX_BYTES);
  }

  /**
   * Size of the next segment: that of the log so far, within limits, so that a rarely called tool holds little memory.
   */
  #segmentBytes(record: number, room: number): number {
    if (record > MAX_SHARED_RECORD) return record;
    const wanted = Math.min(SEGMENT, Math.max(SMALLEST_SEGMENT, this.#size));
    return Math.max(record, Math.min(wanted, (room - SEGMENT_OBJECTS - INDEX_BYTES) & ~7));
  }

  /** Deletes the completed entry of a pair. */
  forget(key: string): void {
    this.held.get(key)?.drop();
    const position = this.#index.get(key);
    if (position !== undefined) this.#kill(key, position);
  }

  /** Deletes a record from the index and marks it as dead; `reclaim` frees its bytes later. */
  #kill(key: string, position: number): void {
    this.#remove(key, position);
    this.arena.segment(position).words[(position & 8191) * 2 + KIND] = DEAD;
  }

  /** Deletes a live record from the index and subtracts its bytes from those of its leader. */
  #remove(key: string, position: number): void {
    this.#index.delete(key);
    this.arena.bytes -= INDEX_BYTES;
    const segment = this.arena.segment(position);
    this.arena.records--;
    const { words } = segment;
    const at = (position & 8191) * 2;
    this.arena.leaders.add(
      this.arena.kind(words[at + KIND]!).leaderId,
      -recordBytes(words[at + LENGTH]!) - INDEX_BYTES,
    );
  }

  /** Removes up to `limit` expired or dead records, oldest first, and returns their number. */
  reclaim(now: number, limit: number): number {
    if (this.#oldest === undefined) return 0;
    const ttl = this.#ttl(now);
    let left = limit;
    for (; left > 0 && this.#oldest !== undefined; left--) {
      const segment: Segment = this.#oldest;
      const at = this.#start / 8;
      if (segment.words[at * 2 + KIND] !== DEAD) {
        if (now - segment.doubles[at]! < ttl) break;
        const key = segment.bytes.toString("latin1", this.#start + KEY, this.#start + BODY);
        this.#remove(key, segment.slot * 8192 + at);
      }
      this.#start += recordBytes(segment.words[at * 2 + LENGTH]!);
      if (this.#start < segment.used) continue;
      this.#start = 0;
      this.#oldest = segment.next;
      if (this.#oldest === undefined) this.#newest = undefined;
      this.#size -= segment.size;
      this.arena.free(segment);
    }
    return limit - left;
  }
}

function copyOf(bytes: Buffer, start: number, end: number): Uint8Array {
  const copy = new Uint8Array(end - start);
  bytes.copy(copy, 0, start, end);
  return copy;
}

type Completed = Claim & { state: "completed" };

function isSameCaller(a: ReplayCaller, b: ReplayCaller): boolean {
  return a.leaderKeyId === b.leaderKeyId && a.leaderId === b.leaderId;
}

/** A run in flight. After its deadline, it holds its 504 until the tool ends. */
class Lease implements ReplayLease {
  readonly key: string;
  readonly caller: ReplayCaller;
  /** The 504 while it is held; undefined before the deadline and after the tool has ended. */
  answer: CachedAnswer | undefined;
  readonly #entries: ToolEntries;
  readonly #nonce: string;
  /** Whether this run, when it ends, replaces a stored 403 or mark. */
  readonly #replaces: boolean;
  #running = true;

  constructor(
    entries: ToolEntries,
    nonce: string,
    key: string,
    { leaderId, leaderKeyId }: ReplayCaller,
    replaces: boolean,
  ) {
    this.#entries = entries;
    this.#nonce = nonce;
    this.key = key;
    this.caller = { leaderId, leaderKeyId };
    this.#replaces = replaces;
  }

  complete(answer: CachedAnswer): boolean {
    if (!this.#running) return false;
    if (this.#replaces) this.#entries.forget(this.key);
    this.#entries.append(this, answer, RUN_BYTES);
    // Must come last: if `append` fails for lack of memory, the pair stays in flight and cannot run again.
    return this.release();
  }

  timeOut({ status, code, signable, body }: CachedAnswer): boolean {
    if (!this.release()) return false;
    if (this.#replaces) this.#entries.forget(this.key);
    this.answer = { status, code, signable, body: new Uint8Array(body), seal: undefined };
    this.#entries.held.set(this.key, this);
    this.#entries.arena.hold(this.caller.leaderId, HELD_BYTES + body.length);
    return true;
  }

  settle(): boolean {
    const { answer } = this;
    if (answer === undefined) return false;
    this.drop();
    this.#entries.append(this, answer, HELD_BYTES + answer.body.length);
    return true;
  }

  release(): boolean {
    if (!this.#running) return false;
    this.#running = false;
    this.#entries.running.delete(this.#nonce);
    this.#entries.arena.hold(this.caller.leaderId, -RUN_BYTES);
    return true;
  }

  /** Removes a held 504 without appending a record. */
  drop(): void {
    if (this.answer === undefined) return;
    this.#entries.held.delete(this.key);
    this.#entries.arena.hold(this.caller.leaderId, -HELD_BYTES - this.answer.body.length);
    this.answer = undefined;
  }
}

/**
 * The replay store in the memory of this process (protocol.md section 8). All methods are synchronous and take
 * amortised constant time, except `stats`, which visits every tool. Each claim removes a few expired
 * entries; a timer removes the others, every second and in bounded steps.
 */
export class ReplayMemory implements ReplayStore {
  readonly scope = "process";
  /** Name of this memory: 16 random bytes in base64url. */
  readonly memoryName: string = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("base64url");
  /** Maximum bytes for all tools. */
  readonly maxBytes: number;
  readonly #tools = new Map<string, ToolEntries>();
  readonly #arena: Arena;
  readonly #ttlMs: ((tool: string) => number) | undefined;
  /** Lifetimes of each tool, from the last registration that shares this store. */
  readonly #registered = new Map<string, ReplayContext["ttlMs"]>();
  #hasOneLeader: ReplayContext["hasOneLeader"];
  /** Number of servers that use this store now. */
  #servers = 0;

  /** @throws RangeError unless `maxBytes` is a safe integer of at least 1 MiB */
  constructor({ maxBytes = 536_870_912, ttlMs, now = () => performance.now() }: ReplayMemoryOptions = {}) {
    const name = "maxBytes of the replay memory";
    this.maxBytes = checkedInteger(name, maxBytes, MIN_BOUND, Number.MAX_SAFE_INTEGER, "bytes");
    this.#ttlMs = ttlMs;
    this.#arena = new Arena(maxBytes, now, () => this.#hasOneLeader?.() ?? false);
  }

  /** Uses the lifetimes of the server, unless the options contain `ttlMs`. */
  start({ tools, ttlMs, hasOneLeader }: ReplayContext): void {
    // Several servers that share this store at the same time may have different leaders.
    this.#hasOneLeader = this.#servers++ === 0 ? hasOneLeader : undefined;
    for (const { fqn } of tools) this.#registered.set(fqn, ttlMs);
  }

  close(): void {
    this.#servers--;
  }

  claim({ tool, nonce, inputHash, caller, repeat }: ReplayRequest): Claim {
    pair.set(exactBytes("nonce", nonce, 32));
    pair.set(exactBytes("input hash", inputHash, 32), 32);
    const key = pair.toString("latin1");
    let entries = this.#tools.get(tool);
    if (entries === undefined) {
      entries = new ToolEntries(
        this.#arena,
        () => (this.#ttlMs ?? this.#registered.get(tool))?.(tool) ?? DEFAULT_REPLAY_CACHE_TTL_MS,
      );
      this.#tools.set(tool, entries);
      this.#arena.logs.add(entries);
    }
    const age = repeat && (repeat.memory === this.memoryName ? repeat.ageMs : Number.POSITIVE_INFINITY);
    return entries.claim(key, caller, age);
  }

  /**
   * Number of completed entries, number of runs in flight, and bytes in use, which never exceed `maxBytes`. Includes
   * expired entries if there are so many that they are not removed yet.
   */
  stats(): Required<Omit<ReplayStats, "shared">> {
    this.#arena.reclaim(this.#arena.now(), RECLAIM_BY_TURN);
    let entries = this.#arena.records;
    let inFlight = 0;
    for (const tool of this.#tools.values()) {
      entries += tool.held.size;
      inFlight += tool.running.size;
    }
    return { entries, inFlight, bytes: this.#arena.bytes };
  }
}
