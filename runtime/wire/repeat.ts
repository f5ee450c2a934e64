/**
 * The header `Replay-Memory` of a repeated request (protocol.md section 8): `NAME;age=MS` names the replay memory that may
 * hold the first attempt.
 */

/** The content of the header. */
export interface Repeat {
  /** Name of the replay memory that the caller knew when it first sent the request. */
  readonly memory: string;
  /** Milliseconds since then, an integer. */
  readonly ageMs: number;
}

/** Formats the header. */
export function repeatText({ memory, ageMs }: Repeat): string {
  return `${memory};age=${ageMs}`;
}

const REPEAT = /^([A-Za-z0-9_-]{22});age=(\d{1,15})$/;

/** Parses the header; undefined for malformed text. */
export function readRepeat(text: string): Repeat | undefined {
  const [, memory, ageMs] = REPEAT.exec(text) ?? [];
  return memory === undefined ? undefined : { memory, ageMs: Number(ageMs) };
}
