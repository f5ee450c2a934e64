/** Options set in code. Public types must not refer to other packages (test/types/public.test.ts). */

import { BOOLEAN, type Checks, checkOptions, FUNCTION } from "svc-client/internal/check-options";
import type { EngineName } from "svc-client/internal/wire/signature/ed25519-keys";
import type { ToolkitRuntimeConfig } from "../config/config.js";
import type { Around } from "../tool.js";
import type { Address } from "./http/address.js";
import type { ShutdownOptions } from "./http/shutdown.js";
import type { ConcurrencyLimits, LoadOptions, RateLimit } from "./load/load-options.js";
import type { ServerLogger } from "./log/safe-logger.js";
import type { ReplayStore } from "./replay/store.js";

/** Options of tools, in addition to the configuration file. */
export interface ToolOptions {
  /**
   * Prefix of the signature headers: `X-Svc-` by default; use `X-Nexus-` for leaders that are older than this toolkit.
   * Only headers with this prefix are read and written.
   */
  readonly headerPrefix?: string;
  /**
   * Memory limit of the process in bytes, at least 64 MiB: by default the limit of its container, or else the memory of
   * the machine. Replay memory, bodies, connections and answers share the memory outside V8's heap. Takes precedence
   * over the environment variable `SVC_MEMORY_LIMIT`.
   */
  readonly memoryLimit?: number;
  /**
   * Maximum bytes of the replay memory, shared by all tools, at least 1 MiB. By default, the part of the memory
   * outside the heap that the server does not use otherwise (about half), up to 512 MiB. Takes precedence over `SVC_REPLAY_MAX_BYTES`.
   */
  readonly replayMaxBytes?: number;
  /** Custom replay store, which several processes can share. `replayMaxBytes` is then ignored. */
  readonly replayStore?: ReplayStore;
  /** Configuration that replaces the file in `SVC_TOOLKIT_CONFIG_PATH`. */
  readonly config?: ToolkitRuntimeConfig;
  /**
   * Logger to use instead of JSON lines on standard error; mounted tools use their application's logger by default. Any
   * pino logger works. Prefer an asynchronous destination, because a blocking one delays every call. If the logger
   * throws, the line is counted in `svc_log_dropped_total` and the exception is ignored.
   */
  readonly logger?: ServerLogger;
  /** Ed25519 engine: by default the fastest that works on this machine. */
  readonly engine?: EngineName;
  /**
   * Milliseconds between checks of the configuration file, the allow-list and the certificate: 1,000 by default, at
   * least 10. With the default, a new version is used within two seconds of its last write; a new allow-list in a file
   * is used by the next call. A configuration set in code is not watched.
   */
  readonly reloadIntervalMs?: number;
  /** Time limits of a shutdown. */
  readonly shutdown?: ShutdownOptions;
  /**
   * Maximum total bytes of request bodies held in memory, from their arrival until their call is answered: by default a
   * fifth of the memory outside the heap, up to 64 MiB, or twice `invoke_max_body_bytes` if that is more. A value below
   * twice `invoke_max_body_bytes` is an error. One leader, or one unsigned connection, may hold at most as many bytes
   * as remain for all others. A call beyond the limit gets 503. Takes precedence over `SVC_MAX_BODY_BYTES_IN_FLIGHT`.
   */
  readonly maxBodyBytesInFlight?: number;
  /**
   * Maximum number of values in the input of one call: 300,000 by default, at least 1,000. Member names, arrays and
   * objects count as one each. A call beyond the limit gets 413 before any value is decoded. Takes precedence over the
   * environment variable `SVC_MAX_INPUT_VALUES`.
   */
  readonly maxInputValues?: number;
  /**
   * Maximum number of runs over all tools, including those that wait for a slot and those past their deadline: 4,096 by
   * default, at least 2. One leader, or one unsigned connection, may have at most as many as remain for all others. A
   * call beyond the limit gets 503. Takes precedence over the environment variable `SVC_MAX_RUNS`.
   */
  readonly maxRuns?: number;
  /**
   * Minimum rate of a body in bytes per second: 16,384 by default, at least 1. A body that stays below it for 5 s gets
   * 408.
   */
  readonly minBodyBytesPerSecond?: number;
  /**
   * Origins of web pages that may call and read the answers, such as `https://app.example`: none by default. Preflights
   * from these pages are answered, and results, errors, metadata and health answers have CORS headers (@fastify/cors).
   * Without signatures, calls from all other pages are rejected, because any page can make a browser send requests to
   * this server, even on a loopback address. With signatures, the signature determines who may call. For mounted tools,
   * the application can register @fastify/cors itself.
   */
  readonly allowedOrigins?: readonly string[];
  /**
   * Allows a server without signatures on an address that other machines can reach. Without this option,
   * `SVC_ALLOW_UNSIGNED=1` or `"mode": "disabled"` in the configuration, such a server starts only on a loopback
   * address. Takes precedence over the environment variable. Has no effect if signatures are required.
   */
  readonly allowUnsigned?: boolean;
  /**
   * Format of unsigned calls' results. With `json`, the default, callers get JSON unless their `Accept` header names
   * the BCS type. With `bcs`, all callers get BCS, for leaders that send no `Accept`. Takes precedence over the
   * environment variable `SVC_UNSIGNED_RESULTS`. Has no effect if signatures are required.
   */
  readonly unsignedResults?: "json" | "bcs";
  /** Limits on rate and load. A limit that is not set does not apply. */
  readonly load?: LoadOptions;
  /**
   * Function that runs around every call of a tool, for audit, policies, budgets and metrics. It runs after `authorize`
   * and after the input was decoded, within the deadline of the call, and not for exact retries, which get the stored
   * answer.
   *
   * @example
   * ```ts
   * import { type Around, PermissionDenied } from "svc-runtime";
   * import { Sum } from "./sum.js";
   *
   * export const around: Around = async (call, next) => {
   *   if (call.is(Sum) && call.input.a > 1_000n) throw new PermissionDenied("at most 1,000");
   *   const { status } = await next();
   *   call.context.log.info({ tool: call.fqn, leader: call.context.auth?.leaderId, status }, "audit");
   * };
   * ```
   */
  readonly around?: Around;
}

