/**
 * The lifetimes of records, stored in Redis before they are used, because a repeat may reach another replica than its
 * first attempt, possibly one started later with another TTL (docs/replay-store.md).
 */

import { SCRIPTS, type Script } from "./scripts.js";

/** Milliseconds for which a process uses a stored lifetime. */
const NOTE_MS = 20_000;
/** Milliseconds by which a stored lifetime is valid longer, for network delays. */
const MARGIN_MS = 10_000;
/** Milliseconds for which lifetimes are stored. The outcome of an older repeat is unknown. */
export const HISTORY_MS = 30 * 86_400_000;

/** The lifetimes that this process has stored. */
export class NotedLifetimes {
  /** By key and lifetime: the pending write, and the time until which it need not be repeated. */
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
   * Resolves when the lifetime `ms` of a tool's records is stored.
   *
   * @param key key of the tool's lifetimes
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

  /** Forgets all stored lifetimes, because the server may have lost them. */
  forget(): void {
    this.#notes.clear();
  }
}
