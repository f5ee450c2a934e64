// Polls files that operators replace while a process runs. Versions are compared by content, because timestamps are not
// exact on every file system.
//
// Directory watchers are not used: a watcher stops if the directory is replaced, does not follow links, does not exist
// on some file systems, and needs a file descriptor.

import { type HashedFile, type HashedReading, readOperatorFileAsync } from "./operator-file.js";
import { ReloadCounter, type ReloadStats } from "./reload-stats.js";

/** Milliseconds between checks. */
export const DEFAULT_RELOAD_INTERVAL_MS = 1_000;
/** Milliseconds between two reads. A version is checked once both are equal, because a file may be partly written. */
const SETTLE_MS = 100;
/** After this many milliseconds, a version is checked even if the file keeps changing. */
const MAX_SETTLE_MS = 1_000;

/** Reason why a version was rejected. */
export interface VersionRefusal {
  /** Sentence for the log, without text from the file. */
  readonly refused: string;
  /** Whether the same files may become valid later, because the reason lies outside them. */
  readonly retry?: boolean;
  /** Fields for the log about an unexpected error. */
  readonly cause?: object;
}

export interface FollowerLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** Watched files, and callbacks for a new version. */
export interface FollowerOptions {
  /** Subjects of the log sentences: `configuration "/etc/svc/config.json"`. The first one is for all files together. */
  readonly titles: readonly [string, ...string[]];
  /** Absolute paths of the files. Their contents form one version, which is adopted or rejected as a whole. */
  readonly paths: readonly string[];
  /** Digests of the current version, in the order of `paths`. */
  readonly digests: readonly string[];
  /**
   * Validates a version and adopts it, or returns the reason for rejecting it and changes nothing.
   */
  adopt(...files: readonly HashedFile[]): VersionRefusal | undefined;
  readonly log: FollowerLog;
  /** Default: {@link DEFAULT_RELOAD_INTERVAL_MS}. */
  readonly intervalMs?: number;
}

/** Contents of the files, and a string that identifies these contents or the reasons why they cannot be read. */
interface Version {
  readonly state: string;
  readonly readings: readonly HashedReading[];
}

/**
 * Watches files until it is closed. Does not keep the process alive. Never throws: the current version stays until
 * another one is valid.
 */
export class FileFollower {
  readonly #options: FollowerOptions;
  readonly #intervalMs: number;
  readonly #counter = new ReloadCounter();
  /** {@link Version.state} of the version in use. */
  #inForce: string;
  /** {@link Version.state} of the version checked last; undefined if the next read must be checked in any case. */
  #judged: string | undefined;
  /** Callbacks of `reload` calls. */
  readonly #pendingReloads: (() => void)[] = [];
  #wake: (() => void) | undefined;
  #closed = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#intervalMs = options.intervalMs ?? DEFAULT_RELOAD_INTERVAL_MS;
    this.#inForce = this.#judged = stateOf(options.digests);
    void this.#run();
  }

  get stats(): ReloadStats {
    return this.#counter;
  }

  /** Reads and checks the files now, even if they are still changing. */
  reload(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#pendingReloads.push(resolve);
      this.#wake?.();
    });
  }

  /** Counts a version that was adopted without this follower, by the digests of its files. */
  countAdopted(...digests: readonly string[]): void {
    this.#adopted(stateOf(digests));
  }

  /** Stops watching. Nothing is adopted afterwards. */
  close(): void {
    this.#closed = true;
    this.#wake?.();
    for (const done of this.#pendingReloads.splice(0)) done();
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      const reloads = this.#pendingReloads.splice(0);
      try {
        await this.#check(reloads.length > 0);
      } catch {
        // Only a failing logger throws here. It must not end the loop.
      }
      for (const done of reloads) done();
      await this.#sleep(this.#intervalMs);
    }
  }

  async #check(forced: boolean): Promise<void> {
    let version = await this.#read();
    const end = performance.now() + MAX_SETTLE_MS;
    for (let last: string | undefined; !forced && version.state !== this.#judged; version = await this.#read()) {
      if (version.state === last || performance.now() >= end) break;
      last = version.state;
      await this.#sleep(Math.min(SETTLE_MS, this.#intervalMs));
      // A requested reload starts a new check, which does not wait until the files settle.
      if (this.#pendingReloads.length > 0) return;
    }
    if (this.#closed) return;
    if (forced || version.state !== this.#judged) this.#judge(version, forced);
    else if (version.state === this.#inForce) this.#counter.seenGood();
  }

  #judge({ state, readings }: Version, forced: boolean): void {
    this.#judged = state;
    const {
      titles: [title],
      log,
    } = this.#options;
    if (state === this.#inForce) {
      const isRecovered = this.#counter.fault !== undefined;
      this.#counter.seenGood();
      log.info({}, `${title} ${isRecovered ? "again contains the version in use" : "is unchanged"}`);
      return;
    }
    const refusal = this.#adopt(readings);
    if (refusal === undefined) {
      this.#adopted(state);
      return;
    }
    const { refused, retry, cause } = refusal;
    const isSaid = !forced && this.#counter.fault === refused;
    if (retry === true) this.#judged = undefined;
    // A version that is checked again is counted once.
    if (retry !== true || !isSaid) this.#counter.countRefused(refused);
    if (isSaid) return;
    log.warn({ ...cause }, `${refused}; the previous version remains in use`);
  }

  #adopted(state: string): void {
    if (state === this.#inForce) return;
    this.#inForce = this.#judged = state;
    this.#counter.countApplied();
  }

  #adopt(readings: readonly HashedReading[]): VersionRefusal | undefined {
    const files: HashedFile[] = [];
    for (const [i, reading] of readings.entries()) {
      if ("fault" in reading) return { refused: `${this.#options.titles[i]} ${reading.fault}` };
      files.push(reading);
    }
    try {
      return this.#options.adopt(...files);
    } catch (error) {
      return { refused: `${this.#options.titles[0]} could not be loaded`, cause: causeOf(error) };
    }
  }

  async #read(): Promise<Version> {
    const readings = await Promise.all(this.#options.paths.map(readOperatorFileAsync));
    const state = stateOf(readings.map((reading) => ("fault" in reading ? reading.fault : reading.digest)));
    return { state, readings };
  }

  /** Waits for a number of milliseconds, or until a reload. */
  async #sleep(milliseconds: number): Promise<void> {
    if (this.#closed || this.#pendingReloads.length > 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Kind and place of an unexpected error. Its message may contain text from the file. */
function causeOf(error: unknown): object {
  const { name, code, stack = "" } = Object(error) as NodeJS.ErrnoException;
  const frames = stack.split("\n").flatMap((line) => /^ +at (?:async )?(\S+) \(/.exec(line)?.[1] ?? []);
  return { cause: code ?? name ?? typeof error, in: frames.slice(0, 5) };
}

function stateOf(states: readonly string[]): string {
  return states.join("\n");
}
