/** The bytes of the replay memory: segments, the layout of records, and the bytes held by each leader. */

import { MAX_RESULT_BYTES } from "../../wire/protocol.js";
import { Shares } from "../load/shares.js";
import { MAX_SEAL_BYTES } from "./cached-signature.js";
import type { CachedAnswer, ReplayCaller } from "./store.js";

const SWEEP_MS = 1000;
/**
 * Maximum number of expired entries removed in one turn of the event loop: up to 5 ms of work. If there are more, the
 * timer continues in the next turn, so that expiry keeps up with any rate.
 */
export const RECLAIM_BY_TURN = 2_000;
/** Number of expired entries that a claim removes per step from a full store, until there is room. */
const RECLAIM_FOR_ROOM = 256;
/** Delay until the timer continues while there are more expired entries, in milliseconds. */
const NEXT_TURN_MS = 1;

// Layout of a record, 8-byte aligned: completion time (f64), position of the next record in its bucket (f64), hash
// (u32), kind (u32), length of body and seal together (u32), nonce, input hash, body, seal.
export const HASH = 4;
export const KIND = 5;
export const LENGTH = 6;
export const KEY = 28;
export const BODY = KEY + 64;
export const recordBytes = (length: number) => (BODY + length + 7) & ~7;

export const SEGMENT = 65_536;
export const SMALLEST_SEGMENT = 4096;
/** A longer record gets its own segment, so that at most an eighth of a shared segment is wasted at its end. */
export const MAX_SHARED_RECORD = SEGMENT / 8;
/** Bytes of the JavaScript objects of a segment, measured by "memory held" in `test/runtime/replay.test.ts`. */
export const SEGMENT_OBJECTS = 700;
export const PAGE = 512;
export const PAGE_BYTES = PAGE * 8 + 300;

/**
 * Bytes reserved for a run: the most that storing its end can allocate, a segment for the largest body and an index
 * page.
 */
export const RUN_BYTES = recordBytes(MAX_RESULT_BYTES + MAX_SEAL_BYTES) + SEGMENT_OBJECTS + PAGE_BYTES;
/**
 * Bytes reserved for the held 504 of a tool that is still running, without its body: the most that `settle` can
 * allocate.
 */
export const HELD_BYTES = recordBytes(0) + 8 + SEGMENT_OBJECTS + PAGE_BYTES;

/** Position that means "no record". A record's position is segment slot · 8192 + offset / 8; slot 0 is never used. */
export const NONE = 0;
export const NO_SEAL = new Uint8Array(0);
/** The kind of a deleted record. Its bytes remain until `reclaim` reaches it. */
export const DEAD = 0;

/** A part of a tool's log: consecutive records, freed together when the last of them has expired. */
export class Segment {
  readonly bytes: Buffer;
  readonly words: Uint32Array;
  readonly doubles: Float64Array;
  used = 0;
  /** Records in the index, and the completion time of the last record. */
  live = 0;
  lastAt = 0;
  next: Segment | undefined;

  constructor(
    readonly slot: number,
    readonly size: number,
  ) {
    const buffer = new ArrayBuffer(size);
    this.bytes = Buffer.from(buffer);
    this.words = new Uint32Array(buffer);
    this.doubles = new Float64Array(buffer);
  }
}

/** The log of one tool. */
export interface Log {
  /** Removes up to `limit` expired or dead records. Returns their number. */
  reclaim(now: number, limit: number): number;
}

/** The kind of a record, stored as one number: the caller and all parts of the answer except body and seal. */
interface Kind extends ReplayCaller {
  readonly status: number;
  readonly code: string | undefined;
  readonly signable: boolean;
  /** Length in bytes of the seal at the end of the record. */
  readonly sealBytes: number;
}

/**
 * State shared by all tools: the bytes in use and their bound, the clock, the segments by slot, the kinds by number,
 * and the timer. The timer runs while a segment exists and does not keep the process alive.
 */
