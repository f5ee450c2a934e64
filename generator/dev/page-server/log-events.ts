/** Log lines as the page gets them: by request, with what the line about a whole call says. */

import type { LogEvent } from "./page-api.js";

/**
 * One line.
 *
 * @param text as it is shown; undefined for a line that is not
 */
export function logEvent(line: string, text: string | undefined): LogEvent | undefined {
  if (text === undefined) return undefined;
  const { request, replayed, ms, msg } = membersOf(line);
  const isCall = msg === "answered" || msg === "refused";
  return {
    request: typeof request === "string" ? request : null,
    text,
    replayed: isCall ? replayed === true : null,
    steps: isCall && typeof ms === "object" ? (ms as Record<string, number> | null) : null,
  };
}

interface Members {
  readonly request?: unknown;
  readonly replayed?: unknown;
  readonly ms?: unknown;
  readonly msg?: unknown;
}

function membersOf(line: string): Members {
  if (!line.startsWith('{"level":')) return {};
  try {
    return JSON.parse(line) as Members;
  } catch {
    return {};
  }
}
