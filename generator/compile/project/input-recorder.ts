/** Every file-system lookup of a run, recorded so that a later run can tell whether anything changed. */

import { existsSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import { contentHash, folderEntries, folderHash } from "./file-hash.js";
import { ts } from "./typescript.js";

/** The inputs of a run, by absolute path. */
export interface InputSnapshot {
  /** Hashes of the files whose text was read. */
  readonly files: Readonly<Record<string, string>>;
  /** Paths where no file was found. A new file there may take precedence over one that was found elsewhere. */
  readonly missing: readonly string[];
  /** Paths where no folder was found. */
  readonly missingFolders: readonly string[];
  /** Files that were found but not read. */
  readonly found: readonly string[];
  /** Hashes of the folders that are searched for files of the project. */
  readonly folders: Readonly<Record<string, string>>;
  /** Hashes of the folders of packages of global types. */
  readonly listings: Readonly<Record<string, string>>;
  /** Targets of symbolic links. */
  readonly links: Readonly<Record<string, string>>;
  /** The generated files and their folder, which are not inputs. */
  readonly own: readonly string[];
}

type Host = Pick<
  ts.CompilerHost,
  "fileExists" | "readFile" | "directoryExists" | "getDirectories" | "readDirectory" | "realpath"
>;

/** TypeScript's internal search of folders (6.0). */
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

/** Records every file-system lookup that goes through a host. */
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

  /** Records the text of a file, or its absence. */
  file(path: string, text: string | undefined): void {
    const absolute = resolve(path);
    if (text === undefined) this.#missing.add(absolute);
    else if (!this.#files.has(absolute)) this.#files.set(absolute, contentHash(text));
  }

  /** The entries of a folder, recorded when one of its files may belong to the project. */
  #entries(path: string, bases: readonly string[]): { files: string[]; directories: string[] } {
    const folder = resolve(path);
    const entries = folderEntries(folder);
    if (bases.some((base) => folder === base || folder.startsWith(base.endsWith(sep) ? base : base + sep))) {
      this.#folders.set(folder, folderHash(folder, this.#own, entries));
      // The output folder, which the generator may create, is left out of its parent's hash and gets a hash of its own.
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
        // A path that ends in a slash is no file, while the same path without it may be one.
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

  /** Everything recorded so far. */
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
