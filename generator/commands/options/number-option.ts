import { UsageError } from "../../cli/command.js";
import { quoted } from "../../compile/diagnostics/quote.js";

export const MAX_PORT = 65_535;

/** @throws UsageError */
export function readNumber(option: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d{1,16}$/.test(text) && value >= min && value <= max) return value;
  throw new UsageError(`--${option} expects a number from ${min} to ${max}, got ${quoted(text)}`);
}