export class Arena {
  readonly maxBytes: number;
  readonly now: () => number;
  readonly logs = new Set<Log>();
  bytes = 0;
  /** Bytes of the runs and records of each leader; segments and index belong to no leader. */
  readonly leaders: Shares;
  records = 0;
  readonly #segments: (Segment | undefined)[] = [undefined];
  readonly #freeSlots: number[] = [];
  readonly #kinds: Kind[] = [];
  readonly #kindNumbers = new Map<string, number>();
  #lastKind = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(maxBytes: number, now: () => number, hasOneLeader: () => boolean) {
    this.maxBytes = maxBytes;
    this.now = now;
    this.leaders = new Shares(maxBytes, hasOneLeader);
  }

  /**
   * Reserves the bytes of a run. If necessary it removes expired entries, but only until there is room. Returns false
   * when the leader would still hold more than remains for all others.
   */
  reserve(leaderId: string, now: number): boolean {
    while (!this.leaders.allows(leaderId, RUN_BYTES, this.bytes)) {
      if (this.reclaim(now, RECLAIM_FOR_ROOM) === 0) return false;
    }
    this.hold(leaderId, RUN_BYTES);
    return true;
  }

  /** Counts bytes of a leader outside the records; a negative number releases. */
  hold(leaderId: string, bytes: number): void {
    this.bytes += bytes;
    this.leaders.add(leaderId, bytes);
  }

  /** Removes up to `limit` expired or dead records. Returns their number. */
  reclaim(now: number, limit: number): number {
    let left = limit;
    for (const log of this.logs) left -= log.reclaim(now, left);
    if (this.#segments.length - 1 === this.#freeSlots.length) this.#forgetKinds();
    return limit - left;
  }

  /** Clears slots and kinds once no segment is left to refer to them. */
  #forgetKinds(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#segments.length = 1;
    this.#freeSlots.length = 0;
    this.#kinds.length = 0;
    this.#kindNumbers.clear();
  }

  segment(position: number): Segment {
    return this.#segments[Math.floor(position / 8192)]!;
  }

  allocate(size: number): Segment {
    const segment = new Segment(this.#freeSlots.pop() ?? this.#segments.length, size);
    this.#segments[segment.slot] = segment;
    this.bytes += size + SEGMENT_OBJECTS;
    if (this.#timer === undefined) this.#sweepAfter(SWEEP_MS);
    return segment;
  }

  #sweepAfter(ms: number): void {
    this.#timer = setTimeout(() => {
      const isBacklog = this.reclaim(this.now(), RECLAIM_BY_TURN) === RECLAIM_BY_TURN;
      if (this.#timer !== undefined) this.#sweepAfter(isBacklog ? NEXT_TURN_MS : SWEEP_MS);
    }, ms).unref();
  }

  free(segment: Segment): void {
    this.#segments[segment.slot] = undefined;
    this.#freeSlots.push(segment.slot);
    this.bytes -= segment.size + SEGMENT_OBJECTS;
  }

  kind(number: number): Kind {
    return this.#kinds[number - 1]!;
  }

  /**
   * The number of a kind. The number of kinds is bounded by allow-listed keys times possible answers, with and without
   * a seal.
   */
  kindNumber({ status, code, signable, seal }: CachedAnswer, { leaderId, leaderKeyId }: ReplayCaller): number {
    const sealBytes = seal?.length ?? 0;
    const last = this.#kinds[this.#lastKind - 1];
    if (
      last?.status === status &&
      last.code === code &&
      last.signable === signable &&
      last.sealBytes === sealBytes &&
      last.leaderKeyId === leaderKeyId &&
      last.leaderId === leaderId
    ) {
      return this.#lastKind;
    }
    const name = `${status} ${signable} ${sealBytes} ${code} ${leaderKeyId} ${leaderId}`;
    let number = this.#kindNumbers.get(name);
    if (number === undefined) {
      number = this.#kinds.push({ status, code, signable, sealBytes, leaderId, leaderKeyId });
      this.#kindNumbers.set(name, number);
    }
    this.#lastKind = number;
    return number;
  }
}
