/**
 * The lifetimes of records, noted in Redis before they are used: a repeat may reach another replica than its first
 * attempt, or a replica that was started since with another TTL in its configuration (docs/replay-store.md).
 */

import { SCRIPTS, type Script } from "./scripts.js";

/** Milliseconds for which a process uses a lifetime that it has noted. */
const NOTE_MS = 20_000;
/** Milliseconds that a note holds longer, for the way to the server and back. */
const MARGIN_MS = 10_000;
/** Milliseconds for which notes are kept. An older repeat is of unknown fate. */
export const HISTORY_MS = 30 * 86_400_000;

/** The notes that this process has written. */
export class NotedLifetimes {
  /** By key and lifetime: the writing of the note, and the time until which it need not be written again. */
  readonly #notes = new Map<string, { readonly written: Promise<unknown>; readonly until: number }>();

  readonly #run: (script: Script, ...args: readonly (Buffer | string | number)[]) => Promise<unknown>;
  readonly #noteMs: number;

  constructor(
    run: (script: Script, ...args: readonly (Buffer | string | number)[]) => Promise<unknown>,
    noteMs = NOTE_MS,
  ) {
    this.#run = run;
    this.#noteMs = noteMs;
  }

  /**
   * Resolves when it is noted that records of a tool live for `ms` milliseconds now.
   *
   * @param key of the tool's notes
   * @throws RedisFault
   */
  async note(key: Buffer, ms: number): Promise<void> {
    const id = `${ms} ${key.toString("latin1")}`;
    const now = performance.now();
    let note = this.#notes.get(id);
    if (note === undefined || note.until <= now) {
      const written = this.#run(SCRIPTS.note, key, ms, this.#noteMs + MARGIN_MS, HISTORY_MS);
      note = { written, until: now + this.#noteMs };
      this.#notes.set(id, note);
      written.catch(() => this.#notes.delete(id));
    }
    await note.written;
  }

  /** Forgets all notes: the server has lost them, or may have. */
  forget(): void {
    this.#notes.clear();
  }
}
