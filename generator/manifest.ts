/**
 * The record of the last good run, kept in `node_modules/.cache/svc-gen`: hashes of everything that was read and written.
 * While it holds, the result would be the same, and TypeScript is not even loaded; when source files have changed, it
 * says which. Beside it, in a file that only the second case reads, is what that run leaves for the next. No compiler in
 * this file.
 */

import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bytesHash, contentHash, fileHash, folderHash } from "./content.js";
import type { Diagnostic } from "./diagnostics.js";
import type { Generated, Last } from "./generate.js";
import type { Kept } from "./kept.js";
import type { Reads } from "./reads.js";
import { VERSION } from "./version.js";

export interface Manifest {
  /** The generator, by version and by its own files. */
  readonly generator: string;
  readonly options: Readonly<Record<string, string>>;
  readonly reads: Reads;
  /** Hashes of what was written, by path relative to the project. */
  readonly written: Readonly<Record<string, string>>;
  /** Notes, to be said again. */
  readonly diagnostics: readonly Diagnostic[];
  /** The hash of the file that holds what is kept, when anything is. */
  readonly kept?: string;
}

/**
 * Where the record of a project is; runs with other options have their own, and so have other projects, whose record a copied
 * or shared `node_modules` may hold.
 */
function manifestPath(root: string, options: Readonly<Record<string, string>>): string {
  const name = contentHash(JSON.stringify([root, options])).slice(0, 16);
  return join(root, "node_modules/.cache/svc-gen", `${name}.json`);
}

function keptPath(root: string, options: Readonly<Record<string, string>>): string {
  return manifestPath(root, options).replace(/json$/, "kept.json");
}

/** The record of a run that went well: the files to write, what is kept before what names it. */
export function recordOf(
  root: string,
  options: Readonly<Record<string, string>>,
  { reads, files, diagnostics, kept }: Generated,
): { readonly target: string; readonly content: string | Buffer }[] {
  // Megabytes: made bytes of once, to be hashed and written.
  const keptBytes = kept && Buffer.from(JSON.stringify(kept));
  const manifest: Manifest = {
    generator: GENERATOR,
    options,
    reads,
    written: Object.fromEntries(files.map(({ path, text }) => [path, contentHash(text)])),
    diagnostics,
    ...(keptBytes === undefined ? {} : { kept: contentHash(keptBytes) }),
  };
  const text = JSON.stringify(manifest);
  const record = { target: manifestPath(root, options), content: `${contentHash(text)}\n${text}` };
  return keptBytes === undefined ? [record] : [{ target: keptPath(root, options), content: keptBytes }, record];
}

/** The record, when it is whole and one of this generator with these options. */
function readManifest(root: string, options: Readonly<Record<string, string>>): Manifest | undefined {
  try {
    const [hash, text = ""] = readFileSync(manifestPath(root, options), "utf8").split("\n");
    if (hash !== contentHash(text)) return undefined;
    const manifest = JSON.parse(text) as Manifest;
    const same = manifest.generator === GENERATOR && JSON.stringify(manifest.options) === JSON.stringify(options);
    return same ? manifest : undefined;
  } catch {
    return undefined;
  }
}

/** How the project compares with the last good run. */
export interface Since {
  /** That run's record, when everything is as it was then. */
  readonly same: Manifest | undefined;
  /** What that run left, with what has changed since; undefined when it is of no use. */
  readonly last: () => Last | undefined;
}

/** Looks at every file of the last good run once. */
export function sinceLastRun(root: string, options: Readonly<Record<string, string>>): Since {
  const manifest = readManifest(root, options);
  const changed = manifest && changesSince(manifest.reads);
  if (manifest === undefined || changed === undefined) return { same: undefined, last: () => undefined };
  const holds =
    changed.size === 0 &&
    Object.entries(manifest.written).every(([path, hash]) => bytesHash(join(root, path)) === hash) &&
    Object.entries(manifest.reads.folders).every(([path, hash]) => folderHash(path, manifest.reads.own) === hash);
  return { same: holds ? manifest : undefined, last: () => lastRun(root, manifest, changed) };
}

/**
 * The files that have other texts or are gone; undefined when more has changed than files and which there are. Only what
 * is `near` is looked at.
 */
export function changesSince(
  { files, missing, found, listings, links, own }: Reads,
  near: (path: string) => boolean = () => true,
): ReadonlySet<string> | undefined {
  const asBefore =
    missing.every((path) => !near(path) || !existsSync(path)) &&
    found.every((path) => !near(path) || existsSync(path)) &&
    Object.entries(listings).every(([path, hash]) => folderHash(path, own) === hash) &&
    Object.entries(links).every(([path, real]) => !near(path) || realPath(path) === real);
  if (!asBefore) return undefined;
  return new Set(Object.keys(files).filter((path) => near(path) && fileHash(path) !== files[path]));
}

function lastRun(root: string, { kept, options, reads }: Manifest, changed: ReadonlySet<string>): Last | undefined {
  if (kept === undefined) return undefined;
  try {
    const bytes = readFileSync(keptPath(root, options));
    if (contentHash(bytes) !== kept) return undefined;
    return { kept: JSON.parse(bytes.toString()) as Kept, reads, changed };
  } catch {
    return undefined;
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Packages whose version may change what is generated. */
const PACKAGES = ["@ts-morph/common", "ajv", "ajv-formats", "handlebars", "typescript-json-schema"];

/**
 * Version, and size and time of the generator's own files and of its packages' manifests: a rebuilt generator of one version is
 * another one. Taken once: a process that stays is still the generator that it began as when there is another one on the disk.
 */
const GENERATOR = generatorHash();

function generatorHash(): string {
  const here = fileURLToPath(new URL(".", import.meta.url));
  const folders = [here, resolve(here, "../../templates")];
  const own = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /\.(?:js|hbs)$/.test(name))
      .map((name) => join(folder, name)),
  );
  const packages = PACKAGES.map((name) => nearest(here, join("node_modules", name, "package.json")));
  const stats = [...own, ...packages].map((path) => {
    const found = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
    return [path, found?.size, found?.mtimeMs];
  });
  return `${VERSION} ${contentHash(JSON.stringify([process.versions.node, stats]))}`;
}

/** The file of this name in a folder or in the nearest one that it is in. */
function nearest(folder: string, name: string): string | undefined {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  return dirname(folder) === folder ? undefined : nearest(dirname(folder), name);
}
