/** svc-gen/generate: the contracts of a project as data. Writes no file of the project. */

import type { Contract } from "svc-runtime/internal/generator";
import {
  type Diagnostic,
  errorsIn,
  formatDiagnostics,
  type RelatedPlace,
  type Severity,
} from "./compile/diagnostics/diagnostics.js";
import type { Place } from "./compile/model.js";
import type { GenerateOptions } from "./compile/project/layout.js";
import { keptContracts } from "./files/kept-contracts.js";

export type { Diagnostic, GenerateOptions, Place, RelatedPlace, Severity };

/**
 * Thrown if a project has errors. The message is what `svc-gen` prints: each error with its place, a code frame and a
 * hint.
 */
export class GenerateError extends Error {
  /** `GenerateError`. */
  override readonly name = "GenerateError";

  /** @param diagnostics the errors, ordered by place */
  constructor(
    /** The errors. */
    readonly diagnostics: readonly Diagnostic[],
  ) {
    super(formatDiagnostics(diagnostics));
  }
}

/**
 * Reads a project and returns the content that `svc-gen` would write to `contracts.ts`: one contract for each tool
 * class. Contracts are cached in `node_modules/.cache/svc-gen` until the project changes. If several processes call
 * this function at the same time, one of them reads the project.
 *
 * @example
 * ```ts
 * import { contractsOf } from "svc-gen/generate";
 *
 * console.log((await contractsOf({ root: process.cwd() })).map(({ fqn }) => fqn)); // ["xyz.demo.sum@1"]
 * ```
 *
 * @param options the project's folder, and its files if they do not have their default names
 * @throws {@link GenerateError} if the project has errors
 */
export async function contractsOf(options: GenerateOptions): Promise<readonly Contract[]> {
  const { contracts, diagnostics } = await keptContracts(options);
  if (contracts !== undefined) return contracts;
  throw new GenerateError(errorsIn(diagnostics));
}
