/** Contracts of a project, cached for other processes. The compiler is loaded only if the project has changed. */

import { rmSync, statSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type { Generated } from "../compile/generate.js";
import { buildInfoPlace, freshBuildInfo } from "../compile/project/build-info.js";
import type { GenerateOptions } from "../compile/project/layout.js";
import { isRunning } from "../process/running-process.js";
import { makeFolders } from "./atomic-write.js";
import { buildOptions, saveBuildInfo } from "./output-files.js";
import { readJsonFile } from "./read-file.js";

const POLL_MS = 50;
/**
 * Age, in milliseconds, at which a lock is ignored because its process has probably ended. A second run of the
 * generator does no harm.
 */
const MAX_LOCK_MS = 60_000;

/** Generates the contracts of a project, unless any process has done so and nothing has changed since. */
export async function keptContracts(options: GenerateOptions): Promise<Pick<Generated, "contracts" | "diagnostics">> {
  const { root } = options;
  // Not saved as a run of `svc-gen`, because the user has not seen the diagnostics of this run.
  const identity = { ...buildOptions(options), only: "contracts" };
  const kept = () => freshBuildInfo(root, buildOptions(options)) ?? freshBuildInfo(root, identity);
  const last = kept();
  if (last !== undefined) return last;
  const lock = lockOf(root, identity);
  try {
    while (lock !== undefined && !takeLock(lock)) await setTimeout(POLL_MS);
    const meanwhile = kept();
    if (meanwhile !== undefined) return meanwhile;
    const { generate } = await import("../compile/generate.js");
    const generated = generate(options);
    if (generated.contracts !== undefined) saveBuildInfo({ root, ...identity }, { ...generated, files: [] });
    return generated;
  } finally {
    if (lock !== undefined) rmSync(lock, { force: true });
  }
}

/** Path of the lock; undefined if nothing can be cached. */
function lockOf(root: string, identity: Readonly<Record<string, string>>): string | undefined {
  const place = buildInfoPlace(root, identity);
  if (place === undefined) return undefined;
  try {
    makeFolders(place.base, place.target);
    return `${place.target}.lock`;
  } catch {
    return undefined;
  }
}

/** Tries to take the lock. False while another process or thread has it, or if an abandoned lock was just removed. */
function takeLock(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") return true;
    if (!isHeld(lock)) rmSync(lock, { force: true });
    return false;
  }
}

function isHeld(lock: string): boolean {
  const made = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
  if (made === undefined || Date.now() - made > MAX_LOCK_MS) return false;
  const pid = readJsonFile(lock);
  // The file is empty until its process has written the id.
  return typeof pid !== "number" || isRunning(pid);
}
