/**
 * The header `Replay-Memory` of a repeated request (protocol.md section 8). `NAME;age=MS` identifies the replay memory
 * that may hold the first attempt.
 */

export interface Repeat {
  /** Name of the replay memory that the caller knew when it first sent the request. */
  readonly memory: string;
  /** Integer number of milliseconds since the first attempt. */
  readonly ageMs: number;
}

export function repeatText({ memory, ageMs }: Repeat): string {
  return `${memory};age=${ageMs}`;
}

/** Whether a text can be the name of a replay memory. */
export function isMemoryName(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text);
}

const REPEAT = /^([A-Za-z0-9_-]{22});age=(\d{1,15})$/;

/** Parses the header; undefined if it is malformed. */
export function readRepeat(text: string): Repeat | undefined {
  const [, memory, ageMs] = REPEAT.exec(text) ?? [];
  return memory === undefined ? undefined : { memory, ageMs: Number(ageMs) };
}
