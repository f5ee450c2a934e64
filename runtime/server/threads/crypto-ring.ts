/**
 * A ring buffer of jobs in shared memory: the main thread writes jobs, and a crypto thread processes them in order. Two
 * counters hold the number of jobs pushed and done; each side waits on the other's counter.
 */

/** Maximum number of jobs in progress on one thread. */
export const SLOTS = 1024;
/** Maximum message length in bytes: a tool signs 161 bytes, a leader 32 (protocol.md section 4). */
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

  /** Writes job number `at` without pushing it. */
  write(at: number, kind: number, key: number, message: Uint8Array, signature: Uint8Array | undefined): void {
    const slot = at & (SLOTS - 1);
    const words = slot * SLOT_WORDS;
    this.words[words + KIND] = kind;
    this.words[words + KEY] = key;
    this.words[words + LENGTH] = message.length;
    this.bytes.set(message, slot * SLOT_BYTES);
    if (signature !== undefined) this.bytes.set(signature, slot * SLOT_BYTES + MAX_MESSAGE);
  }

  /** Makes the jobs before number `count` visible to the crypto thread and wakes it. */
  push(count: number): void {
    Atomics.store(this.counters, 0, count);
    Atomics.notify(this.counters, 0);
  }

  /** Makes the outcomes of the jobs before number `count` visible to the main thread and wakes it. */
  finish(count: number): void {
    Atomics.store(this.counters, 1, count);
    Atomics.notify(this.counters, 1);
  }

  /** Blocks until more than `pushed` jobs are pushed; only for the crypto thread. */
  waitForPush(pushed: number): void {
    Atomics.wait(this.counters, 0, pushed);
  }

  /** Resolves when more than `done` jobs are done; undefined when they already are. */
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

  /** Copies the message of a job, because libsodium's binding cannot read shared memory. */
  message(at: number): Buffer {
    const slot = at & (SLOTS - 1);
    const start = slot * SLOT_BYTES;
    return Buffer.from(this.bytes.subarray(start, start + (this.words[slot * SLOT_WORDS + LENGTH] as number)));
  }

  /** Copies the signature that a job verifies or has made. */
  signature(at: number): Buffer {
    const start = (at & (SLOTS - 1)) * SLOT_BYTES + MAX_MESSAGE;
    return Buffer.from(this.bytes.subarray(start, start + SIGNATURE_BYTES));
  }

  setSignature(at: number, signature: Uint8Array): void {
    this.bytes.set(signature, (at & (SLOTS - 1)) * SLOT_BYTES + MAX_MESSAGE);
  }

  /** Whether the signature of a job is valid. */
  verdict(at: number): boolean {
    return this.words[(at & (SLOTS - 1)) * SLOT_WORDS + VERDICT] === 1;
  }

  setVerdict(at: number, verified: boolean): void {
    this.words[(at & (SLOTS - 1)) * SLOT_WORDS + VERDICT] = verified ? 1 : 0;
  }
}
