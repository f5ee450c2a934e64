/** Limits the work that all unions of one call may cause (protocol.md section 1). */

import type { Steps } from "svc-client/internal/wire/codec/decode-context";
import { inputFault } from "svc-client/internal/wire/fault";

/** Steps that every call has, enough to try each branch of large unions. */
export const BASE_STEPS = 500_000;
/** Additional steps for each value of the call. */
const STEPS_OF_VALUE = 2;

/**
 * Steps left for a call. A step reads one member or item for a branch while other branches may read it again. A union
 * with only one possible branch takes no steps.
 */
export class UnionSteps implements Steps {
  #left: number;

  /** @param valueCount number of values in the call */
  constructor(valueCount: number) {
    this.#left = BASE_STEPS + STEPS_OF_VALUE * valueCount;
  }

  /** @throws {@link WireFault} `input_deserialization_error` when too few steps are left */
  take(steps: number): void {
    this.#left -= steps;
    if (this.#left >= 0) return;
    throw inputFault(
      "too many values match several branches of a union: send fewer values, or change the contract so that each branch requires a different literal in the same member",
    );
  }
}
