import { UsageError } from "../../cli/command.js";
import { quoted } from "../../compile/diagnostics/quote.js";

export const MAX_PORT = 65_535;

/**
 * @param unit what the number counts, for the message
 * @throws UsageError
 */
export function readNumber(option: string, text: string, min: number, max: number, unit = ""): number {
  const value = Number(text);
  if (/^\d{1,16}$/.test(text) && value >= min && value <= max) return value;
  const what = unit === "" ? "a number" : `a number of ${unit}`;
  throw new UsageError(`--${option} expects ${what} from ${min} to ${max}, got ${quoted(text)}`);
}
