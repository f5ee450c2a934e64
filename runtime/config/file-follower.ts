// Follows files that operators replace under a running process: by content, whatever way the new version came.
//
// A watch on the directory says when to look, and a poll looks anyway: a watch goes deaf when a directory is replaced,
// does not see through links, does not exist on some file systems, and needs a descriptor that may not be there.

import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { digestOf, type FileReading, type OperatorFile, readOperatorFileLater } from "./operator-file.js";
import { ReloadCounter, type ReloadStats } from "./reload-stats.js";

/** Milliseconds between looks at a file that nothing is heard of. */
export const DEFAULT_RELOAD_INTERVAL_MS = 1_000;
/** A version counts when two looks this far apart find the same: a file that is being written is not judged. */
const SETTLE_MS = 100;
/** But a file that never rests is judged as it is after this time. */
const UNREST_MS = 1_000;

/** Why a version was not put in force. */
export interface Refusal {
  /** A sentence for the log: no text of the file. */
  readonly refused: string;
  /** Whether the same files may be good later, because the reason lies elsewhere. */
  readonly retry?: boolean;
}

/** Where the outcomes are told. */
export interface FollowerLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** What is followed, and what becomes of a new version. */
export interface FollowerOptions {
  /** Begins the sentences about all files together: `configuration "/etc/svc/config.json"`. */
  readonly title: string;
  /** The files that make one version together. Absolute. */
  readonly paths: readonly string[];
  /** Of the version in force, in the order of `paths`. */
  readonly digests: readonly string[];
  /** The sentence for a file that cannot be read, from what is wrong with it. */
  describe(fault: string, index: number): string;
  /** Validates a version and puts it in force, or says why not; then nothing may have changed. */
  adopt(files: readonly OperatorFile[]): Refusal | undefined;
  readonly log: FollowerLog;
  /** Default {@link DEFAULT_RELOAD_INTERVAL_MS}. */
  readonly intervalMs?: number;
}

/** What a look found: all files, and a text that is the same for the same contents and faults. */
interface Look {
  readonly state: string;
  readonly readings: readonly FileReading[];
}

/**
 * Follows files until it is closed. Does not keep the process alive. Never throws: whatever happens, what was last put
 * in force stays there.
 */
