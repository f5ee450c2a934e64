/** Memory for the answers that a run reads from other services (docs/observe.md, "Memory"). */

/** Bytes that one run holds until it ends. */
export interface AnswerMemory {
  /** Maximum of a run while no other holds anything. */
  readonly most: number;
  /** @throws an error if there is no room; then nothing is charged */
  charge(bytes: number): void;
  release(bytes: number): void;
}

const memories = new WeakMap<AbortSignal, AnswerMemory>();

/** Assigns a memory to the run with this signal. */
export function provideAnswerMemory(signal: AbortSignal, memory: AnswerMemory): void {
  memories.set(signal, memory);
}

/** Memory of the run with this signal; undefined for any other signal. */
export function answerMemoryOf(signal: AbortSignal): AnswerMemory | undefined {
  return memories.get(signal);
}
