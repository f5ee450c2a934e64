/** Generation in a process that stays: what was parsed and bound is used again as long as its text is the same. */

import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { folderHash } from "./content.js";
import { type Generated, type GenerateOptions, generate, type Last } from "./generate.js";
import { changesSince } from "./manifest.js";
import { type Earlier, nothingEarlier } from "./program.js";

/** Paths of which something was heard, as a question about other paths. */
type Near = (path: string) => boolean;

export class Session {
  private earlier: Earlier = nothingEarlier();
  /** The last run. */
  private latest: Generated | undefined;
  /** The last run in which nothing was wrong. */
  private good: Omit<Last, "changed"> | undefined;

  constructor(private readonly options: GenerateOptions) {}

  /** What would be written now that something was heard of some paths; undefined when the last run still holds. */
  next(heard: ReadonlySet<string>): Generated | undefined {
    const { earlier, good, latest } = this;
    if (latest === undefined) return this.run(undefined);
    const changed = changesSince(latest.reads, nearOf(heard));
    const { folders, own } = latest.reads;
    const sameFolders = Object.entries(folders).every(([path, hash]) => folderHash(path, own) === hash);
    if (changed?.size === 0 && sameFolders) return undefined;
    if (!this.forget(changed)) return this.run(undefined);
    if (!sameFolders) earlier.project = undefined;
    if (good === undefined || good.reads === latest.reads) return this.run(good && changed && { ...good, changed });
    // Runs with errors lie between: what they have not read was not listened to, and where they looked is in no good record.
    this.resolveAnew();
    const since = changesSince(good.reads);
    for (const path of since ?? []) earlier.parsed.delete(path);
    return this.run(since && { ...good, changed: since });
  }

  /** Drops what was parsed of changed files; of all, and says no, when the change may mean more than their texts. */
  private forget(changed: ReadonlySet<string> | undefined): boolean {
    const { parsed, project } = this.earlier;
    const isSource = (path: string) => parsed.has(path) && project?.recorder.has(path) !== true;
    if (changed !== undefined && [...changed].every(isSource)) {
      for (const path of changed) parsed.delete(path);
      // The names that stood for a file that is gone stand for another one, or for none.
      if (![...changed].every(existsSync)) this.resolveAnew();
      return true;
    }
    this.earlier = nothingEarlier();
    return false;
  }

  private resolveAnew(): void {
    this.earlier.program = undefined;
    this.earlier.resolutions = undefined;
  }

  private run(last: Last | undefined): Generated {
    const generated = generate(this.options, last, this.earlier);
    this.latest = generated;
    const { kept, reads } = generated;
    if (kept !== undefined) this.good = { kept, reads };
    const { parsed } = this.earlier;
    // Nobody listens to what was not read.
    const isRead = (path: string) => path in reads.files || reads.own.includes(path);
    for (const [path, { file }] of parsed) if (!isRead(resolve(file.fileName))) parsed.delete(path);
    return generated;
  }
}

/** Whether a path or a folder that it is in is one of those heard of. */
function nearOf(heard: ReadonlySet<string>): Near {
  const folders = new Map<string, boolean>();
  const near = (path: string): boolean => {
    if (heard.has(path)) return true;
    const folder = dirname(path);
    if (folder === path) return false;
    const known = folders.get(folder) ?? near(folder);
    folders.set(folder, known);
    return known;
  };
  return near;
}
