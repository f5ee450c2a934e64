/** The paths of a tool project: root, configuration, output folder. */

import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

/** All paths are absolute. */
export interface Layout {
  readonly tsconfig: string;
  /** The package root. Paths in diagnostics and generated files are relative to it. */
  readonly root: string;
  /** The folder of the generated files. */
  readonly out: string;
  /** The author's file of options for the generated server, which need not exist: beside the generated folder. */
  readonly serverOptions: string;
}

/** A path in diagnostics and generated files: relative to the root, with forward slashes. */
export function displayPath(layout: Layout, path: string): string {
  return relative(layout.root, path).split(sep).join("/");
}

/** Which project, and where its files lie. */
export interface GenerateOptions {
  /** The package root; `meta.json` goes there. */
  readonly root: string;
  /** Relative to the root: `tsconfig.json`. */
  readonly tsconfig?: string;
  /** Relative to the root: `src/generated`. */
  readonly out?: string;
}

/** Resolves the options to absolute paths. */
export function layoutOf({ root, tsconfig = "tsconfig.json", out = "src/generated" }: GenerateOptions): Layout {
  const at = (path: string) => (isAbsolute(path) ? path : join(root, path));
  const folder = resolve(at(out));
  const serverOptions = join(dirname(folder), "server-options.ts");
  return { root: resolve(root), tsconfig: resolve(at(tsconfig)), out: folder, serverOptions };
}
