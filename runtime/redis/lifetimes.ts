/**
 * Lifetimes of records. They are stored in Redis before they are used, because a repeated request may reach another
 * replica than its first attempt, and that replica may have another TTL (docs/replay-store.md).
 */

import { SCRIPTS, type Script, type ScriptArguments } from "./scripts.js";

/** Milliseconds during which a process need not store a lifetime again. */
const NOTE_MS = 20_000;
/**
 * Milliseconds that a stored lifetime is valid beyond the interval in which it is stored again, to allow for network
 * delays.
 */
const MARGIN_MS = 10_000;
/** Milliseconds for which the history of lifetimes is stored. Whether an older request has run is unknown. */
export const HISTORY_MS = 30 * 86_400_000;

/** Lifetimes that this process has stored. */
export class NotedLifetimes {
  /** By lifetime and key: the pending write, and the time until which it need not be repeated. */
  readonly #notes = new Map<string, { readonly written: Promise<unknown>; readonly until: number }>();

  readonly #run: (script: Script, ...args: ScriptArguments) => Promise<unknown>;
  readonly #noteMs: number;

  constructor(run: (script: Script, ...args: ScriptArguments) => Promise<unknown>, noteMs = NOTE_MS) {
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

  /** Forgets all stored lifetimes; called when the server may have lost them. */
  forget(): void {
    this.#notes.clear();
  }
}
