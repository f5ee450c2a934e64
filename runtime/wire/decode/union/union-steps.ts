/** Limit on the work that the unions of one call take beyond a single reading of its values (protocol.md section 1). */

import { inputFault } from "../../fault.js";

/** Steps that any call may take; enough for each branch of large unions in a small call. */
export const BASE_STEPS = 500_000;
/** Further steps for each value of the call. */
const STEPS_OF_VALUE = 2;

/**
 * The steps left for a call. A step reads one member or item of a value that a further branch may read again. Where one
 * branch alone may fit a value, the union takes no steps.
 */
export class UnionSteps {
  #left: number;

  /** @param valueCount number of values of the call */
  constructor(valueCount: number) {
    this.#left = BASE_STEPS + STEPS_OF_VALUE * valueCount;
  }

  /** @throws {@link WireFault} `input_deserialization_error` when too few steps are left */
  take(steps: number): void {
    this.#left -= steps;
    if (this.#left >= 0) return;
    throw inputFault(
      "too many values fit several branches of a union: send fewer values; a required literal member of one name in each branch tells branches apart",
    );
  }
}
