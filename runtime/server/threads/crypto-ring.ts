/**
 * The memory that the main thread and a crypto thread share: a ring of jobs, written by one and worked off by the other
 * in order. Two counters say how many jobs were pushed and how many are done; each side sleeps on the other's.
 */

/** Jobs that may be under way at once on one thread. */
export const SLOTS = 1024;
/** Bytes of the longest message: what a tool signs has 161, what a leader signs 32 (protocol.md section 4). */
export const MAX_MESSAGE = 192;

const SIGNATURE_BYTES = 64;
const KIND = 0;
const KEY = 1;
const LENGTH = 2;
const VERDICT = 3;
const SLOT_WORDS = 4;
const SLOT_BYTES = MAX_MESSAGE + SIGNATURE_BYTES;
const COUNTERS = 2;

export const VERIFY = 1;
export const SIGN = 2;

/** One side's view of the ring. Counters wrap at 2^32. */
export class CryptoRing {
  private readonly counters: Int32Array;
  private readonly words: Int32Array;
  private readonly bytes: Buffer;

  constructor(readonly memory: SharedArrayBuffer = new SharedArrayBuffer(CryptoRing.size)) {
    this.counters = new Int32Array(memory, 0, COUNTERS);
    this.words = new Int32Array(memory, 4 * COUNTERS, SLOTS * SLOT_WORDS);
    this.bytes = Buffer.from(memory, 4 * (COUNTERS + SLOTS * SLOT_WORDS));
  }

  private static readonly size = 4 * (COUNTERS + SLOTS * SLOT_WORDS) + SLOTS * SLOT_BYTES;

  /** Jobs pushed so far. */
  get pushed(): number {
    return Atomics.load(this.counters, 0);
  }

  /** Jobs done so far. */
  get done(): number {
    return Atomics.load(this.counters, 1);
  }

  /** Writes job number `at`; it is not pushed yet. */
  write(at: number, kind: number, key: number, message: Uint8Array, signature: Uint8Array | undefined): void {
    const slot = at & (SLOTS - 1);
    const words = slot * SLOT_WORDS;
    this.words[words + KIND] = kind;
    this.words[words + KEY] = key;
    this.words[words + LENGTH] = message.length;
    this.bytes.set(message, slot * SLOT_BYTES);
    if (signature !== undefined) this.bytes.set(signature, slot * SLOT_BYTES + MAX_MESSAGE);
  }

  /** Makes the jobs before number `count` visible to the thread, and wakes it. */
  push(count: number): void {
    Atomics.store(this.counters, 0, count);
    Atomics.notify(this.counters, 0);
  }

  /** Makes the outcomes of the jobs before number `count` visible to the main thread, and wakes it. */
  finish(count: number): void {
    Atomics.store(this.counters, 1, count);
    Atomics.notify(this.counters, 1);
  }

  /** Sleeps until more than `pushed` jobs are pushed. For the thread: it blocks. */
  waitForPush(pushed: number): void {
    Atomics.wait(this.counters, 0, pushed);
  }

  /** Resolves once more than `done` jobs are done; undefined when they are already. */
  waitForDone(done: number): Promise<unknown> | undefined {
    const { async, value } = Atomics.waitAsync(this.counters, 1, done);
    return async ? value : undefined;
  }

  kind(at: number): number {
    return this.words[(at & (SLOTS - 1)) * SLOT_WORDS + KIND] as number;
  }

  key(at: number): number {
    return this.words[(at & (SLOTS - 1)) * SLOT_WORDS + KEY] as number;
  }

  /** The message of a job: a copy, since libsodium's binding cannot read shared memory. */
  message(at: number): Buffer {
    const slot = at & (SLOTS - 1);
    const start = slot * SLOT_BYTES;
    return Buffer.from(this.bytes.subarray(start, start + (this.words[slot * SLOT_WORDS + LENGTH] as number)));
  }

  /** The signature that a job is given, or that it made: a copy. */
  signature(at: number): Buffer {
    const start = (at & (SLOTS - 1)) * SLOT_BYTES + MAX_MESSAGE;
    return Buffer.from(this.bytes.subarray(start, start + SIGNATURE_BYTES));
  }

  setSignature(at: number, signature: Uint8Array): void {
    this.bytes.set(signature, (at & (SLOTS - 1)) * SLOT_BYTES + MAX_MESSAGE);
  }

  /** Whether the signature of a job verified. */
  verdict(at: number): boolean {
    return this.words[(at & (SLOTS - 1)) * SLOT_WORDS + VERDICT] === 1;
  }

  setVerdict(at: number, verified: boolean): void {
    this.words[(at & (SLOTS - 1)) * SLOT_WORDS + VERDICT] = verified ? 1 : 0;
  }
}
