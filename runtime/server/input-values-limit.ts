import { checkedInteger } from "../checked-integer.js";
import { ENV_MAX_INPUT_VALUES, integerFromEnv } from "../config/environment.js";
import { DEFAULT_MAX_INPUT_VALUES } from "../wire/decode/input-values.js";

const MIN_INPUT_VALUES = 1_000;
/** Largest limit for which value indexes fit their integer type. */
const MAX_INPUT_VALUES = 100_000_000;

/**
 * Limit on the number of values of one call, from code or the environment.
 *
 * @param given option set in code
 * @throws RangeError if the number is outside its range, or the environment variable is not a number
 */
export function inputValuesLimit(given: number | undefined): number {
  if (given !== undefined) {
    return checkedInteger("maxInputValues", given, MIN_INPUT_VALUES, MAX_INPUT_VALUES, "values");
  }
  return integerFromEnv(ENV_MAX_INPUT_VALUES, MIN_INPUT_VALUES, MAX_INPUT_VALUES, "values") ?? DEFAULT_MAX_INPUT_VALUES;
}