export const TOOL_OPTIONS = {
  headerPrefix: true,
  memoryLimit: true,
  replayMaxBytes: true,
  replayStore: true,
  config: true,
  logger: true,
  engine: true,
  reloadIntervalMs: true,
  shutdown: true,
  maxBodyBytesInFlight: true,
  maxInputValues: true,
  maxRuns: true,
  minBodyBytesPerSecond: true,
  allowedOrigins: [Array.isArray, 'a list of origins, such as ["https://app.example"]'],
  allowUnsigned: BOOLEAN,
  unsignedResults: true,
  load: true,
  around: FUNCTION,
} as const satisfies Checks<ToolOptions>;

const LOAD = { limits: true, tools: true, rateLimit: true } as const satisfies Checks<LoadOptions>;
const LIMITS = { concurrency: true, queue: true, queueTimeoutMs: true } as const satisfies Checks<ConcurrencyLimits>;
const RATE_LIMIT = { calls: true, windowMs: true } as const satisfies Checks<RateLimit>;
const SHUTDOWN = { readinessDelayMs: true, drainMs: true } as const satisfies Checks<ShutdownOptions>;

/**
 * Rejects unknown names inside the options that are objects.
 *
 * @throws TypeError
 */
export function checkInnerNames({ load = {}, shutdown = {} }: ToolOptions): void {
  checkOptions("load", load, LOAD);
  const { limits, tools = {}, rateLimit } = load;
  if (limits !== undefined) checkOptions("load.limits", limits, LIMITS);
  for (const [fqn, each] of Object.entries(tools)) checkOptions(`load.tools[${JSON.stringify(fqn)}]`, each, LIMITS);
  if (rateLimit !== undefined) checkOptions("load.rateLimit", rateLimit, RATE_LIMIT);
  checkOptions("shutdown", shutdown, SHUTDOWN);
}

/**
 * Extends the application before its tools are added. `app` is a `FastifyInstance`, which public types cannot refer to.
 */
export type Configure = { with(app: object): unknown }["with"];

/**
 * Options of a server set in code, in addition to the configuration file.
 *
 * @example
 * ```ts
 * import type { BootstrapOptions } from "svc-runtime";
 *
 * export const options: BootstrapOptions = { admin: [[127, 0, 0, 1], 9090], load: { limits: { concurrency: 8 } } };
 * ```
 */
export interface BootstrapOptions extends ToolOptions {
  /**
   * Address of the admin listener, with `/livez`, `/readyz` and `/metrics`; off by default. Takes precedence over the
   * environment variable `SVC_ADMIN_ADDR`. The admin listener is unauthenticated: use an address that only operators
   * can reach.
   */
  readonly admin?: Address;
  /**
   * Maximum number of open connections: 4,096 by default, or fewer if they need more than a fifth of the memory outside
   * the heap. Additional connections are closed before a byte is read. Takes precedence over `SVC_MAX_CONNECTIONS`.
   */
  readonly maxConnections?: number;
  /**
   * Adds your own routes, hooks and plugins to the application before its tools: `configure: async (app:
   * FastifyInstance) => { await app.register(helmet); }` with the types of `svc-runtime/fastify`. Its hooks also run
   * for calls of tools and for unknown paths, which get the server's own 404 answer.
   */
  readonly configure?: Configure;
}

export const BOOTSTRAP_OPTIONS = {
  ...TOOL_OPTIONS,
  admin: true,
  maxConnections: true,
  configure: FUNCTION,
} as const satisfies Checks<BootstrapOptions>;
