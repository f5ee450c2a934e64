/** Environment variables of a server, except the path of the configuration (config.ts). */

import { checkedInteger } from "svc-client/internal/checked-integer";
import { MAX_TIMEOUT_MS } from "svc-client/internal/wire/protocol";
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

interface NumberRange {
  /** Environment variable; undefined if the setting is set only in code. */
  readonly variable?: string;
  readonly least: number;
  readonly most: number;
  /** `bytes`, or what is counted, for messages. */
  readonly unit: string;
}

const MIB = 1_048_576;
const MAX = Number.MAX_SAFE_INTEGER;

/** Settings that are whole numbers, by the name of the option in code. */
const NUMBERS = {
  /** Memory that the process may use. */
  memoryLimit: { variable: "SVC_MEMORY_LIMIT", least: 64 * MIB, most: MAX, unit: "bytes" },
  replayMaxBytes: { variable: "SVC_REPLAY_MAX_BYTES", least: MIB, most: MAX, unit: "bytes" },
  /** Total size of request bodies held in memory. */
  maxBodyBytesInFlight: { variable: "SVC_MAX_BODY_BYTES_IN_FLIGHT", least: 1, most: MAX, unit: "bytes" },
  /** The largest number is the largest of 32 bits, as for timers. */
  maxConnections: { variable: "SVC_MAX_CONNECTIONS", least: 1, most: MAX_TIMEOUT_MS, unit: "connections" },
  /** Runs of all tools. */
  maxRuns: { variable: "SVC_MAX_RUNS", least: 2, most: MAX, unit: "runs" },
  /** Values of one call. Up to the largest limit, value indexes fit their integer type. */
  maxInputValues: { variable: "SVC_MAX_INPUT_VALUES", least: 1_000, most: 100_000_000, unit: "values" },
  minBodyBytesPerSecond: { least: 1, most: MAX, unit: "bytes a second" },
  reloadIntervalMs: { least: 10, most: MAX_TIMEOUT_MS, unit: "milliseconds" },
} as const satisfies Readonly<Record<string, NumberRange>>;

/** Variables of {@link NUMBERS}. */
export const NUMBER_VARIABLES: readonly string[] = Object.values(NUMBERS).flatMap(
  (range: NumberRange) => range.variable ?? [],
);

const BINARY_UNITS: Readonly<Record<string, number>> = { "": 1, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

/**
 * Reads a whole number that is set in code, else by its variable. The variable may end in `Ki`, `Mi` or `Gi` if it
 * counts bytes, as in Kubernetes.
 *
 * @returns the value, and the name of the option or variable; undefined if neither is set
 * @throws RangeError for another text, or a number outside the range
 */
export function numberSetting(
  option: keyof typeof NUMBERS,
  given: number | undefined,
): { readonly value: number; readonly name: string } | undefined {
  const { variable, least, most, unit }: NumberRange = NUMBERS[option];
  if (given !== undefined) return { value: checkedInteger(option, given, least, most, unit), name: option };
  const text = variable === undefined ? undefined : process.env[variable];
  if (variable === undefined || text === undefined) return undefined;
  const [, digits, suffix = ""] = /^(\d{1,16})(Ki|Mi|Gi)?$/.exec(text) ?? [];
  if (digits === undefined || (suffix !== "" && unit !== "bytes")) {
    const example = unit === "bytes" ? "such as 536870912 or 512Mi" : `from ${least} to ${most}`;
    throw new RangeError(`${variable}: expected a whole number of ${unit}, ${example}, got ${textKind(text)}`);
  }
  const value = Number(digits) * (BINARY_UNITS[suffix] as number);
  return { value: checkedInteger(variable, value, least, most, unit), name: variable };
}
