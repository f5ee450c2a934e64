/** Paths of a tool project: root, configuration, output folder. */

import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

/** All paths are absolute. */
export interface Layout {
  readonly tsconfig: string;
  /** Package root. Paths in diagnostics and generated files are relative to it. */
  readonly root: string;
  /** Folder of the generated files. */
  readonly out: string;
  /** Author's options for the generated server, next to the output folder. The file is optional. */
  readonly serverOptions: string;
}

function slashed(path: string): string {
  return path.split(sep).join("/");
}

/** Specifier for an import of the file `to` in the file `from`: `.js` for `.ts`, `.mjs` for `.mts`. */
export function specifier(from: string, to: string): string {
  const path = slashed(relative(dirname(from), to)).replace(/(?:\.d)?\.([cm]?)tsx?$/, ".$1js");
  return path.startsWith(".") ? path : `./${path}`;
}

/** Path for diagnostics and generated files: relative to the root, with forward slashes. */
export function displayPath(layout: Layout, path: string): string {
  return slashed(relative(layout.root, path));
}

/** Location of a project and of its generated files. */
export interface GenerateOptions {
  /** Package root, which also contains `meta.json`. */
  readonly root: string;
  /** Relative to the root; default `tsconfig.json`. */
  readonly tsconfig?: string;
  /** Relative to the root; default `src/generated`. */
  readonly out?: string;
}

export function layoutOf({ root, tsconfig = "tsconfig.json", out = "src/generated" }: GenerateOptions): Layout {
  const at = (path: string) => (isAbsolute(path) ? path : join(root, path));
  const folder = resolve(at(out));
  const serverOptions = join(dirname(folder), "server-options.ts");
  return { root: resolve(root), tsconfig: resolve(at(tsconfig)), out: folder, serverOptions };
}
