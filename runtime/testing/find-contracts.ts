/** Finds the contracts of tools under test: passed in, registered by generated code, or generated in memory. */

import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseFqn } from "svc-client/internal/fqn";
import type { Contract } from "svc-client/internal/wire/codec/contract";
import { kindOf } from "svc-client/internal/wire/kinds";
import { contractOf, provideContracts } from "../contracts.js";
import { StartupError } from "../server/errors/startup-error.js";
import { SvcTool, type SvcToolClass } from "../tool.js";

/** Sources of contracts. */
export interface ContractSources {
  /** Committed contracts: `contracts` of `src/generated/contracts.ts`. */
  readonly contracts?: readonly Contract[];
  /**
   * Project that svc-gen reads if no contract is passed in: its folder or its tsconfig.json. By default, the folder of
   * the nearest package.json above the current directory.
   */
  readonly project?: string | { readonly href: string };
}

/** Part of `svc-gen/generate` that is used. */
interface Generator {
  contractsOf(options: { readonly root: string; readonly tsconfig?: string }): Promise<readonly Contract[]>;
}

/** Root of a project, and its tsconfig.json if given. */
interface Project {
  readonly root: string;
  readonly tsconfig?: string;
}

/**
 * Registers the contracts of tool classes.
 *
 * @throws {@link StartupError} that tells what to do if there is no contract; the errors of svc-gen
 */
export async function findContracts(
  tools: readonly SvcToolClass[],
  { contracts, project }: ContractSources,
): Promise<void> {
  if (contracts !== undefined) provideContracts(contracts);
  const names = tools.flatMap((tool) => nameOf(tool) ?? []);
  const missing = () => names.find((fqn) => contractOf(fqn) === undefined);
  const wanted = missing();
  if (wanted === undefined) return;
  if (contracts !== undefined) {
    const got = contracts.map(({ fqn }) => fqn).join(", ") || "none";
    throw new StartupError(`contracts: expected a contract of ${wanted}, got ${got}: run svc-gen`);
  }
  const from = projectOf(project);
  const { contractsOf } = await generatorOf(from.root, wanted);
  const made = await contractsOf(from);
  // Another harness may use a contract that is known already.
  provideContracts(made.filter(({ fqn }) => contractOf(fqn) === undefined));
  const absent = missing();
  if (absent === undefined) return;
  const got = made.map(({ fqn }) => fqn).join(", ");
  const where = `the project in ${from.root} does not contain this tool, but ${got}`;
  throw new StartupError(`${absent}: ${where}. Pass the project of the tool: ${NAMED_PROJECT}`);
}

/** Name of a tool; undefined for an invalid class, which is reported later. */
function nameOf(tool: SvcToolClass): string | undefined {
  const given: unknown = tool;
  if (typeof given !== "function" || !(given.prototype instanceof SvcTool)) {
    const got = given instanceof SvcTool ? "an instance: omit new" : kindOf(given);
    throw new StartupError(`createHarness: expected a class that extends SvcTool, or a list of them, got ${got}`);
  }
  try {
    return parseFqn(tool.fqn())?.text;
  } catch {
    return undefined;
  }
}

const NAMED_PROJECT = 'createHarness(Tool, { project: new URL("..", import.meta.url) })';

function projectOf(project: ContractSources["project"]): Project {
  const given =
    project === undefined
      ? process.cwd()
      : typeof project === "string" && !project.startsWith("file:")
        ? resolve(project)
        : // The URL of a folder ends in a slash, but svc-gen caches contracts by the path of their project.
          resolve(fileURLToPath(typeof project === "string" ? project : project.href));
  const stats = statSync(given, { throwIfNoEntry: false });
  if (stats === undefined) throw new StartupError(`project: ${given} does not exist`);
  const start = stats.isDirectory() ? given : dirname(given);
  let root = start;
  while (!existsSync(join(root, "package.json"))) {
    const above = dirname(root);
    if (above === root)
      throw new StartupError(`project: no package.json in ${start} or above it; name it: ${NAMED_PROJECT}`);
    root = above;
  }
  return stats.isDirectory() ? { root } : { root, tsconfig: relative(root, given) };
}

/**
 * Loads svc-gen from the project. Not a dependency of the runtime, because a production image must not contain a
 * compiler.
 */
async function generatorOf(root: string, wanted: string): Promise<Generator> {
  let path: string;
  try {
    path = createRequire(join(root, "package.json")).resolve("svc-gen/generate");
  } catch {
    throw new StartupError(
      `${wanted} has no contract, and svc-gen is not installed in ${root} to generate it. Install it:\n` +
        "  npm install --save-dev svc-gen\n" +
        `or name the project of the tool: ${NAMED_PROJECT}\n` +
        "or run svc-gen and pass its contracts:\n" +
        '  import { contracts } from "../src/generated/contracts.js";\n' +
        "  createHarness(Tool, { contracts })",
    );
  }
  return (await import(pathToFileURL(path).href)) as Generator;
}
