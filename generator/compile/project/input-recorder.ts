/** Records all file-system lookups of a run, so that the next run can detect changes. */

import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isWithin } from "../../files/atomic-write.js";
import { contentHash, folderEntries, folderHash } from "./file-hash.js";
import { ts } from "./typescript.js";

/** Inputs of a run, by absolute path. */
export interface InputSnapshot {
  /** Hashes of the files that were read. */
  readonly files: Readonly<Record<string, string>>;
  /** Paths where no file existed. A new file there may take precedence over one found elsewhere. */
  readonly missing: readonly string[];
  readonly missingFolders: readonly string[];
  /** Files that were found but not read. */
  readonly found: readonly string[];
  /** Hashes of the folders that were searched for source files. */
  readonly folders: Readonly<Record<string, string>>;
  /** Hashes of the folders with packages of global types (`node_modules/@types`). */
  readonly listings: Readonly<Record<string, string>>;
  readonly links: Readonly<Record<string, string>>;
  /** Generated files and their folder, which are not inputs. */
  readonly own: readonly string[];
}

type Host = Pick<
  ts.CompilerHost,
  "fileExists" | "readFile" | "directoryExists" | "getDirectories" | "readDirectory" | "realpath"
>;

/** TypeScript's internal folder search (6.0). */
const { matchFiles } = ts as unknown as {
  matchFiles(
    path: string,
    extensions: readonly string[] | undefined,
    excludes: readonly string[] | undefined,
    includes: readonly string[],
    isCaseSensitive: boolean,
    current: string,
    depth: number | undefined,
    entries: (path: string) => { readonly files: readonly string[]; readonly directories: readonly string[] },
    realpath: (path: string) => string,
  ): string[];
};

export class InputRecorder {
  readonly #files = new Map<string, string>();
  readonly #missing = new Set<string>();
  readonly #missingFolders = new Set<string>();
  readonly #found = new Set<string>();
  readonly #folders = new Map<string, string>();
  readonly #listings = new Map<string, string>();
  readonly #links = new Map<string, string>();

  readonly #own: readonly string[];

  /** @param own paths that the generator writes */
  constructor(own: readonly string[]) {
    this.#own = own;
  }

  file(path: string, text: string | undefined): void {
    const absolute = resolve(path);
    if (text === undefined) this.#missing.add(absolute);
    else if (!this.#files.has(absolute)) this.#files.set(absolute, contentHash(text));
  }

  /** Reads the entries of a folder, and records them if source files may be in it. */
  #entries(path: string, bases: readonly string[]): { files: string[]; directories: string[] } {
    const folder = resolve(path);
    const entries = folderEntries(folder);
    if (bases.some((base) => isWithin(base, folder))) {
      this.#folders.set(folder, folderHash(folder, this.#own, entries));
      // The generator may create the output folder, so it is excluded from its parent's hash and hashed separately.
      const [out] = this.#own;
      if (out !== undefined && dirname(out) === folder) this.#folders.set(out, folderHash(out, this.#own));
    }
    const names = (wanted: boolean) => entries.filter(([, isFolder]) => isFolder === wanted).map(([name]) => name);
    return { files: names(false), directories: names(true) };
  }

  /** Wraps a host to record its lookups. */
  wrap<H extends Host>(host: H): H {
    return {
      ...host,
      fileExists: (path: string) => {
        const there = host.fileExists(path);
        // A path with a trailing slash is never a file, but the same path without the slash may be one.
        if (there || !path.endsWith("/")) (there ? this.#found : this.#missing).add(resolve(path));
        return there;
      },
      readFile: (path: string) => {
        const text = host.readFile(path);
        this.file(path, text);
        return text;
      },
      directoryExists: (path: string) => {
        const there = host.directoryExists?.(path) ?? true;
        if (!there) this.#missingFolders.add(resolve(path));
        return there;
      },
      getDirectories: (path: string) => {
        this.#listings.set(resolve(path), folderHash(path, this.#own));
        return host.getDirectories?.(path) ?? [];
      },
      readDirectory: (path, extensions, excludes, includes, depth) => {
        const bases = includes.map((pattern) => resolve(path, pattern.replace(/(?:^|\/)[^/]*[*?].*$/, "")));
        for (const base of bases.filter((each) => !existsSync(each))) {
          this.#missing.add(base);
          this.#missingFolders.add(base);
        }
        return matchFiles(
          path,
          extensions,
          excludes,
          includes,
          ts.sys.useCaseSensitiveFileNames,
          ts.sys.getCurrentDirectory(),
          depth,
          (folder) => this.#entries(folder, bases),
          (folder) => host.realpath?.(folder) ?? folder,
        );
      },
      realpath: (path: string) => {
        const real = host.realpath?.(path) ?? path;
        if (real !== path) this.#links.set(resolve(path), resolve(real));
        return real;
      },
    };
  }

  snapshot(): InputSnapshot {
    const isOwn = (path: string) => this.#own.includes(path);
    const sorted = (entries: ReadonlyMap<string, string>) =>
      Object.fromEntries([...entries].sort(([one], [other]) => (one < other ? -1 : 1)));
    return {
      files: sorted(new Map([...this.#files].filter(([path]) => !isOwn(path)))),
      missing: [...this.#missing].filter((path) => !isOwn(path)).sort(),
      missingFolders: [...this.#missingFolders].filter((path) => !isOwn(path)).sort(),
      found: [...this.#found].filter((path) => !isOwn(path) && !this.#files.has(path)).sort(),
      folders: sorted(this.#folders),
      listings: sorted(this.#listings),
      links: sorted(this.#links),
      own: this.#own,
    };
  }
}
