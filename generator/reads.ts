/** What a run of the generator looked at: enough to say later, without loading TypeScript, whether it would differ. */

import { existsSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import { ts } from "./compiler.js";
import { contentHash, entriesOf, folderHash } from "./content.js";

/** By absolute path. */
export interface Reads {
  /** Hashes of the files whose text was read, as it was read. */
  readonly files: Readonly<Record<string, string>>;
  /** Places where a file or folder was looked for in vain: one that appears there shadows what was found elsewhere. */
  readonly missing: readonly string[];
  /** Files of which nothing was asked but whether they are there. */
  readonly found: readonly string[];
  /** Hashes of the folders whose entries decide what belongs to the project. */
  readonly folders: Readonly<Record<string, string>>;
  /** Hashes of the folders whose entries are packages of types that every file sees. */
  readonly listings: Readonly<Record<string, string>>;
  /** Where symbolic links lead. */
  readonly links: Readonly<Record<string, string>>;
  /** The folder and the file that the generator writes: no input of it. */
  readonly own: readonly string[];
}

type Host = Pick<
  ts.CompilerHost,
  "fileExists" | "readFile" | "directoryExists" | "getDirectories" | "readDirectory" | "realpath"
>;

/** What TypeScript looks through folders with and does not publish (5.9). */
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

/** Notes every look at the disk that goes through a host. */
export class Recorder {
  private readonly files: Map<string, string>;
  private readonly missing: Set<string>;
  private readonly found: Set<string>;
  private readonly folders: Map<string, string>;
  private readonly listings: Map<string, string>;
  private readonly links: Map<string, string>;

  /** @param before what was noted already, by another one */
  constructor(
    private readonly own: readonly string[],
    before?: Recorder,
  ) {
    this.files = new Map(before?.files);
    this.missing = new Set(before?.missing);
    this.found = new Set(before?.found);
    this.folders = new Map(before?.folders);
    this.listings = new Map(before?.listings);
    this.links = new Map(before?.links);
  }

  /** Another one, which has noted the same so far. */
  copy(): Recorder {
    return new Recorder(this.own, this);
  }

  /** Whether the text of a file was noted. */
  has(path: string): boolean {
    return this.files.has(path);
  }

  /** The text that was found, as `hash` when that is known; nothing when there is no such file. */
  file(path: string, text: string | undefined, hash?: string): void {
    const absolute = resolve(path);
    if (text === undefined) this.missing.add(absolute);
    else if (!this.files.has(absolute)) this.files.set(absolute, hash ?? contentHash(text));
  }

  /** The entries of a folder that is looked through for files; noted when any file in it may be wanted. */
  private entries(path: string, bases: readonly string[]): { files: string[]; directories: string[] } {
    const folder = resolve(path);
    const entries = entriesOf(folder);
    if (bases.some((base) => folder === base || folder.startsWith(base.endsWith(sep) ? base : base + sep))) {
      this.folders.set(folder, folderHash(folder, this.own, entries));
      // The folder that the generator may make is no news in the one that it is in.
      const [out] = this.own;
      if (out !== undefined && dirname(out) === folder) this.folders.set(out, folderHash(out, this.own));
    }
    const names = (wanted: boolean) => entries.filter(([, isFolder]) => isFolder === wanted).map(([name]) => name);
    return { files: names(false), directories: names(true) };
  }

  /** The same host, noting what it is asked. */
  over<H extends Host>(host: H): H {
    return {
      ...host,
      fileExists: (path: string) => {
        const there = host.fileExists(path);
        (there ? this.found : this.missing).add(resolve(path));
        return there;
      },
      readFile: (path: string) => {
        const text = host.readFile(path);
        this.file(path, text);
        return text;
      },
      directoryExists: (path: string) => {
        const there = host.directoryExists?.(path) ?? true;
        if (!there) this.missing.add(resolve(path));
        return there;
      },
      getDirectories: (path: string) => {
        this.listings.set(resolve(path), folderHash(path, this.own));
        return host.getDirectories?.(path) ?? [];
      },
      readDirectory: (path, extensions, excludes, includes, depth) => {
        const bases = includes.map((pattern) => resolve(path, pattern.replace(/(?:^|\/)[^/]*[*?].*$/, "")));
        for (const base of bases) if (!existsSync(base)) this.missing.add(base);
        return matchFiles(
          path,
          extensions,
          excludes,
          includes,
          ts.sys.useCaseSensitiveFileNames,
          ts.sys.getCurrentDirectory(),
          depth,
          (folder) => this.entries(folder, bases),
          (folder) => host.realpath?.(folder) ?? folder,
        );
      },
      realpath: (path: string) => {
        const real = host.realpath?.(path) ?? path;
        if (real !== path) this.links.set(resolve(path), resolve(real));
        return real;
      },
    };
  }

  /** All that was noted. */
  reads(): Reads {
    const isOwn = (path: string) => this.own.includes(path);
    const sorted = (entries: ReadonlyMap<string, string>) =>
      Object.fromEntries([...entries].sort(([one], [other]) => (one < other ? -1 : 1)));
    return {
      files: sorted(new Map([...this.files].filter(([path]) => !isOwn(path)))),
      missing: [...this.missing].filter((path) => !isOwn(path)).sort(),
      found: [...this.found].filter((path) => !isOwn(path) && !this.files.has(path)).sort(),
      folders: sorted(this.folders),
      listings: sorted(this.listings),
      links: sorted(this.links),
      own: this.own,
    };
  }
}

/** Both; where they differ, `later` holds. */
export function mergeReads(earlier: Reads, later: Reads): Reads {
  const files = { ...earlier.files, ...later.files };
  return {
    files,
    missing: [...new Set([...earlier.missing, ...later.missing])].filter((path) => !(path in files)).sort(),
    found: [...new Set([...earlier.found, ...later.found])].filter((path) => !(path in files)).sort(),
    // The configuration is read as a whole every time.
    folders: later.folders,
    listings: { ...earlier.listings, ...later.listings },
    links: { ...earlier.links, ...later.links },
    own: later.own,
  };
}
