/** Integers that an application sets in code. */

/**
 * Checks a number that was set in code.
 *
 * @param name as the caller wrote it, for the message
 * @param unit what it counts, where the name does not say
 * @throws RangeError when it is no integer from `least` to `most`
 */
export function checkedInteger(name: string, value: unknown, least: number, most: number, unit?: string): number {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
  throw new RangeError(
    `${name}: expected an integer from ${least} to ${most}${unit === undefined ? "" : ` ${unit}`}, got ${typeof value === "number" ? value : typeof value}`,
  );
}
