/** Sources of svc-gen and svc-runtime for a new project: a registry, or files while the packages are not published. */

import { readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, posix, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { shellWord } from "../compile/diagnostics/quote.js";
import { VERSION } from "../process/version.js";

/** Entry of each package in `package.json`: a version, or `file:` and a path relative to the project. */
export interface PackageSpecs {
  readonly generator: string;
  readonly runtime: string;
  /** Of svc-client, on which the runtime depends, if it comes from a packed file. */
  readonly client?: string;
}

/** Folder of the svc-gen that is running. */
const OWN_ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Packages of a project in `project`, from the same source as this svc-gen. */
export function packageSpecs(project: string): PackageSpecs {
  const folder = realFolder(project);
  const root = realpathSync(OWN_ROOT);
  const modules = dirname(root);
  if (basename(modules) !== "node_modules") {
    return { generator: fileSpec(folder, root), runtime: fileSpec(folder, join(root, "runtime")) };
  }
  const from = (name: string) => {
    const path = installedFrom(modules, name);
    return path === undefined ? undefined : fileSpec(folder, path);
  };
  const client = from("svc-client");
  return {
    generator: from("svc-gen") ?? VERSION,
    runtime: from("svc-runtime") ?? VERSION,
    ...(client !== undefined && { client }),
  };
}

/** Folder, which may not exist yet, with all symbolic links resolved. npm resolves relative paths from there. */
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

/** File from which npm installed a package, according to its hidden lock file. */
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

/** A folder, outside the project, that a container build needs. */
export interface BuildContext {
  readonly name: string;
  /** Relative to the project. */
  readonly from: string;
  /** The same, quoted for a shell. */
  readonly word: string;
  /** Path in the image, in quotes. */
  readonly to: string;
}

/** Paths of a checkout of svc, in the image and on a CI machine. */
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

/** Folder of the project in an image. Relative paths of packages resolve to the same names there. */
const IMAGE_FOLDER = "/tool";

/** Where a container build and a CI job find packages that come from files instead of a registry. */
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
