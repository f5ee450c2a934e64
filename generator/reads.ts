/** What a run of the generator looked at: enough to say later, without loading TypeScript, whether it would differ. */

import { resolve } from "node:path";
import type { ts } from "./compiler.js";

/** Absolute paths, sorted. */
export interface Reads {
  /** Files whose text was read. */
  readonly files: readonly string[];
  /** Places where a file or folder was looked for in vain: one that appears there shadows what was found elsewhere. */
  readonly missing: readonly string[];
  /** Folders whose entries decide what belongs to the project. */
  readonly folders: readonly string[];
}

/** Notes every look at the disk that goes through a host. */
export class Recorder {
  private readonly files = new Set<string>();
  private readonly missing = new Set<string>();
  private readonly folders = new Set<string>();

  file(path: string, there: boolean): void {
    (there ? this.files : this.missing).add(resolve(path));
  }

  folder(path: string): void {
    this.folders.add(resolve(path));
  }

  /** The same host, noting what it is asked. */
  over<H extends Pick<ts.CompilerHost, "fileExists" | "readFile" | "directoryExists" | "getDirectories">>(host: H): H {
    return {
      ...host,
      fileExists: (path: string) => {
        const there = host.fileExists(path);
        if (!there) this.file(path, false);
        return there;
      },
      readFile: (path: string) => {
        const text = host.readFile(path);
        this.file(path, text !== undefined);
        return text;
      },
      directoryExists: (path: string) => {
        const there = host.directoryExists?.(path) ?? true;
        if (!there) this.file(path, false);
        return there;
      },
      getDirectories: (path: string) => {
        this.folder(path);
        return host.getDirectories?.(path) ?? [];
      },
    };
  }

  /** All that was noted, but for `own`: what the generator writes is no input of it. */
  reads(own: (path: string) => boolean): Reads {
    const sorted = (paths: ReadonlySet<string>) => [...paths].filter((path) => !own(path)).sort();
    return { files: sorted(this.files), missing: sorted(this.missing), folders: sorted(this.folders) };
  }
}
