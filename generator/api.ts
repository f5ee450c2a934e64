/** svc-gen/generate: the contracts of a project as data. No file is written. */

import type { Contract } from "svc-runtime/internal/generator";
import { type Diagnostic, formatDiagnostics, type RelatedPlace, type Severity } from "./diagnostics/diagnostics.js";
import { generate } from "./generate.js";
import type { Place } from "./model.js";
import type { GenerateOptions } from "./project/layout.js";

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
 * Reads a project and returns what `svc-gen` would write to `contracts.ts`, one contract for each tool class.
 *
 * @example
 * ```ts
 * import { contractsOf } from "svc-gen/generate";
 *
 * console.log(contractsOf({ root: process.cwd() }).map(({ fqn }) => fqn)); // ["xyz.demo.sum@1"]
 * ```
 *
 * @param options the project's folder, and its files where they have other names
 * @throws {@link GenerateError} when the project has errors
 */
export function contractsOf(options: GenerateOptions): readonly Contract[] {
  const { contracts, diagnostics } = generate(options);
  if (contracts !== undefined) return contracts;
  throw new GenerateError(diagnostics.filter(({ severity }) => severity === "error"));
}
