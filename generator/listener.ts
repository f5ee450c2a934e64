/** Says when something happens to any of the paths on which a result depends, or where one of them may appear. */

import { existsSync, type FSWatcher, lstatSync, readlinkSync, statSync, watch } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Reads } from "./reads.js";

/** Milliseconds without another event after which what was heard is told: one save is several events. */
const SETTLE_MS = 6;

/** What was heard of, and when it began, as `performance.now()` counts. */
export interface News {
  readonly paths: ReadonlySet<string>;
  readonly since: number;
}

interface Listened {
  readonly watcher: FSWatcher;
  /** Which folder it listens to: there may be another one at the path. */
  readonly identity: string;
}

/** Listens to folders, not to files: a file that is replaced is another one, and one that is to come has no listener. */
export class Listener {
  private readonly watchers = new Map<string, Listened>();
  /** The folders to listen to, there or not. */
  private wanted: ReadonlySet<string> = new Set();
  /** Whether any of them may be another one now. */
  private moved = false;
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
    const wanted = new Set([...this.folders, ...[...paths].map((path) => dirname(path))]);
    for (const path of missing) if (targetOf(path) !== undefined) wanted.add(path);
    for (const folder of wanted) {
      wanted.add(dirname(folder));
      // What a link leads to may be yet to come, and nobody hears of it where the link is.
      const target = existsSync(folder) ? undefined : targetOf(folder);
      if (target !== undefined) wanted.add(target);
    }
    this.wanted = wanted;
    for (const [folder, { watcher }] of this.watchers) if (!wanted.has(folder)) this.drop(folder, watcher);
    const opened = [...wanted].filter((folder) => !this.watchers.has(folder) && this.open(folder));
    // Something may have happened there between the reading and now.
    if (opened.length > 0) this.note(opened);
  }

  close(): void {
    clearTimeout(this.timer);
    for (const { watcher } of this.watchers.values()) watcher.close();
    this.watchers.clear();
  }

  private open(folder: string): boolean {
    const identity = identityOf(folder);
    if (identity === undefined) return false;
    try {
      const watcher = watch(folder, (_, name) => this.hear(name === null ? folder : join(folder, name), folder));
      watcher.on("error", () => this.drop(folder, watcher));
      this.watchers.set(folder, { watcher, identity });
      return true;
    } catch {
      // It is gone or closed to us; the folder that it is in has a listener.
      return false;
    }
  }

  private drop(folder: string, watcher: FSWatcher): void {
    watcher.close();
    if (this.watchers.get(folder)?.watcher === watcher) this.watchers.delete(folder);
  }

  /** Listens anew where another folder has taken the place of one: the listener of that one hears nothing any more. */
  private renew(): void {
    this.moved = false;
    for (const folder of this.wanted) {
      const listened = this.watchers.get(folder);
      if (listened?.identity === identityOf(folder)) continue;
      if (listened !== undefined) this.drop(folder, listened.watcher);
      if (this.open(folder)) this.heard.add(folder);
    }
  }

  private hear(path: string, folder: string): void {
    // A folder that goes says so under its own name.
    const moved = this.wanted.has(path) || basename(path) === basename(folder);
    if (!moved && !this.paths.has(path) && !this.folders.has(folder)) return;
    this.moved ||= moved;
    this.note([path]);
  }

  private note(paths: readonly string[]): void {
    if (this.heard.size === 0) this.since = performance.now();
    for (const path of paths) this.heard.add(path);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.moved) this.renew();
      const news = { paths: this.heard, since: this.since };
      this.heard = new Set();
      this.tell(news);
    }, SETTLE_MS);
  }
}

function targetOf(link: string): string | undefined {
  try {
    const isLink = lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    return isLink ? resolve(dirname(link), readlinkSync(link)) : undefined;
  } catch {
    return undefined;
  }
}

/** Numbers of folders that are gone are given to new ones, which are younger. */
function identityOf(folder: string): string | undefined {
  try {
    const stats = statSync(folder, { bigint: true, throwIfNoEntry: false });
    return stats && `${stats.dev} ${stats.ino} ${stats.birthtimeNs}`;
  } catch {
    return undefined;
  }
}