export class FileFollower {
  readonly #options: FollowerOptions;
  readonly #intervalMs: number;
  readonly #counter = new ReloadCounter();
  readonly #watchers = new Map<string, { watcher: FSWatcher; ino: bigint; dev: bigint }>();
  /** The state of the version in force. */
  #inForce: string;
  /** The state that was judged last; undefined to judge again whatever is found. */
  #judged: string | undefined;
  /** What was logged since the files were last good. */
  readonly #reported = new Set<string>();
  /** Those who asked for a look. */
  readonly #asking: (() => void)[] = [];
  #heard = false;
  #wake: (() => void) | undefined;
  #closed = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#intervalMs = options.intervalMs ?? DEFAULT_RELOAD_INTERVAL_MS;
    this.#inForce = this.#judged = stateOf(options.digests);
    void this.#run();
  }

  /** Outcomes and ages. */
  get stats(): ReloadStats {
    return this.#counter;
  }

  /** Looks now and judges what is there, without waiting for it to settle; resolves when that is done. */
  reload(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#asking.push(resolve);
      this.#wake?.();
    });
  }

  /** Stops following. Nothing is put in force afterwards. */
  close(): void {
    this.#closed = true;
    for (const { watcher } of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    this.#wake?.();
    for (const done of this.#asking.splice(0)) done();
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      const asking = this.#asking.splice(0);
      this.#heard = false;
      try {
        await this.#look(asking.length > 0);
      } catch {
        // Only a log that fails gets here; the next look is not its victim.
      }
      for (const done of asking) done();
      await this.#rest();
    }
  }

  async #look(asked: boolean): Promise<void> {
    await Promise.all(this.#directories().map((directory) => this.#arm(directory)));
    let look = await this.#read();
    if (!asked && look.state !== this.#judged) {
      const end = performance.now() + UNREST_MS;
      for (let settled = false; !settled && performance.now() < end; ) {
        await this.#pass(this.#settleMs());
        // Who asks gets a look of its own.
        if (this.#asking.length > 0) return;
        const again = await this.#read();
        settled = again.state === look.state;
        look = again;
      }
    }
    if (this.#closed) return;
    if (asked || look.state !== this.#judged) this.#judge(look, asked);
    else if (look.state === this.#inForce) this.#counter.seenGood();
  }

  #judge({ state, readings }: Look, asked: boolean): void {
    this.#judged = state;
    const { title, log } = this.#options;
    if (state === this.#inForce) {
      const again = this.#counter.fault !== undefined;
      this.#counter.countUnchanged();
      this.#reported.clear();
      log.info({}, `${title} ${again ? "holds the version in force again" : "is unchanged"}`);
      return;
    }
    const refusal = this.#adopt(readings);
    if (refusal === undefined) {
      this.#inForce = state;
      this.#counter.countApplied();
      this.#reported.clear();
      return;
    }
    const { refused, retry } = refusal;
    if (retry === true) this.#judged = undefined;
    // Judging the same again is no news, unless somebody asked.
    if (retry !== true || asked || this.#counter.fault !== refused) this.#counter.countRefused(refused);
    if (!asked && this.#reported.has(refused)) return;
    this.#reported.add(refused);
    log.warn({}, `${refused}; the previous version stays in force`);
  }

  #adopt(readings: readonly FileReading[]): Refusal | undefined {
    const files: OperatorFile[] = [];
    for (const [i, reading] of readings.entries()) {
      if ("fault" in reading) return { refused: this.#options.describe(reading.fault, i) };
      files.push(reading);
    }
    try {
      return this.#options.adopt(files);
    } catch {
      // What an unforeseen error says may be a text of the file.
      return { refused: `${this.#options.title} could not be loaded` };
    }
  }

  async #read(): Promise<Look> {
    const readings = await Promise.all(this.#options.paths.map(readOperatorFileLater));
    const states = readings.map((reading) => ("fault" in reading ? reading.fault : digestOf(reading.bytes)));
    return { state: stateOf(states), readings };
  }

  #directories(): string[] {
    return [...new Set(this.#options.paths.map(dirname))];
  }

  /** Sees to it that a directory is watched, the one that is there now. */
  async #arm(directory: string): Promise<void> {
    const found = await stat(directory, { bigint: true }).catch(() => undefined);
    const armed = this.#watchers.get(directory);
    if (this.#closed || (armed !== undefined && armed.ino === found?.ino && armed.dev === found.dev)) return;
    armed?.watcher.close();
    this.#watchers.delete(directory);
    if (found === undefined) return;
    try {
      const watcher = watch(directory, { persistent: false }, () => {
        this.#heard = true;
        this.#wake?.();
      });
      this.#watchers.set(directory, { watcher, ino: found.ino, dev: found.dev });
      watcher.on("error", () => {
        watcher.close();
        if (this.#watchers.get(directory)?.watcher === watcher) this.#watchers.delete(directory);
      });
    } catch {
      // No descriptor, no inotify: polling does.
    }
  }

  /** Waits for the next look: at once when somebody asks, shortly when something was heard. */
  async #rest(): Promise<void> {
    await this.#pass(this.#settleMs());
    await this.#pass(this.#intervalMs - this.#settleMs(), () => this.#heard);
  }

  /** Lets time pass, unless somebody asks or `enough` holds. */
  async #pass(milliseconds: number, enough: () => boolean = () => false): Promise<void> {
    const end = performance.now() + milliseconds;
    while (!this.#closed && this.#asking.length === 0 && !enough()) {
      const left = end - performance.now();
      if (left <= 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left).unref();
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  #settleMs(): number {
    return Math.min(SETTLE_MS, this.#intervalMs);
  }
}

function stateOf(states: readonly string[]): string {
  return states.join("\n");
}
