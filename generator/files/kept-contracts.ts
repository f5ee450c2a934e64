/** Contracts of a project, cached for other processes. The compiler is loaded only if the project has changed. */

import type { Generated } from "../compile/generate.js";
import { freshBuildInfo } from "../compile/project/build-info.js";
import type { GenerateOptions } from "../compile/project/layout.js";
import { buildOptions, saveBuildInfo } from "./output-files.js";

/** Generates the contracts of a project, unless any process has done so and nothing has changed since. */
export async function keptContracts(options: GenerateOptions): Promise<Pick<Generated, "contracts" | "diagnostics">> {
  const { root } = options;
  // Not saved as a run of `svc-gen`, because the user has not seen the diagnostics of this run.
  const identity = { ...buildOptions(options), only: "contracts" };
  const kept = freshBuildInfo(root, buildOptions(options)) ?? freshBuildInfo(root, identity);
  if (kept !== undefined) return kept;
  const { generate } = await import("../compile/generate.js");
  const generated = generate(options);
  if (generated.contracts !== undefined) saveBuildInfo({ root, ...identity }, { ...generated, files: [] });
  return generated;
}
