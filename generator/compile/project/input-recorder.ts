/** Records all file-system lookups of a run, so that the next run can detect changes. */

import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isWithin } from "../../files/atomic-write.js";
import { contentHash, folderEntries, folderHash } from "./file-hash.js";
import type { InputSnapshot, Lookup, Question } from "./lookups.js";
import { ts } from "./typescript.js";

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
  readonly #lookups = new Map<string, Lookup>();
  readonly #own: readonly string[];

  /** @param own paths that the generator writes */
  constructor(own: readonly string[]) {
    this.#own = own;
  }

  file(path: string, text: string | undefined): void {
    this.#record("text", path, text === undefined ? null : contentHash(text));
  }

  #record(question: Question, path: string, answer: Lookup[2]): void {
    const absolute = resolve(path);
    const key = `${question} ${absolute}`;
    // Generated files are no inputs. The entries of their folder are, because sources may be in it.
    if (this.#lookups.has(key) || (question !== "entries" && this.#own.includes(absolute))) return;
    this.#lookups.set(key, [question, absolute, answer]);
  }

  /** Reads the entries of a folder, and records them if source files may be in it. */
  #entries(path: string, bases: readonly string[]): { files: string[]; directories: string[] } {
    const folder = resolve(path);
    const entries = folderEntries(folder);
    if (bases.some((base) => isWithin(base, folder))) {
      this.#record("entries", folder, folderHash(folder, this.#own, entries));
      // The generator may create the output folder, so it is excluded from its parent's hash and hashed separately.
      const [out] = this.#own;
      if (out !== undefined && dirname(out) === folder) this.#record("entries", out, folderHash(out, this.#own));
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
        if (there || !path.endsWith("/")) this.#record("isFile", path, there);
        return there;
      },
      readFile: (path: string) => {
        const text = host.readFile(path);
        this.file(path, text);
        return text;
      },
      directoryExists: (path: string) => {
        const there = host.directoryExists?.(path) ?? true;
        if (!there) this.#record("isFolder", path, false);
        return there;
      },
      getDirectories: (path: string) => {
        this.#record("entries", path, folderHash(path, this.#own));
        return host.getDirectories?.(path) ?? [];
      },
      readDirectory: (path, extensions, excludes, includes, depth) => {
        const bases = includes.map((pattern) => resolve(path, pattern.replace(/(?:^|\/)[^/]*[*?].*$/, "")));
        for (const base of bases.filter((each) => !existsSync(each))) {
          this.#record("isFile", base, false);
          this.#record("isFolder", base, false);
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
        if (real !== path) this.#record("realPath", path, resolve(real));
        return real;
      },
    };
  }

  /** The lookups of a run. That a file exists follows from its text. */
  snapshot(): InputSnapshot {
    const isImplied = ([question, path, answer]: Lookup) =>
      question === "isFile" && answer === true && this.#lookups.has(`text ${path}`);
    return { lookups: [...this.#lookups.values()].filter((each) => !isImplied(each)), own: this.#own };
  }
}
