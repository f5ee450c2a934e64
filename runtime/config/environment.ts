/** Environment variables of a server, except that of its configuration (config.ts). */

import { checkedInteger } from "../checked-integer.js";

/** Environment variable with the address: an IP literal and a port. */
export const ENV_BIND_ADDR = "BIND_ADDR";
/** Environment variable with the address of the admin listener. Without it there is no admin listener. */
export const ENV_ADMIN_ADDR = "SVC_ADMIN_ADDR";
/** Environment variable that permits a server without signatures: `1`. */
export const ENV_ALLOW_UNSIGNED = "SVC_ALLOW_UNSIGNED";
/** Environment variable with the form of the results of unsigned calls: `json` or `bcs`. */
export const ENV_UNSIGNED_RESULTS = "SVC_UNSIGNED_RESULTS";
/** Environment variable with the minimum log level: `trace` to `fatal`, or `silent`. */
export const ENV_LOG_LEVEL = "SVC_LOG_LEVEL";
/** Environment variable with the path of the certificate chain: PEM, server certificate first, then its issuers. */
export const ENV_TLS_CERT_PATH = "SVC_TOOL_TLS_CERT_PATH";
/** Environment variable with the path of the certificate's private key: PEM, not encrypted. */
export const ENV_TLS_KEY_PATH = "SVC_TOOL_TLS_KEY_PATH";
/**
 * Environment variable with the address of the Redis or Valkey server that stores the replay state of several
 * processes. Without it each process keeps its own, and the other `SVC_REPLAY_REDIS_` variables have no effect.
 */
export const ENV_REDIS_URL = "SVC_REPLAY_REDIS_URL";
/** Environment variable with the path of a file that holds the password. */
export const ENV_REDIS_PASSWORD_FILE = "SVC_REPLAY_REDIS_PASSWORD_FILE";
/** Environment variable with the path of the server's certificate authorities: PEM. */
export const ENV_REDIS_CA_PATH = "SVC_REPLAY_REDIS_CA_PATH";
/** Environment variable with the path of the client certificate: PEM. */
export const ENV_REDIS_CERT_PATH = "SVC_REPLAY_REDIS_CERT_PATH";
/** Environment variable with the path of the client certificate's private key: PEM, not encrypted. */
export const ENV_REDIS_KEY_PATH = "SVC_REPLAY_REDIS_KEY_PATH";
/** Environment variable with the prefix of all Redis keys. */
export const ENV_REDIS_PREFIX = "SVC_REPLAY_REDIS_PREFIX";
/** Environment variable with the time limit of a Redis command, in milliseconds. */
export const ENV_REDIS_TIMEOUT_MS = "SVC_REPLAY_REDIS_TIMEOUT_MS";
/** Environment variable with the time after a data loss during which no new run starts, in milliseconds. */
export const ENV_REDIS_GRACE_MS = "SVC_REPLAY_REDIS_GRACE_MS";

/** All variables of the shared replay state. */
export const REDIS_SETTINGS: readonly string[] = [
  ENV_REDIS_URL,
  ENV_REDIS_PASSWORD_FILE,
  ENV_REDIS_CA_PATH,
  ENV_REDIS_CERT_PATH,
  ENV_REDIS_KEY_PATH,
  ENV_REDIS_PREFIX,
  ENV_REDIS_TIMEOUT_MS,
  ENV_REDIS_GRACE_MS,
];

/** Environment variable with the memory that the process may use, in bytes: `536870912` or `512Mi`. */
export const ENV_MEMORY_LIMIT = "SVC_MEMORY_LIMIT";
/** Environment variable with the maximum bytes of the replay memory. */
export const ENV_REPLAY_MAX_BYTES = "SVC_REPLAY_MAX_BYTES";
/** Environment variable with the maximum total bytes of request bodies held in memory. */
export const ENV_MAX_BODY_BYTES_IN_FLIGHT = "SVC_MAX_BODY_BYTES_IN_FLIGHT";
/** Environment variable with the maximum number of open connections. */
export const ENV_MAX_CONNECTIONS = "SVC_MAX_CONNECTIONS";
/** Environment variable with the maximum number of runs over all tools. */
export const ENV_MAX_RUNS = "SVC_MAX_RUNS";
/** Environment variable with the limit of the values of one call. */
export const ENV_MAX_INPUT_VALUES = "SVC_MAX_INPUT_VALUES";

/** All variables that `integerFromEnv` reads. */
export const NUMBER_SETTINGS: readonly string[] = [
  ENV_MEMORY_LIMIT,
  ENV_REPLAY_MAX_BYTES,
  ENV_MAX_BODY_BYTES_IN_FLIGHT,
  ENV_MAX_CONNECTIONS,
  ENV_MAX_INPUT_VALUES,
  ENV_MAX_RUNS,
];

const BINARY_UNITS: Readonly<Record<string, number>> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

/**
 * Reads a variable with a whole number, which may end in `Ki`, `Mi` or `Gi` where it counts bytes, as in Kubernetes.
 *
 * @param unit `bytes`, or what is counted, for the message
 * @returns undefined when the variable is not set
 * @throws RangeError for another text, or a number outside the range
 */
export function integerFromEnv(variable: string, min: number, max: number, unit: string): number | undefined {
  const text = process.env[variable];
  if (text === undefined) return undefined;
  const [, digits, suffix] = /^(\d{1,16})(Ki|Mi|Gi)?$/.exec(text) ?? [];
  if (digits === undefined || (suffix !== undefined && unit !== "bytes")) {
    const example = unit === "bytes" ? "such as 536870912 or 512Mi, " : "";
    throw new RangeError(`${variable}: expected a whole number of ${unit}, ${example}got another value`);
  }
  return checkedInteger(variable, Number(digits) * (BINARY_UNITS[suffix ?? ""] ?? 1), min, max, unit);
}
