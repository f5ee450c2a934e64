/** Log lines for the page. Each belongs to a request; the last line of a call contains its timings. */

import { isLastOfCall, logEntry, readableLine } from "../log-lines.js";
import { withoutSecrets } from "./calls/hidden-secrets.js";
import type { LogEvent } from "./page-api.js";

const WARN = 40;

/** @param secrets texts to hide */
export function logEvent(line: string, secrets: readonly string[]): LogEvent | undefined {
  const text = readableLine(line, true);
  if (text === undefined) return undefined;
  const entry = logEntry(line) ?? {};
  const { request, replayed, ms, level, err } = entry;
  const isCall = isLastOfCall(entry);
  return {
    request: typeof request === "string" ? request : null,
    text: withoutSecrets(text, secrets),
    alarms: typeof level === "number" && level >= WARN,
    thrown: err !== undefined,
    replayed: isCall ? replayed === true : null,
    steps: isCall && typeof ms === "object" ? (ms as Record<string, number> | null) : null,
  };
}
