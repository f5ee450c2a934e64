/** Generation in a process that stays: what was parsed and bound is used again as long as its text is the same. */

import { sep } from "node:path";
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
  /** The last run in which nothing was wrong, with the paths of which something was heard since. */
  private good: { readonly run: Omit<Last, "changed">; readonly heard: Set<string> } | undefined;

  constructor(private readonly options: GenerateOptions) {}

  /** What would be written now that something was heard of some paths; undefined when the last run still holds. */
  next(heard: ReadonlySet<string>): Generated | undefined {
    const { latest } = this;
    if (latest === undefined) return this.run(undefined);
    for (const path of heard) this.good?.heard.add(path);
    const changed = changesSince(latest.reads, nearOf(heard));
    const { folders, own } = latest.reads;
    const sameFolders = Object.entries(folders).every(([path, hash]) => folderHash(path, own) === hash);
    if (changed?.size === 0 && sameFolders) return undefined;
    if (!this.forget(changed)) return this.run(undefined);
    if (!sameFolders) this.earlier.project = undefined;
    const { good } = this;
    const since = good?.run.reads === latest.reads ? changed : good && changesSince(good.run.reads, nearOf(good.heard));
    return this.run(since && good && { ...good.run, changed: since });
  }

  /** Drops what was parsed of changed files; of all, and says no, when the change may mean more than their texts. */
  private forget(changed: ReadonlySet<string> | undefined): boolean {
    const { parsed, project } = this.earlier;
    const isSource = (path: string) => parsed.has(path) && project?.recorder.has(path) !== true;
    if (changed !== undefined && [...changed].every(isSource)) {
      for (const path of changed) parsed.delete(path);
      return true;
    }
    this.earlier = nothingEarlier();
    return false;
  }

  private run(last: Last | undefined): Generated {
    const generated = generate(this.options, last, this.earlier);
    this.latest = generated;
    const { kept, reads } = generated;
    if (kept !== undefined) this.good = { run: { kept, reads }, heard: new Set() };
    return generated;
  }
}

/** Whether a path or a folder that it is in is one of those heard of. */
function nearOf(heard: ReadonlySet<string>): Near {
  const folders = [...heard].map((path) => (path.endsWith(sep) ? path : path + sep));
  return (path) => heard.has(path) || folders.some((folder) => path.startsWith(folder));
}
