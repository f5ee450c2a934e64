/** The limit on the values of one call, from code or the environment. */

import { checkedInteger } from "../checked-integer.js";
import { ENV_MAX_INPUT_VALUES, integerFromEnv } from "../config/environment.js";
import { DEFAULT_MAX_INPUT_VALUES } from "../wire/decode/input-values.js";

const MIN_INPUT_VALUES = 1_000;
/** Number of values above which the index of a value in its document is too large. */
const MAX_INPUT_VALUES = 100_000_000;

/**
 * Limit of the values of one call.
 *
 * @param given the option set in code
 * @throws RangeError for a number outside the range, and for another text in the environment
 */
export function inputValuesLimit(given: number | undefined): number {
  if (given !== undefined) {
    return checkedInteger("maxInputValues", given, MIN_INPUT_VALUES, MAX_INPUT_VALUES, "values");
  }
  return integerFromEnv(ENV_MAX_INPUT_VALUES, MIN_INPUT_VALUES, MAX_INPUT_VALUES, "values") ?? DEFAULT_MAX_INPUT_VALUES;
}
