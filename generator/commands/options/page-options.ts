/** Options for the address of the development page. */

import { UsageError } from "../../cli/command.js";
import { quoted } from "../../compile/diagnostics/quote.js";

export const PAGE_OPTIONS = {
  host: { type: "string", value: "HOST", summary: "address on which the page listens (default: 127.0.0.1)" },
  "page-port": {
    type: "string",
    value: "PORT",
    summary: "port of the page (default: the same port for each project, or a free one)",
  },
} as const;

/** @throws UsageError */
export function readPort(option: "port" | "page-port" | "inspect-port", text: string, min = 0): number {
  if (/^\d{1,5}$/.test(text) && Number(text) >= min && Number(text) <= 65_535) return Number(text);
  throw new UsageError(`--${option} expects a number from ${min} to 65535, got ${quoted(text)}`);
}
