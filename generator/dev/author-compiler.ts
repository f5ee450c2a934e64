/**
 * The project's own TypeScript, which decides about errors that svc-gen's compiler reports where the project has another
 * version. Only `svc-gen dev` runs it: it is code of the project.
 */

import { spawn } from "node:child_process";
import type { Diagnostic } from "../compile/diagnostics/diagnostics.js";
import { findUpwards } from "../compile/project/build-info.js";
import type { Layout } from "../compile/project/layout.js";

/** A build that takes longer is not waited for. */
const TIMEOUT_MS = 120_000;

/** Whether a note is an error of svc-gen's compiler that the project's own may not have. */
function isDisputed({ code, severity }: Diagnostic): boolean {
  return severity === "note" && /^TS\d+$/.test(code);
}

/**
 * Asks the project's own compiler about the disputed notes of a run.
 *
 * @param signal ends that compiler
 * @returns the diagnostics, with the disputed notes as errors when that compiler refuses the project too; undefined without
 * such notes
 */
export function judgeDisputed(
  { root, tsconfig }: Pick<Layout, "root" | "tsconfig">,
  diagnostics: readonly Diagnostic[],
  signal: AbortSignal,
): Promise<readonly Diagnostic[]> | undefined {
  const compiler = diagnostics.some(isDisputed) ? findUpwards(root, "node_modules/typescript/bin/tsc") : undefined;
  if (compiler === undefined) return undefined;
  return refuses(compiler, root, tsconfig, signal).then((isRefused) =>
    isRefused ? diagnostics.map(asError) : diagnostics,
  );
}

/** A disputed note as the error that it is, without the hint that the other compiler may take it. */
function asError(diagnostic: Diagnostic): Diagnostic {
  if (!isDisputed(diagnostic)) return diagnostic;
  const { hint: _, ...error } = diagnostic;
  return { ...error, severity: "error" };
}

/** Whether a compiler finds errors in a project. One that cannot be run finds none. */
function refuses(compiler: string, root: string, tsconfig: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const args = [compiler, "-p", tsconfig, "--noEmit", "--pretty", "false"];
    const child = spawn(process.execPath, args, { cwd: root, stdio: "ignore", timeout: TIMEOUT_MS, signal });
    child.once("error", () => resolve(false));
    // 1 and 2 are tsc's codes for errors.
    child.once("exit", (code) => resolve(code === 1 || code === 2));
  });
}
