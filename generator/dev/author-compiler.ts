/**
 * Runs the project's own TypeScript, which decides about errors of svc-gen's compiler if the two versions differ. Used
 * only by `svc-gen dev`, because that compiler is code of the project.
 */

import { spawn } from "node:child_process";
import type { Diagnostic } from "../compile/diagnostics/diagnostics.js";
import { findUpwards } from "../compile/project/folders-up.js";
import type { Layout } from "../compile/project/layout.js";

/** Time limit for the project's compiler, in milliseconds. */
const TIMEOUT_MS = 120_000;

/** Whether a note is a TypeScript error that only svc-gen's compiler may report, and not the project's own. */
function isDisputed({ code, severity }: Diagnostic): boolean {
  return severity === "note" && /^TS\d+$/.test(code);
}

/**
 * Checks the disputed notes of a run with the project's own compiler.
 *
 * @param signal aborts that compiler
 * @returns the diagnostics, with the disputed notes as errors if that compiler reports errors too; undefined if no note
 * is disputed
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

/** Converts a disputed note to an error, without the hint that the other compiler may accept the code. */
function asError(diagnostic: Diagnostic): Diagnostic {
  if (!isDisputed(diagnostic)) return diagnostic;
  const { hint: _, ...error } = diagnostic;
  return { ...error, severity: "error" };
}

/** Whether a compiler finds errors in a project. False if it cannot be run. */
function refuses(compiler: string, root: string, tsconfig: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const args = [compiler, "-p", tsconfig, "--noEmit", "--pretty", "false"];
    const child = spawn(process.execPath, args, { cwd: root, stdio: "ignore", timeout: TIMEOUT_MS, signal });
    child.once("error", () => resolve(false));
    // 1 and 2 are tsc's exit codes for errors.
    child.once("exit", (code) => resolve(code === 1 || code === 2));
  });
}
