import { type Arena, HASH, KEY, NONE, PAGE, PAGE_BYTES } from "./memory-arena.js";

/** Key of the current look-up: nonce, then input hash. One buffer is sufficient because claims are synchronous. */
export const pair = Buffer.alloc(64);
const pairWords = new Uint32Array(pair.buffer, pair.byteOffset, 16);
const pairHalves = new Uint16Array(pair.buffer, pair.byteOffset, 32);
const hashKeys = Float64Array.from(crypto.getRandomValues(new Uint32Array(32)));

/**
 * Keyed universal hash, so that a leader cannot choose nonces that share a bucket. The sum stays below 2^53, so it is
 * exact.
 */
export function hashOfPair(): number {
  let sum = 0;
  for (let i = 0; i < 32; i++) sum += pairHalves[i]! * hashKeys[i]!;
  const mixed = Math.imul((sum / 0x1_0000_0000) | 0, 0x85ebca6b) ^ (sum | 0);
  const spread = Math.imul(mixed ^ (mixed >>> 16), 0xc2b2ae35);
  return (spread ^ (spread >>> 15)) >>> 0;
}

/** Hash table with linear hashing: an insertion splits at most one bucket, a removal merges at most one. */
export class Index {
  readonly #arena: Arena;
  readonly #pages: Float64Array[] = [];
  /** Number of buckets in use, and the largest power of two that is not greater. */
  #buckets = 0;
  #low = PAGE;
  size = 0;

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  /** Position of the record of `pair`, whose hash is `hash`; NONE if there is none. */
  find(hash: number): number {
    if (this.size === 0) return NONE;
    let position = this.#head(this.#bucketOf(hash));
    while (position !== NONE) {
      const { words, doubles } = this.#arena.segment(position);
      const at = position & 8191;
      if (words[at * 2 + HASH] === hash && samePair(words, at * 2 + KEY / 4)) return position;
      position = doubles[at + 1]!;
    }
    return NONE;
  }

  insert(hash: number, position: number): void {
    if (this.size >= this.#buckets) this.#split();
    const bucket = this.#bucketOf(hash);
    this.#setNext(position, this.#head(bucket));
    this.#setHead(bucket, position);
    this.size++;
  }

  remove(hash: number, position: number): void {
    const bucket = this.#bucketOf(hash);
    let at = this.#head(bucket);
    if (at === position) this.#setHead(bucket, this.#next(position));
    else {
      while (this.#next(at) !== position) at = this.#next(at);
      this.#setNext(at, this.#next(position));
    }
    this.size--;
    if (this.size === 0) {
      this.#arena.bytes -= this.#pages.length * PAGE_BYTES;
      this.#pages.length = this.#buckets = 0;
      this.#low = PAGE;
    } else if (this.size < this.#buckets - PAGE) this.#merge();
  }

  #split(): void {
    if (this.#buckets % PAGE === 0) {
      this.#pages.push(new Float64Array(PAGE));
      this.#arena.bytes += PAGE_BYTES;
      // Before the first page, there are no records to move.
      if (this.#buckets === 0) {
        this.#buckets = PAGE;
        return;
      }
    }
    const added = this.#buckets++;
    const from = added - this.#low;
    let position = this.#head(from);
    this.#setHead(from, NONE);
    if (this.#buckets === this.#low * 2) this.#low = this.#buckets;
    while (position !== NONE) {
      const next = this.#next(position);
      const bucket = this.#bucketOf(this.#hash(position));
      this.#setNext(position, this.#head(bucket));
      this.#setHead(bucket, position);
      position = next;
    }
  }

  #merge(): void {
    const removed = --this.#buckets;
    if (removed < this.#low) this.#low /= 2;
    const into = removed - this.#low;
    const moved = this.#head(removed);
    if (moved !== NONE) {
      let last = moved;
      while (this.#next(last) !== NONE) last = this.#next(last);
      this.#setNext(last, this.#head(into));
      this.#setHead(into, moved);
      this.#setHead(removed, NONE);
    }
    if (removed % PAGE === 0) {
      this.#pages.pop();
      this.#arena.bytes -= PAGE_BYTES;
    }
  }

  #bucketOf(hash: number): number {
    const bucket = hash & (this.#low * 2 - 1);
    return bucket < this.#buckets ? bucket : bucket & (this.#low - 1);
  }

  #head(bucket: number): number {
    return this.#pages[bucket >>> 9]![bucket & (PAGE - 1)]!;
  }

  #setHead(bucket: number, position: number): void {
    this.#pages[bucket >>> 9]![bucket & (PAGE - 1)] = position;
  }

  #hash(position: number): number {
    return this.#arena.segment(position).words[(position & 8191) * 2 + HASH]!;
  }

  #next(position: number): number {
    return this.#arena.segment(position).doubles[(position & 8191) + 1]!;
  }

  #setNext(position: number, next: number): void {
    this.#arena.segment(position).doubles[(position & 8191) + 1] = next;
  }
}

function samePair(words: Uint32Array, start: number): boolean {
  for (let i = 0; i < 16; i++) if (words[start + i] !== pairWords[i]) return false;
  return true;
}
