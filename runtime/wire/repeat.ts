/**
 * What a repeat of a request knows of the replay memory that may have its first attempt (protocol.md section 8): the
 * text `NAME;age=MS` in the header `Replay-Memory` (protocol.ts).
 */

/** A repeat of a request. */
export interface Repeat {
  /** The name of the replay memory that the caller knew when it first sent the request. */
  readonly memory: string;
  /** Milliseconds since then, an integer. */
  readonly ageMs: number;
}

/** The header of a repeat. */
export function repeatText({ memory, ageMs }: Repeat): string {
  return `${memory};age=${ageMs}`;
}

const REPEAT = /^([A-Za-z0-9_-]{22});age=(\d{1,15})$/;

/** Reads the header of a repeat; undefined for a text of another form, which names no memory. */
export function readRepeat(text: string): Repeat | undefined {
  const [, memory, ageMs] = REPEAT.exec(text) ?? [];
  return memory === undefined ? undefined : { memory, ageMs: Number(ageMs) };
}
