/** The limit on the values of one call, from code or the environment. */

import { checkedInteger } from "../checked-integer.js";
import { ENV_MAX_INPUT_VALUES } from "../config/environment.js";
import { DEFAULT_MAX_INPUT_VALUES } from "../wire/input-values.js";
import { StartupError } from "./errors/startup-error.js";

const MIN_INPUT_VALUES = 1_000;
/** Number of values above which the index of a value in its document is too large. */
const MAX_INPUT_VALUES = 100_000_000;

/**
 * Limit of the values of one call.
 *
 * @param given the option set in code
 * @throws {@link StartupError} for another text in the environment, RangeError for another number in code
 */
export function inputValuesLimit(given: number | undefined): number {
  if (given !== undefined) {
    return checkedInteger("maxInputValues", given, MIN_INPUT_VALUES, MAX_INPUT_VALUES, "values");
  }
  const text = process.env[ENV_MAX_INPUT_VALUES];
  if (text === undefined) return DEFAULT_MAX_INPUT_VALUES;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit >= MIN_INPUT_VALUES && limit <= MAX_INPUT_VALUES) return limit;
  throw new StartupError(
    `${ENV_MAX_INPUT_VALUES}: expected an integer from ${MIN_INPUT_VALUES} to ${MAX_INPUT_VALUES} in decimal digits, got another text`,
  );
}
