/** Bytes of the replay memory: segments, layout of records, and bytes held by each leader. */

import { MAX_RESULT_BYTES } from "svc-client/internal/wire/protocol";
import { Shares } from "../load/shares.js";
import { MAX_SEAL_BYTES } from "./cached-signature.js";
import type { CachedAnswer, ReplayCaller } from "./store.js";

const SWEEP_MS = 1000;
/**
 * Maximum number of expired entries removed in one turn of the event loop: up to 5 ms of work. If more are left, the
 * timer continues in the next turn, so that expiry keeps up with any rate.
 */
export const RECLAIM_BY_TURN = 2_000;
/** Number of expired entries that a claim removes at a time from a full store, until there is room. */
const RECLAIM_FOR_ROOM = 256;
/** Delay, in milliseconds, until the timer continues if expired entries are left. */
const NEXT_TURN_MS = 1;

// Layout of a record, 8-byte aligned: completion time (f64), kind (u32), length of body and seal together (u32), nonce,
// input hash, body, seal.
export const KIND = 2;
export const LENGTH = 3;
export const KEY = 16;
export const BODY = KEY + 64;
export const recordBytes = (length: number) => (BODY + length + 7) & ~7;

export const SEGMENT = 65_536;
export const SMALLEST_SEGMENT = 4096;
/** Records above this size get their own segment, so that a shared segment wastes at most an eighth at its end. */
export const MAX_SHARED_RECORD = SEGMENT / 8;
/** Bytes of a segment's JavaScript objects, measured by "memory held" in `test/runtime/replay.test.ts`. */
export const SEGMENT_OBJECTS = 700;
/** Bytes of a record in the index, measured in the same way. */
export const INDEX_BYTES = 128;

/**
 * Bytes reserved for a run: the maximum that storing its end can allocate, which is a segment for the largest body.
 */
export const RUN_BYTES = recordBytes(MAX_RESULT_BYTES + MAX_SEAL_BYTES) + SEGMENT_OBJECTS + INDEX_BYTES;
/**
 * Bytes reserved for the stored 504 of a tool that is still running, without its body: the maximum that `settle` can
 * allocate.
 */
export const HELD_BYTES = recordBytes(0) + 8 + SEGMENT_OBJECTS + INDEX_BYTES;

/** The position of a record is segment slot · 8192 + offset / 8. */
export const NO_SEAL = new Uint8Array(0);
/** Kind of a deleted record, whose bytes remain until `reclaim` reaches it. */
export const DEAD = 0;

/** Part of a tool's log: consecutive records, freed together after the last of them has expired. */
export class Segment {
  readonly bytes: Buffer;
  readonly words: Uint32Array;
  readonly doubles: Float64Array;
  used = 0;
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

export interface RecordLog {
  /** Removes up to `limit` expired or dead records and returns their number. */
  reclaim(now: number, limit: number): number;
}

/** Kind of a record, stored as one number: the caller, and all parts of the answer except body and seal. */
interface Kind extends ReplayCaller {
  readonly status: number;
  readonly code: string | undefined;
  readonly signable: boolean;
  /** Length in bytes of the seal at the end of the record. */
  readonly sealBytes: number;
}

/**
 * State shared by all tools: bytes in use and their limit, clock, segments by slot, kinds by number, and a timer. The
 * timer runs while a segment exists and does not keep the process alive.
 */
export class Arena {
  readonly maxBytes: number;
  readonly now: () => number;
  readonly logs = new Set<RecordLog>();
  bytes = 0;
  /** Bytes of the runs and records of each leader. Segments and the index belong to no leader. */
  readonly leaders: Shares;
  records = 0;
  readonly #segments: (Segment | undefined)[] = [undefined];
  readonly #freeSlots: number[] = [];
  readonly #kinds: Kind[] = [];
  readonly #kindNumbers = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(maxBytes: number, now: () => number, hasOneLeader: () => boolean) {
    this.maxBytes = maxBytes;
    this.now = now;
    this.leaders = new Shares(maxBytes, hasOneLeader);
  }

  /**
   * Reserves the bytes of a run, and removes expired entries if that is necessary. Returns false if the leader would
   * hold more than remains for all others.
   */
  reserve(leaderId: string, now: number): boolean {
    while (!this.leaders.allows(leaderId, RUN_BYTES, this.bytes)) {
      if (this.reclaim(now, RECLAIM_FOR_ROOM) === 0) return false;
    }
    this.hold(leaderId, RUN_BYTES);
    return true;
  }

  /** Counts bytes of a leader outside the records; a negative number releases bytes. */
  hold(leaderId: string, bytes: number): void {
    this.bytes += bytes;
    this.leaders.add(leaderId, bytes);
  }

  /** Removes up to `limit` expired or dead records and returns their number. */
  reclaim(now: number, limit: number): number {
    let left = limit;
    for (const log of this.logs) left -= log.reclaim(now, left);
    if (this.#segments.length - 1 === this.#freeSlots.length) this.#forgetKinds();
    return limit - left;
  }

  /** Clears slots and kinds if no segment is left that refers to them. */
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
   * Number of a kind. There are at most as many kinds as keys in the allow-list times possible answers, with and
   * without a seal.
   */
  kindNumber({ status, code, signable, seal }: CachedAnswer, { leaderId, leaderKeyId }: ReplayCaller): number {
    const sealBytes = seal?.length ?? 0;
    const name = `${status} ${signable} ${sealBytes} ${code} ${leaderKeyId} ${leaderId}`;
    let number = this.#kindNumbers.get(name);
    if (number === undefined) {
      number = this.#kinds.push({ status, code, signable, sealBytes, leaderId, leaderKeyId });
      this.#kindNumbers.set(name, number);
    }
    return number;
  }
}
