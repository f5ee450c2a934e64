/** The client as a user's bundler makes it for a page or an edge runtime: esbuild without any setting for Node's modules. */

import { type BuildOptions, build, type Metafile } from "esbuild";
import { REPOSITORY } from "../repository.js";

/** Globals of Node that no module may expect. */
export const NODE_GLOBALS = ["Buffer", "process", "setImmediate", "clearImmediate", "global"];

/** Replaces free uses of {@link NODE_GLOBALS} by names that exist nowhere. */
export const WITHOUT_NODE_GLOBALS = Object.fromEntries(NODE_GLOBALS.map((name) => [name, `free_${name}`]));

export interface Bundle {
  readonly code: string;
  /** The modules, relative to the repository. */
  readonly modules: readonly string[];
  readonly inputs: Metafile["inputs"];
}

/** Bundles a module of TypeScript or JavaScript that is given as text; imports resolve from `folder`. */
export async function bundleForBrowsers(
  contents: string,
  folder = "test/portable",
  options: BuildOptions = {},
): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: `${REPOSITORY}/${folder}`, loader: "ts" },
    absWorkingDir: REPOSITORY,
    bundle: true,
    platform: "browser",
    format: "esm",
    target: "es2023",
    metafile: true,
    write: false,
    logLevel: "silent",
    ...options,
  });
  return {
    code: outputFiles?.[0]?.text ?? "",
    modules: Object.keys(metafile?.inputs ?? {}).filter((name) => name !== "<stdin>"),
    inputs: metafile?.inputs ?? {},
  };
}

/** The program of platform.ts: it runs on any platform, and fails where it uses a global of Node. */
export function platformProgram(options: BuildOptions = {}): Promise<Bundle> {
  return bundleForBrowsers('export * from "./platform.js";', undefined, { define: WITHOUT_NODE_GLOBALS, ...options });
}
