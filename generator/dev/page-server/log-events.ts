/** Log lines for the page. Each belongs to a request; the last line of a call contains its timings. */

import { isLastOfCall, logEntry, readableLine } from "../log-lines.js";
import { withoutSecrets } from "./calls/hidden-secrets.js";
import { thrownView } from "./calls/thrown-error.js";
import type { LogEvent } from "./page-api.js";

interface Source {
  /** Folder of the project; undefined for a remote server. */
  readonly root: string | undefined;
  /** Texts to hide. */
  readonly secrets: readonly string[];
}

const WARN = 40;

export function logEvent(line: string, { root, secrets }: Source): LogEvent | undefined {
  const text = readableLine(line, true);
  if (text === undefined) return undefined;
  const entry = logEntry(line) ?? {};
  const { request, replayed, ms, level, err } = entry;
  const isCall = isLastOfCall(entry);
  const thrown = thrownView(err, root);
  return {
    request: typeof request === "string" ? request : null,
    text: withoutSecrets(text, secrets),
    alarms: typeof level === "number" && level >= WARN,
    thrown: thrown && { ...thrown, text: withoutSecrets(thrown.text, secrets) },
    replayed: isCall ? replayed === true : null,
    steps: isCall && typeof ms === "object" ? (ms as Record<string, number> | null) : null,
  };
}
