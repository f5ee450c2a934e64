/** JSON log lines on standard error, written by pino. */

import { pino } from "pino";
import { ENV_LOG_LEVEL, LOG_LEVELS } from "../../config/environment.js";
import { textKind } from "../../described-text.js";
import type { Logger } from "../../tool.js";
import { StartupError } from "../errors/startup-error.js";
import { standardErrorLog } from "./log-destination.js";
import { SafeLogger, type ServerLogger } from "./safe-logger.js";

/** Names of members that are redacted in every line. */
const REDACTED: ReadonlySet<string> = new Set([
  "headers",
  "rawHeaders",
  "authorization",
  "cookie",
  "response_signing_key",
  "signingKey",
  "privateKey",
]);
/** Maximum depth of nested objects in which members are redacted. */
const MAX_DEPTH = 5;

/**
 * Creates the log of the process. Its methods neither throw nor block: lines wait for standard error in a buffer of 1
 * MiB. If the buffer is full, additional lines are dropped and counted.
 *
 * @throws {@link StartupError} for an unknown level
 */
export function initLogger(env: Readonly<Record<string, string | undefined>> = process.env): ServerLogger {
  const level = env[ENV_LOG_LEVEL] || "info";
  if (!LOG_LEVELS.includes(level)) {
    throw new StartupError(`${ENV_LOG_LEVEL}: expected one of ${LOG_LEVELS.join(", ")}, got ${textKind(level)}`);
  }
  const log = (fields: object) => printable(fields, 0) as Record<string, unknown>;
  const err = (thrown: unknown) => printable(serialized(thrown), 1);
  // `levelFilter` filters instead, because pino's child loggers keep the level at which they were created.
  const options = { level: "trace", base: null, formatters: { log }, serializers: { err } };
  const destination = standardErrorLog();
  const logger = pino(options, destination);
  // pino applies `formatters.bindings` only to the first logger; this override redacts the fields of all child loggers.
  const { child } = logger;
  logger.child = function (this: typeof logger, fields: object, more?: object) {
    return child.call(this, log(fields), more);
  } as typeof child;
  destination.onDropped = (dropped) =>
    logger.error({ dropped }, "log lines were dropped because nothing is reading standard error or its disk is full");
  return SafeLogger.of(logger, destination, levelFilter(level));
}

/**
 * Returns a function that tells whether lines of a level are written: those of the configured level, or of `debug`
 * while the level is raised.
 */
function levelFilter(configured: string): (level: string) => boolean {
  const { values } = pino.levels;
  const lowest = values[configured] ?? Number.POSITIVE_INFINITY;
  const raised = Math.min(lowest, values.debug as number);
  return (level) => (values[level] ?? 0) >= (isRaised ? raised : lowest);
}

let isRaised = false;

/** Raises the level of all loggers of {@link initLogger} to `debug`, or restores it, and logs the change. */
export function toggleDebug(log: ServerLogger): void {
  if (isRaised) {
    log.warn({ logLevel: "as configured" }, "the log level was reset to the configured one");
    isRaised = false;
    return;
  }
  isRaised = true;
  log.warn({ logLevel: "debug" }, "the log level was raised to debug until the next SIGUSR2");
}

function serialized(thrown: unknown): unknown {
  try {
    return pino.stdSerializers.err(thrown as Error);
  } catch {
    return UNPRINTABLE;
  }
}

const UNPRINTABLE = "[cannot be printed]";

/**
 * Copies a value for JSON and redacts secrets. Never throws, because a tool's getter that throws must not hide the
 * error that the line reports.
 */
function printable(value: unknown, depth: number): unknown {
  if (value === null || typeof value !== "object" || depth > MAX_DEPTH) return value;
  try {
    if (Array.isArray(value)) return value.map((item) => printable(item, depth + 1));
    if (typeof (value as { toJSON?: unknown }).toJSON === "function") return value;
    const object = value as Record<string, unknown>;
    const shown = (name: string) => {
      if (REDACTED.has(name)) return "[redacted]";
      // The serializer handles the `err` of a line.
      return depth === 0 && name === "err" ? object[name] : printable(object[name], depth + 1);
    };
    return Object.fromEntries(Object.keys(object).map((name) => [name, shown(name)]));
  } catch {
    return depth === 0 ? {} : UNPRINTABLE;
  }
}

let shared: ServerLogger | undefined;

/**
 * Writes a line with level `debug` to the log of the process. Arguments are those of `log.debug`. Shown if
 * `SVC_LOG_LEVEL` is `debug` or `trace`.
 */
export const debug: Logger["debug"] = (fieldsOrMessage: object | string, message?: string): void => {
  shared ??= initLogger();
  if (typeof fieldsOrMessage === "string") shared.debug(fieldsOrMessage);
  else shared.debug(fieldsOrMessage, message);
};
