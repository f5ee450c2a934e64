/** Tool project on which a command works. */

import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { type CommandContext, type PROJECT_OPTIONS, UsageError } from "../../cli/command.js";
import { quoted } from "../../compile/diagnostics/quote.js";
import { findUpwards } from "../../compile/project/folders-up.js";
import type { GenerateOptions } from "../../compile/project/layout.js";

/** Generator options from the command line. */
export function generateOptions({
  cwd,
  values: { project, out },
}: Pick<CommandContext<typeof PROJECT_OPTIONS>, "cwd" | "values">): GenerateOptions {
  return { ...projectOf(project, cwd), ...(out === undefined ? {} : { out }) };
}

/** Project of a tsconfig.json, or of a folder that contains one. The root is the folder of the nearest package.json. */
function projectOf(project: string | undefined, cwd: string): Pick<GenerateOptions, "root" | "tsconfig"> {
  if (project === undefined) return { root: cwd };
  const given = resolve(cwd, project);
  const tsconfig = statSync(given, { throwIfNoEntry: false })?.isDirectory() ? join(given, "tsconfig.json") : given;
  const isOther = /\.[cm]?[jt]sx?$/.test(tsconfig) || basename(tsconfig) === "package.json";
  if (isOther && existsSync(tsconfig))
    throw new UsageError(`--project expects a tsconfig.json or its folder, got ${quoted(project)}`);
  const root = dirname(findUpwards(dirname(tsconfig), "package.json") ?? tsconfig);
  return { root, tsconfig: relative(root, tsconfig) };
}
