/** Converts a server's log lines (JSON of pino) to readable text. */

import { escapeControls } from "../compile/diagnostics/quote.js";

const LEVELS: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};

/** Messages about the start and end of a process, which `svc-gen dev` reports itself. */
const LIFECYCLE = new Set(["serving", "stopping", "stopped"]);

/**
 * Readable text of a log line; other lines unchanged. Undefined for a line that is not shown. Escapes text from
 * callers, which could otherwise control the terminal or start a new line.
 *
 * @param debug whether to show lines with level trace or debug
 */
export function readableLine(line: string, debug: boolean): string | undefined {
  const entry = logEntry(line);
  if (entry === undefined) return line;
  const { level, time, msg, err, pid: _, hostname: __, ...fields } = entry;
  if (!debug && isDebug(level)) return undefined;
  if (typeof msg === "string" && LIFECYCLE.has(msg) && level === 30) return undefined;
  // Drops the warning that signatures are off: the user asked svc-gen dev to run without them.
  if (fields.signed === false && level === 40) return undefined;
  const at = typeof time === "number" ? new Date(time).toTimeString().slice(0, 8) : "";
  const details = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const stack = (err as { readonly stack?: unknown } | undefined)?.stack;
  const trace = typeof stack === "string" ? `\n${stack}` : "";
  // A tool may throw any value.
  if (err !== undefined && trace === "") details.push(`err=${JSON.stringify(err)}`);
  const words = [at, LEVELS[Number(level)] ?? String(level), String(msg ?? ""), ...details].filter(Boolean);
  return escapeControls(words.join(" ") + trace).replaceAll("\n", "\n  ");
}

export interface LoggedCall {
  readonly tool: string;
  readonly status: number;
  /** Code of an error. */
  readonly code?: string;
  readonly milliseconds: number;
  readonly request: string;
  /** Whether the answer was stored by an earlier call. */
  readonly replayed: boolean;
}

/** Call that a line of the request log describes. */
export function loggedCall(line: string): LoggedCall | undefined {
  const entry = logEntry(line) ?? {};
  const { tool, status, code, ms, request, replayed } = entry;
  if (!isLastOfCall(entry) || typeof status !== "number") return undefined;
  const { all } = Object(ms) as { readonly all?: unknown };
  return {
    tool: String(tool ?? ""),
    status,
    ...(typeof code === "string" && { code }),
    milliseconds: Number(all),
    request: String(request ?? ""),
    replayed: replayed === true,
  };
}

/** Whether a line is the last one of a call, which has the call's status and times. */
export function isLastOfCall({ msg }: LogEntry): boolean {
  return msg === "answered" || msg === "refused";
}

export function isDebugLine(line: string): boolean {
  return isDebug(logEntry(line)?.level);
}

function isDebug(level: unknown): boolean {
  return typeof level === "number" && level < 30;
}

type LogEntry = Readonly<Record<string, unknown>>;

/** The members of a log line; undefined for any other line. */
export function logEntry(line: string): LogEntry | undefined {
  if (!line.startsWith('{"level":')) return undefined;
  try {
    return JSON.parse(line) as LogEntry;
  } catch {
    return undefined;
  }
}
