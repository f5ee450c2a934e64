/**
 * The record of the last run, kept in `node_modules/.cache/svc-gen`: content hashes of everything that was read and
 * written. While it holds, the result would be the same, and TypeScript is not even loaded. No compiler in this file.
 */

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Diagnostic } from "./diagnostics.js";
import type { Reads } from "./reads.js";
import { VERSION } from "./version.js";

export interface Manifest {
  /** The generator, by version and by its own files. */
  readonly generator: string;
  readonly options: Readonly<Record<string, string>>;
  /** Hashes by absolute path. */
  readonly files: Readonly<Record<string, string>>;
  readonly missing: readonly string[];
  readonly folders: Readonly<Record<string, string>>;
  /** Hashes of what was written, by path relative to the project. */
  readonly written: Readonly<Record<string, string>>;
  /** Notes, to be said again. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Where the record of a project is; runs with other options have their own. */
export function manifestPath(root: string, options: Readonly<Record<string, string>>): string {
  return join(root, "node_modules/.cache/svc-gen", `${hash(JSON.stringify(options)).slice(0, 16)}.json`);
}

/** The record of a run that went well. */
export function manifestOf(
  options: Readonly<Record<string, string>>,
  reads: Reads,
  written: readonly { readonly path: string; readonly text: string }[],
  diagnostics: readonly Diagnostic[],
): Manifest {
  const hashes = (paths: readonly string[], of: (path: string) => string | undefined) =>
    Object.fromEntries(paths.map((path) => [path, of(path) ?? ""]));
  return {
    generator: generatorHash(),
    options,
    files: hashes(reads.files, fileHash),
    missing: reads.missing,
    folders: hashes(reads.folders, folderHash),
    written: Object.fromEntries(written.map(({ path, text }) => [path, hash(text)])),
    diagnostics,
  };
}

/** The last run's record when everything is as it was then, undefined otherwise. */
export function unchanged(root: string, options: Readonly<Record<string, string>>): Manifest | undefined {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(readFileSync(manifestPath(root, options), "utf8")) as Manifest;
    const holds =
      manifest.generator === generatorHash() &&
      JSON.stringify(manifest.options) === JSON.stringify(options) &&
      Object.entries(manifest.written).every(([path, text]) => fileHash(join(root, path)) === text) &&
      manifest.missing.every((path) => !existsSync(path)) &&
      Object.entries(manifest.folders).every(([path, entries]) => (folderHash(path) ?? "") === entries) &&
      Object.entries(manifest.files).every(([path, text]) => fileHash(path) === text);
    return holds ? manifest : undefined;
  } catch {
    return undefined;
  }
}

function hash(text: string | Buffer): string {
  return createHash("sha1").update(text).digest("hex");
}

function fileHash(path: string): string | undefined {
  try {
    return hash(readFileSync(path));
  } catch {
    return undefined;
  }
}

/** Names and kinds of the entries; what is in the files has hashes of its own. */
function folderHash(path: string): string | undefined {
  try {
    const entries = readdirSync(path, { withFileTypes: true }).filter(({ name }) => !name.endsWith(".tmp"));
    return hash(JSON.stringify(entries.map((entry) => [entry.name, entry.isDirectory()]).sort()));
  } catch {
    return undefined;
  }
}

/** Version, and size and time of the generator's own files: a rebuilt generator of one version is another one. */
function generatorHash(): string {
  const here = fileURLToPath(new URL(".", import.meta.url));
  const folders = [here, resolve(here, "../../templates")];
  const stats = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /\.(?:js|hbs)$/.test(name))
      .map((name) => {
        const { size, mtimeMs } = statSync(join(folder, name));
        return [name, size, mtimeMs];
      }),
  );
  return `${VERSION} ${hash(JSON.stringify([process.versions.node, stats]))}`;
}
