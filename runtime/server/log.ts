/** The log: JSON lines on standard error, by pino. */

import { pino } from "pino";
import type { Logger } from "../tool.js";
import { StartupError } from "./served-tool.js";

/** The environment variable that sets the least level that is written: `trace` to `fatal`, or `silent`. */
export const ENV_LOG_LEVEL = "SVC_LOG_LEVEL";

/** A log that can be divided: what the server writes to. Any pino logger is one. */
export interface ServerLogger extends Logger {
  child(fields: Readonly<Record<string, unknown>>): ServerLogger;
  /** Whether a level is written; every level by one that does not say. */
  isLevelEnabled?(level: string): boolean;
}

/** What no line may hold, should somebody hand it to the log after all: headers and private keys, up to two levels down. */
const REDACTED = [
  "headers",
  "rawHeaders",
  "authorization",
  "cookie",
  "response_signing_key",
  "signingKey",
  "privateKey",
];

/**
 * Makes the process's log.
 *
 * @throws {@link StartupError} for a level that does not exist
 */
export function initLogger(env: Readonly<Record<string, string | undefined>> = process.env): ServerLogger {
  const level = env[ENV_LOG_LEVEL] || "info";
  if (level !== "silent" && !Object.hasOwn(pino.levels.values, level)) {
    throw new StartupError(`${ENV_LOG_LEVEL}: expected one of ${Object.keys(pino.levels.values).join(", ")}, silent`);
  }
  const paths = REDACTED.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  return pino({ level, base: null, redact: { paths, censor: "[redacted]" } }, pino.destination({ fd: 2, sync: true }));
}

let shared: ServerLogger | undefined;

/** Writes to the process's log at level debug; nothing unless `SVC_LOG_LEVEL` is `debug` or `trace`. */
export function debug(message: string, fields: Readonly<Record<string, unknown>> = {}): void {
  shared ??= initLogger();
  shared.debug(fields, message);
}
