/** Says when something happens to any of the paths on which a result depends, or where one of them may appear. */

import { existsSync, type FSWatcher, watch } from "node:fs";
import { dirname, join } from "node:path";
import type { Reads } from "./reads.js";

/** Milliseconds without another event after which what was heard is told: one save is several events. */
const SETTLE_MS = 6;

/** What was heard of, and when it began, as `performance.now()` counts. */
export interface News {
  readonly paths: ReadonlySet<string>;
  readonly since: number;
}

/** Listens to folders, not to files: a file that is replaced is another one, and one that is to come has no listener. */
export class Listener {
  private readonly watchers = new Map<string, FSWatcher>();
  /** Paths that matter, with all the folders that they are in, and folders of which every entry matters. */
  private paths: ReadonlySet<string> = new Set();
  private folders: ReadonlySet<string> = new Set();
  private heard = new Set<string>();
  private since = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly tell: (news: News) => void) {}

  /** Listens wherever these reads have looked and where the `written` files are, and nowhere else. */
  follow({ files, missing, found, links, folders, listings }: Reads, written: readonly string[]): void {
    this.folders = new Set([...Object.keys(folders), ...Object.keys(listings)]);
    const places = [...Object.keys(files), ...missing, ...found, ...Object.keys(links), ...written];
    const paths = new Set([...places, ...this.folders]);
    for (const path of paths) paths.add(dirname(path));
    this.paths = paths;
    const wanted = new Set([...this.folders, ...[...paths].map((path) => dirname(path))].filter(existsSync));
    for (const [folder, watcher] of this.watchers) if (!wanted.has(folder)) this.drop(folder, watcher);
    const opened = [...wanted].filter((folder) => !this.watchers.has(folder) && this.open(folder));
    // Something may have happened there between the reading and now.
    if (opened.length > 0) this.note(opened);
  }

  close(): void {
    clearTimeout(this.timer);
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
  }

  private open(folder: string): boolean {
    try {
      const watcher = watch(folder, (_, name) => this.hear(name === null ? folder : join(folder, name), folder));
      watcher.on("error", () => this.drop(folder, watcher));
      this.watchers.set(folder, watcher);
      return true;
    } catch {
      // It is gone or closed to us; the folder that it is in has a listener.
      return false;
    }
  }

  private drop(folder: string, watcher: FSWatcher): void {
    watcher.close();
    if (this.watchers.get(folder) === watcher) this.watchers.delete(folder);
  }

  private hear(path: string, folder: string): void {
    if (!this.paths.has(path) && !this.folders.has(folder)) return;
    const watcher = this.watchers.get(path);
    if (watcher !== undefined) {
      // The folder may be another one now, and its listener listens to the one that is gone.
      this.drop(path, watcher);
      this.open(path);
    }
    this.note([path]);
  }

  private note(paths: readonly string[]): void {
    if (this.heard.size === 0) this.since = performance.now();
    for (const path of paths) this.heard.add(path);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const news = { paths: this.heard, since: this.since };
      this.heard = new Set();
      this.tell(news);
    }, SETTLE_MS);
  }
}
