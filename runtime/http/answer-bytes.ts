import { type AnswerMemory, answerMemoryOf } from "../answer-memory.js";

/** Heap that a chunk takes in addition to its bytes. An answer can arrive in chunks of one byte. */
const CHUNK_BYTES = 256;

/** Bytes of an answer in the memory of its run. */
export class AnswerBytes {
  readonly #memory: AnswerMemory | undefined;
  #held = 0;
  #isRefused = false;

  constructor(signal: AbortSignal) {
    this.#memory = answerMemoryOf(signal);
  }

  /** Why nothing more was read; undefined if there was room. */
  get refused(): string | undefined {
    if (!this.#isRefused) return undefined;
    const most = `${this.#memory?.most} bytes`;
    return `nothing more was read, because the server's memory for answers of other services, of which one caller may use at most ${most}, is full`;
  }

  /** Counts a chunk that has arrived. Returns false if there is no room. */
  add(bytes: number): boolean {
    const amount = bytes + CHUNK_BYTES;
    try {
      this.#memory?.charge(amount);
      this.#held += amount;
    } catch {
      this.#isRefused = true;
    }
    return !this.#isRefused;
  }

  /** Releases everything except this number of bytes, which the tool gets. */
  keep(bytes: number): void {
    const kept = Math.min(bytes, this.#held);
    this.#memory?.release(this.#held - kept);
    this.#held = kept;
  }
}
