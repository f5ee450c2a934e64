/** The versions of TypeScript that authors use, each with its own tsc. */

import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ToolProject } from "../generator/project.js";
import { REPOSITORY } from "../repository.js";

export const COMPILERS = [
  { version: "5.9", folder: join(REPOSITORY, "node_modules/typescript") },
  { version: "6.0", folder: join(REPOSITORY, "test/typescript/6/node_modules/typescript") },
  { version: "7.0", folder: join(REPOSITORY, "test/typescript/7/node_modules/typescript") },
  { version: "7.1", folder: join(REPOSITORY, "test/typescript/7.1/node_modules/typescript") },
] as const;

export type Compiler = (typeof COMPILERS)[number];

/** Where any version will do: that of 7 needs a tenth of a second, and that of 5.9 more than half. */
export const FASTEST: Compiler = COMPILERS[2];

/** A temporary project with that TypeScript installed. */
export function projectWith(
  compiler: Compiler,
  files: Readonly<Record<string, string>>,
  options?: object,
): ToolProject {
  const project = new ToolProject(files, options);
  mkdirSync(join(project.root, "node_modules"), { recursive: true });
  symlinkSync(compiler.folder, join(project.root, "node_modules/typescript"));
  return project;
}

/** What the compiler says to a project: nothing when all is well. */
export function compile({ folder }: Compiler, root: string, args: readonly string[] = ["-p", "."]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, "bin/tsc"), ...args], {
    cwd: root,
    encoding: "utf8",
  });
  return status === 0 ? stdout + stderr : `exit code ${status}\n${stdout}${stderr}`;
}
