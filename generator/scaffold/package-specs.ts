/** Where a new project gets svc-gen and svc-runtime from: a registry, or files, while the packages are unpublished. */

import { readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, posix, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { shellWord } from "../compile/diagnostics/quote.js";

/** What stands in `package.json` for each package: a version, or `file:` and a path relative to the project. */
export interface PackageSpecs {
  readonly generator: string;
  readonly runtime: string;
}

/** The svc-gen that runs. */
const OWN_ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** The part of svc-gen's package.json that goes into new projects. */
export interface OwnManifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly overrides: Readonly<Record<string, string>>;
}

export function ownManifest(): OwnManifest {
  return JSON.parse(readFileSync(join(OWN_ROOT, "package.json"), "utf8")) as OwnManifest;
}

/** The packages of a project in `project`, as this svc-gen was installed itself. */
export function packageSpecs(project: string): PackageSpecs {
  const folder = realFolder(project);
  const root = realpathSync(OWN_ROOT);
  const modules = dirname(root);
  if (basename(modules) !== "node_modules") {
    return { generator: fileSpec(folder, root), runtime: fileSpec(folder, join(root, "runtime")) };
  }
  const { version } = ownManifest();
  const from = (name: string) => {
    const path = installedFrom(modules, name);
    return path === undefined ? version : fileSpec(folder, path);
  };
  return { generator: from("svc-gen"), runtime: from("svc-runtime") };
}

/** The folder, which may not exist yet, behind all symbolic links. npm follows paths from there. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return join(realFolder(dirname(folder)), basename(folder));
  }
}

function fileSpec(folder: string, path: string): string {
  return `file:${relative(folder, path).split(sep).join("/")}`;
}

/** The file that npm installed a package from, as its hidden lock file says. */
function installedFrom(modules: string, name: string): string | undefined {
  let resolved: unknown;
  try {
    const lock = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8"));
    resolved = lock.packages[`node_modules/${name}`]?.resolved;
  } catch {
    return undefined;
  }
  if (typeof resolved !== "string" || !resolved.startsWith("file:")) return undefined;
  return resolve(dirname(modules), resolved.slice("file:".length));
}

/** A folder that a container file needs beside the project. */
export interface BuildContext {
  readonly name: string;
  /** Relative to the project. */
  readonly from: string;
  /** The same as a word for a shell. */
  readonly word: string;
  /** In the image, in quotes. */
  readonly to: string;
}

/** A checkout of svc, in the image and on the machine of a CI. */
export interface Checkout {
  readonly spec: string;
  readonly folder: string;
  readonly to: string;
  readonly modules: string;
  readonly runtime: string;
}

export interface PackagePlaces {
  readonly contexts: readonly BuildContext[];
  readonly checkout: Checkout | undefined;
  readonly tarballs: boolean;
}

/** The folder of the project in an image. Relative paths of packages lead from there to the same names. */
const IMAGE_FOLDER = "/tool";

/** Where a container file and a CI find packages that are files. */
export function packagePlaces({ generator, runtime }: PackageSpecs): PackagePlaces {
  const [from, runtimeFrom] = [pathOf(generator), pathOf(runtime)];
  if (from !== undefined && runtimeFrom === `${from}/runtime`) {
    const to = posix.resolve(IMAGE_FOLDER, from);
    const checkout: Checkout = {
      spec: generator,
      folder: JSON.stringify(posix.basename(to)),
      to,
      modules: JSON.stringify(`${to}/node_modules`),
      runtime: JSON.stringify(`${to}/runtime`),
    };
    return {
      contexts: [{ name: "svc", from, word: shellWord(from), to: JSON.stringify(to) }],
      checkout,
      tarballs: false,
    };
  }
  const folders = [
    ...new Set([from, runtimeFrom].flatMap((path) => (path === undefined ? [] : [posix.dirname(path)]))),
  ];
  const contexts = folders.map((folder, index) => ({
    name: `packages${index === 0 ? "" : index + 1}`,
    from: folder,
    word: shellWord(folder),
    to: JSON.stringify(posix.resolve(IMAGE_FOLDER, folder)),
  }));
  return { contexts, checkout: undefined, tarballs: folders.length > 0 };
}

function pathOf(spec: string): string | undefined {
  return spec.startsWith("file:") ? spec.slice("file:".length) : undefined;
}
