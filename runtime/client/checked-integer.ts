/**
 * Checks an integer option set in code.
 *
 * @param name name of the option, for the message
 * @param unit unit of the value, unless the name contains it
 * @throws RangeError unless it is an integer from `min` to `max`
 */
export function checkedInteger(name: string, value: unknown, min: number, max: number, unit?: string): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  throw new RangeError(
    `${name}: expected an integer from ${min} to ${max}${unit === undefined ? "" : ` ${unit}`}, got ${typeof value === "number" ? value : typeof value}`,
  );
}
