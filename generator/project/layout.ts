/** The places of a tool project: its root, its configuration, the folder of generated files. */

import { isAbsolute, join, relative, resolve, sep } from "node:path";

/** Where the project is and where generated files go; all paths absolute. */
export interface Layout {
  readonly tsconfig: string;
  /** The package root: diagnostics and headers name files relative to it. */
  readonly root: string;
  /** The folder of the generated files. */
  readonly out: string;
}

/** A path as people and generated files see it: relative to the project, forward slashes. */
export function displayPath(layout: Layout, path: string): string {
  return relative(layout.root, path).split(sep).join("/");
}

export interface GenerateOptions {
  /** The package root; `meta.json` goes there. */
  readonly root: string;
  /** Relative to the root: `tsconfig.json`. */
  readonly tsconfig?: string;
  /** Relative to the root: `src/generated`. */
  readonly out?: string;
}

/** Absolute places from the options. */
export function layoutOf({ root, tsconfig = "tsconfig.json", out = "src/generated" }: GenerateOptions): Layout {
  const at = (path: string) => (isAbsolute(path) ? path : join(root, path));
  return { root: resolve(root), tsconfig: resolve(at(tsconfig)), out: resolve(at(out)) };
}
