/** Environment variables of a server, except the path of the configuration (config.ts). */

import { checkedInteger } from "svc-client/internal/checked-integer";
import { textKind } from "../described-text.js";

/** Address of the server: an IP literal and a port. */
export const ENV_BIND_ADDR = "BIND_ADDR";
/** Address of the admin listener, which is off without this variable. */
export const ENV_ADMIN_ADDR = "SVC_ADMIN_ADDR";
/** Permits a server without signatures if set to `1`. */
export const ENV_ALLOW_UNSIGNED = "SVC_ALLOW_UNSIGNED";
/** Format of unsigned calls' results: `json` or `bcs`. */
export const ENV_UNSIGNED_RESULTS = "SVC_UNSIGNED_RESULTS";
/** Minimum log level: `trace` to `fatal`, or `silent`. */
export const ENV_LOG_LEVEL = "SVC_LOG_LEVEL";
export const LOG_LEVELS: readonly string[] = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];
/** Path of the certificate chain: PEM, server certificate first, then its issuers. */
export const ENV_TLS_CERT_PATH = "SVC_TOOL_TLS_CERT_PATH";
/** Path of the certificate's private key: PEM, not encrypted. */
export const ENV_TLS_KEY_PATH = "SVC_TOOL_TLS_KEY_PATH";

/** Variables of the shared replay store, by the option of `RedisReplayStore` that each one sets. */
export const REDIS_VARIABLES = {
  /**
   * URL of the Redis or Valkey server that holds the replay store of several processes. Without it, each process has
   * its own replay memory, and the other variables have no effect.
   */
  url: "SVC_REPLAY_REDIS_URL",
  /** Path of a file with the password. */
  passwordFile: "SVC_REPLAY_REDIS_PASSWORD_FILE",
  /** Path of the certificate authorities of the server: PEM. */
  caPath: "SVC_REPLAY_REDIS_CA_PATH",
  /** Path of the client certificate: PEM. */
  certPath: "SVC_REPLAY_REDIS_CERT_PATH",
  /** Path of the client certificate's private key: PEM, not encrypted. */
  keyPath: "SVC_REPLAY_REDIS_KEY_PATH",
  /** Prefix of all keys. */
  prefix: "SVC_REPLAY_REDIS_PREFIX",
  /** Time limit of a command, in milliseconds. */
  timeoutMs: "SVC_REPLAY_REDIS_TIMEOUT_MS",
  /** Time, in milliseconds, after a loss of data during which no new run starts. */
  graceMs: "SVC_REPLAY_REDIS_GRACE_MS",
} as const;
export const ENV_REDIS_URL = REDIS_VARIABLES.url;
export const REDIS_SETTINGS: readonly string[] = Object.values(REDIS_VARIABLES);

/** Memory that the process may use, in bytes: `536870912` or `512Mi`. */
export const ENV_MEMORY_LIMIT = "SVC_MEMORY_LIMIT";
/** Maximum size of the replay memory, in bytes. */
export const ENV_REPLAY_MAX_BYTES = "SVC_REPLAY_MAX_BYTES";
/** Maximum total size of request bodies held in memory, in bytes. */
export const ENV_MAX_BODY_BYTES_IN_FLIGHT = "SVC_MAX_BODY_BYTES_IN_FLIGHT";
/** Maximum number of open connections. */
export const ENV_MAX_CONNECTIONS = "SVC_MAX_CONNECTIONS";
/** Maximum number of runs of all tools. */
export const ENV_MAX_RUNS = "SVC_MAX_RUNS";
/** Maximum number of values of one call. */
export const ENV_MAX_INPUT_VALUES = "SVC_MAX_INPUT_VALUES";

const BINARY_UNITS: Readonly<Record<string, number>> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

/**
 * Reads a variable with an integer, which may end in `Ki`, `Mi` or `Gi` if it counts bytes, as in Kubernetes.
 *
 * @param unit `bytes`, or what is counted, for the message
 * @returns undefined if the variable is not set
 * @throws RangeError for other text, or a number outside the range
 */
export function integerFromEnv(variable: string, min: number, max: number, unit: string): number | undefined {
  const text = process.env[variable];
  if (text === undefined) return undefined;
  const [, digits, suffix] = /^(\d{1,16})(Ki|Mi|Gi)?$/.exec(text) ?? [];
  if (digits === undefined || (suffix !== undefined && unit !== "bytes")) {
    const example = unit === "bytes" ? "such as 536870912 or 512Mi" : `from ${min} to ${max}`;
    throw new RangeError(`${variable}: expected a whole number of ${unit}, ${example}, got ${textKind(text)}`);
  }
  return checkedInteger(variable, Number(digits) * (BINARY_UNITS[suffix ?? ""] ?? 1), min, max, unit);
}

/**
 * Reads a whole number that is set in code, else by a variable.
 *
 * @param name of the option in code, for the message
 * @returns undefined if neither is set
 * @throws RangeError for another text, or a number outside the range
 */
export function integerSetting(
  name: string,
  given: number | undefined,
  variable: string,
  min: number,
  max: number,
  unit: string,
): number | undefined {
  return given === undefined ? integerFromEnv(variable, min, max, unit) : checkedInteger(name, given, min, max, unit);
}
