/** svc-gen/generate: the contracts of a project as data. No file of the project is written. */

import type { Contract } from "svc-runtime/internal/generator";
import {
  type Diagnostic,
  formatDiagnostics,
  type RelatedPlace,
  type Severity,
} from "./compile/diagnostics/diagnostics.js";
import type { Place } from "./compile/model.js";
import type { GenerateOptions } from "./compile/project/layout.js";
import { keptContracts } from "./kept-contracts.js";

export type { Diagnostic, GenerateOptions, Place, RelatedPlace, Severity };

/** A project with errors. The message is what `svc-gen` prints: each error with its place, a code frame and a hint. */
export class GenerateError extends Error {
  /** `GenerateError`. */
  override readonly name = "GenerateError";

  /** @param diagnostics the errors, in the order of their places */
  constructor(
    /** The errors. */
    readonly diagnostics: readonly Diagnostic[],
  ) {
    super(formatDiagnostics(diagnostics));
  }
}

/**
 * Reads a project and returns what `svc-gen` would write to `contracts.ts`, one contract for each tool class. They are
 * kept in `node_modules/.cache/svc-gen` until the project changes. Of several processes that ask at the same time one
 * reads the project.
 *
 * @example
 * ```ts
 * import { contractsOf } from "svc-gen/generate";
 *
 * console.log((await contractsOf({ root: process.cwd() })).map(({ fqn }) => fqn)); // ["xyz.demo.sum@1"]
 * ```
 *
 * @param options the project's folder, and its files where they have other names
 * @throws {@link GenerateError} when the project has errors
 */
export async function contractsOf(options: GenerateOptions): Promise<readonly Contract[]> {
  const { contracts, diagnostics } = await keptContracts(options);
  if (contracts !== undefined) return contracts;
  throw new GenerateError(diagnostics.filter(({ severity }) => severity === "error"));
}
