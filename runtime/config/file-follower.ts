// Follows files that operators replace under a running process, by content.
//
// A watcher of the directory triggers checks early, and polling covers its gaps: a watcher stops working when the
// directory is replaced, does not follow links, does not exist on some file systems, and needs a descriptor.

import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { digestOf, type FileReading, type OperatorFile, readOperatorFileAsync } from "./operator-file.js";
import { ReloadCounter, type ReloadStats } from "./reload-stats.js";

/** Milliseconds between checks without change events. */
const DEFAULT_RELOAD_INTERVAL_MS = 1_000;
/** A version is judged when two reads this many milliseconds apart are equal, so that a partial write is not. */
const SETTLE_MS = 100;
/** After this many milliseconds a version is judged even if the file keeps changing. */
const MAX_SETTLE_MS = 1_000;

/** The reason for not putting a version in force. */
export interface VersionRefusal {
  /** A sentence for the log, without text of the file. */
  readonly refused: string;
  /** Whether the same files may become valid, because the reason lies elsewhere. */
  readonly retry?: boolean;
}

/** Log of the outcomes. */
export interface FollowerLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** The followed files, and the handling of a new version. */
export interface FollowerOptions {
  /** Start of the sentences about all files together: `configuration "/etc/svc/config.json"`. */
  readonly title: string;
  /** Absolute paths of the files, which are adopted or refused together: their contents at one time are one version. */
  readonly paths: readonly string[];
  /** Digests of the version in force, in the order of `paths`. */
  readonly digests: readonly string[];
  /** Makes the sentence for an unreadable file from its fault. */
  describe(fault: string, index: number): string;
  /** Validates a version and puts it in force, or returns the reason for a refusal and changes nothing. */
  adopt(files: readonly OperatorFile[]): VersionRefusal | undefined;
  readonly log: FollowerLog;
  /** Default {@link DEFAULT_RELOAD_INTERVAL_MS}. */
  readonly intervalMs?: number;
}

/** The files as read, and a text that is equal for equal contents and faults. */
interface Version {
  readonly state: string;
  readonly readings: readonly FileReading[];
}

/**
 * Follows files until it is closed, without keeping the process alive. Never throws: the version in force stays until
 * another one is valid.
 */
export class FileFollower {
  readonly #options: FollowerOptions;
  readonly #intervalMs: number;
  readonly #counter = new ReloadCounter();
  readonly #watchers = new Map<string, { watcher: FSWatcher; ino: bigint; dev: bigint }>();
  /** The state of the version in force. */
  #inForce: string;
  /** The state judged last; undefined to judge the next one in any case. */
  #judged: string | undefined;
  /** Refusals logged since the files were last good. */
  readonly #reported = new Set<string>();
  /** Callbacks of forced reloads. */
  readonly #pendingReloads: (() => void)[] = [];
  #notified = false;
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

  /** Reads and judges the files now, without waiting for them to settle. */
  reload(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#pendingReloads.push(resolve);
      this.#wake?.();
    });
  }

  /** Stops following. Nothing is put in force afterwards. */
  close(): void {
    this.#closed = true;
    for (const { watcher } of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    this.#wake?.();
    for (const done of this.#pendingReloads.splice(0)) done();
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      const reloads = this.#pendingReloads.splice(0);
      this.#notified = false;
      try {
        await this.#check(reloads.length > 0);
      } catch {
        // Only a failing log throws here, which must not stop the following.
      }
      for (const done of reloads) done();
      await this.#waitForCheck();
    }
  }

  async #check(forced: boolean): Promise<void> {
    await Promise.all(this.#directories().map((directory) => this.#ensureWatcher(directory)));
    let version = await this.#read();
    if (!forced && version.state !== this.#judged) {
      const end = performance.now() + MAX_SETTLE_MS;
      for (let settled = false; !settled && performance.now() < end; ) {
        await this.#sleep(this.#settleMs());
        // A forced reload gets a check of its own.
        if (this.#pendingReloads.length > 0) return;
        const next = await this.#read();
        settled = next.state === version.state;
        version = next;
      }
    }
    if (this.#closed) return;
    if (forced || version.state !== this.#judged) this.#judge(version, forced);
    else if (version.state === this.#inForce) this.#counter.seenGood();
  }

  #judge({ state, readings }: Version, forced: boolean): void {
    this.#judged = state;
    const { title, log } = this.#options;
    if (state === this.#inForce) {
      const isRecovered = this.#counter.fault !== undefined;
      this.#counter.countUnchanged();
      this.#reported.clear();
      log.info({}, `${title} ${isRecovered ? "holds the version in force again" : "is unchanged"}`);
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
    // A retry with the same refusal is counted only when forced.
    if (retry !== true || forced || this.#counter.fault !== refused) this.#counter.countRefused(refused);
    if (!forced && this.#reported.has(refused)) return;
    this.#reported.add(refused);
    log.warn({}, `${refused}; the previous version stays in force`);
  }

  #adopt(readings: readonly FileReading[]): VersionRefusal | undefined {
    const files: OperatorFile[] = [];
    for (const [i, reading] of readings.entries()) {
      if ("fault" in reading) return { refused: this.#options.describe(reading.fault, i) };
      files.push(reading);
    }
    try {
      return this.#options.adopt(files);
    } catch {
      // The message of an unforeseen error may contain text of the file.
      return { refused: `${this.#options.title} could not be loaded` };
    }
  }

  async #read(): Promise<Version> {
    const readings = await Promise.all(this.#options.paths.map(readOperatorFileAsync));
    const states = readings.map((reading) => ("fault" in reading ? reading.fault : digestOf(reading.bytes)));
    return { state: stateOf(states), readings };
  }

  #directories(): string[] {
    return [...new Set(this.#options.paths.map(dirname))];
  }

  /** Watches the directory that is at the path now, also after it was replaced. */
  async #ensureWatcher(directory: string): Promise<void> {
    const found = await stat(directory, { bigint: true }).catch(() => undefined);
    const current = this.#watchers.get(directory);
    if (this.#closed || (current !== undefined && current.ino === found?.ino && current.dev === found.dev)) return;
    current?.watcher.close();
    this.#watchers.delete(directory);
    if (found === undefined) return;
    try {
      const watcher = watch(directory, { persistent: false }, () => {
        this.#notified = true;
        this.#wake?.();
      });
      this.#watchers.set(directory, { watcher, ino: found.ino, dev: found.dev });
      watcher.on("error", () => {
        watcher.close();
        if (this.#watchers.get(directory)?.watcher === watcher) this.#watchers.delete(directory);
      });
    } catch {
      // Without descriptors or inotify, polling suffices.
    }
  }

  /**
   * Waits for the next check: until a forced reload, for the settle time after a change event, else for the interval.
   */
  async #waitForCheck(): Promise<void> {
    await this.#sleep(this.#settleMs());
    await this.#sleep(this.#intervalMs - this.#settleMs(), () => this.#notified);
  }

  /** Waits for some milliseconds, or until a forced reload or `isDone`. */
  async #sleep(milliseconds: number, isDone: () => boolean = () => false): Promise<void> {
    const end = performance.now() + milliseconds;
    while (!this.#closed && this.#pendingReloads.length === 0 && !isDone()) {
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
