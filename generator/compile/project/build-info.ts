/**
 * Build info of the last run without errors, in `node_modules/.cache/svc-gen`: hashes of all inputs and outputs. If
 * they still match, svc-gen does nothing. This file must not load the compiler, so that such a run is fast.
 */

import { readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Contract } from "svc-runtime/internal/generator";
import { refuseLinks } from "../../files/atomic-write.js";
import { readRegular } from "../../files/read-file.js";
import { VERSION } from "../../process/version.js";
import type { Diagnostic } from "../diagnostics/diagnostics.js";
import type { GeneratedFile } from "../model.js";
import { bytesHash, contentHash, folderIdentity } from "./file-hash.js";
import { findUpwards } from "./folders-up.js";
import { type InputSnapshot, isUnchanged } from "./lookups.js";

export interface RunResult {
  readonly inputs: InputSnapshot;
  readonly files: readonly GeneratedFile[];
  readonly diagnostics: readonly Diagnostic[];
  readonly checked: boolean;
  readonly contracts?: readonly Contract[];
}

export interface BuildInfo {
  /** Identity of the folder (see `folderIdentity`); differs after a checkout or copy. */
  readonly folder: string;
  /** Version of the generator and hash of its files. */
  readonly generator: string;
  readonly options: Readonly<Record<string, string>>;
  readonly inputs: InputSnapshot;
  readonly written: Readonly<Record<string, string>>;
  /** Notes, which are printed again by an up-to-date run. */
  readonly diagnostics: readonly Diagnostic[];
  /** Whether the run was `--check`, which also reads every type with the second reader. */
  readonly checked: boolean;
  /** Contracts, if the test kit requested the run. */
  readonly contracts?: readonly Contract[];
}

/** Path of a build info, and a folder `base` below which no part of the path is a symbolic link. */
interface BuildInfoPath {
  readonly base: string;
  readonly target: string;
}

/**
 * Path of a build info in the nearest `node_modules`; undefined if there is none. The name depends on the options and
 * the root, because several projects may share a `node_modules`.
 */
export function buildInfoPlace(root: string, options: Readonly<Record<string, string>>): BuildInfoPath | undefined {
  const name = contentHash(JSON.stringify([root, options])).slice(0, 16);
  const folder = findUpwards(root, "node_modules");
  return folder === undefined
    ? undefined
    : { base: dirname(folder), target: join(folder, ".cache/svc-gen", `${name}.json`) };
}

/** Build info of a run, as a file to write. */
export function buildInfoFile(
  target: string,
  options: Readonly<Record<string, string>>,
  { inputs, files, diagnostics, checked, contracts }: RunResult,
): { readonly target: string; readonly content: string } {
  const info: BuildInfo = {
    folder: folderIdentity(dirname(target)),
    generator: GENERATOR_ID,
    options,
    inputs,
    written: Object.fromEntries(files.map(({ path, text }) => [path, contentHash(text)])),
    diagnostics,
    checked,
    ...(contracts !== undefined && { contracts }),
  };
  const text = JSON.stringify(info);
  return { target, content: `${contentHash(text)}\n${text}` };
}

/** Reads the build info. Undefined if it is damaged or belongs to another folder, generator or set of options. */
export function lastBuildInfo(root: string, options: Readonly<Record<string, string>>): BuildInfo | undefined {
  try {
    const place = buildInfoPlace(root, options);
    if (place === undefined) return undefined;
    const { base, target: path } = place;
    refuseLinks(base, path);
    const [hash, text = ""] = readRegular(path).toString().split("\n");
    if (hash !== contentHash(text)) return undefined;
    const info = JSON.parse(text) as BuildInfo;
    const same =
      info.folder === folderIdentity(dirname(path)) &&
      info.generator === GENERATOR_ID &&
      JSON.stringify(info.options) === JSON.stringify(options);
    return same ? info : undefined;
  } catch {
    return undefined;
  }
}

/** Build info of the last run, if it is fresh. */
export function freshBuildInfo(root: string, options: Readonly<Record<string, string>>): BuildInfo | undefined {
  const info = lastBuildInfo(root, options);
  return info !== undefined && isFresh(root, info) ? info : undefined;
}

/** Whether a new run would read the same inputs, and the outputs are unchanged. */
export function isFresh(root: string, info: BuildInfo): boolean {
  const isWritten = ([path, hash]: [string, string]) => bytesHash(join(root, path)) === hash;
  return isUnchanged(info.inputs) && Object.entries(info.written).every(isWritten);
}

/** Packages whose version may change the generated text or the diagnostics. */
const PACKAGES = [
  "@ts-morph/common",
  "ajv",
  "ajv-formats",
  "handlebars",
  "refa",
  "scslre",
  "ts-morph",
  "typescript-json-schema",
];

/**
 * Identity of the generator: its version, the version of Node, and the sizes and times of its files and of the
 * manifests of its packages. Computed at load, because the files on disk may change while the process runs.
 */
const GENERATOR_ID = generatorHash();

function generatorHash(): string {
  const here = fileURLToPath(new URL("../..", import.meta.url));
  const folders = [here, resolve(here, "../../templates")];
  const own = folders.flatMap((folder) =>
    readdirSync(folder, { encoding: "utf8", recursive: true })
      .filter((name) => /\.(?:js|hbs)$/.test(name))
      .map((name) => join(folder, name)),
  );
  const packages = PACKAGES.map((name) => findUpwards(here, join("node_modules", name, "package.json")));
  const stats = [...own, ...packages].map((path) => {
    const found = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
    return [path, found?.size, found?.mtimeMs];
  });
  return `${VERSION} ${contentHash(JSON.stringify([process.versions.node, stats]))}`;
}
