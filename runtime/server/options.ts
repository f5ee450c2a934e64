/** What can be set in code. The public types take in no package (test/types/public.test.ts). */

import type { ToolkitRuntimeConfig } from "../config/config.js";
import type { IsolateOptions } from "../tool.js";
import type { EngineName } from "../wire/ed25519-keys.js";
import type { Address } from "./http/address.js";
import type { ShutdownOptions } from "./http/shutdown.js";
import type { LoadOptions } from "./load/load-options.js";
import type { ServerLogger } from "./log/safe-logger.js";
import type { ReplayStore } from "./replay/store.js";

/** What can be set in code about tools, beside the configuration file. */
export interface ToolOptions {
  /** `X-Svc-` by default; `X-Nexus-` serves leaders that are older than this toolkit. Exactly one is read and written. */
  readonly headerPrefix?: string;
  /** Bytes of the replay memory over all tools: 512 MiB by default, at least 1 MiB. */
  readonly replayMaxBytes?: number;
  /** A replay store of your own, shared by several processes; then `replayMaxBytes` is not looked at. */
  readonly replayStore?: ReplayStore;
  /** Instead of the file that `SVC_TOOLKIT_CONFIG_PATH` names. */
  readonly config?: ToolkitRuntimeConfig;
  /**
   * Instead of JSON lines on standard error. Any pino logger will do, best with an asynchronous destination: one that
   * blocks holds up every call. What it throws is counted (`svc_log_dropped_total`) and goes no further.
   */
  readonly logger?: ServerLogger;
  /** Instead of the fastest engine that works here. */
  readonly engine?: EngineName;
  /**
   * Threads that verify and sign, 0 to 64; 0 by default: the main thread does it. With a free core one of them makes
   * room for about half as many signed calls again; the CPU that a call costs stays about the same.
   */
  readonly cryptoThreads?: number;
  /**
   * Runs tools on threads of their own, where one that blocks its thread, ends it or fills its memory harms nobody but
   * its own call; off by default. What a tool's class says in `static isolate()` goes before this.
   */
  readonly isolate?: boolean | IsolateOptions;
  /**
   * Milliseconds between looks at the configuration's file and the certificate, in case that a watch hears nothing:
   * 1,000 by default, at least 10. With the default a new version is in force within two seconds of its last write, and
   * mostly within a third of one. A configuration that was not read from a file is not looked after.
   */
  readonly reloadIntervalMs?: number;
  /** How long the end may take. */
  readonly shutdown?: ShutdownOptions;
  /**
   * Bytes of request bodies held in memory together, from their arrival until their call is answered: 64 MiB by default,
   * or twice `invoke_max_body_bytes` where that is more; never less. One leader, or one unsigned connection, holds at most
   * as many as are left for all others. A call without room is 503.
   */
  readonly maxBodyBytesInFlight?: number;
  /** Bytes a second of a body: 16,384 by default, at least 1. One that stays below for 5 s is 408. */
  readonly minBodyBytesPerSecond?: number;
  /**
   * Origins of web pages whose requests are served without signatures, such as `https://app.example`: none by default. A
   * browser sends requests of any page to this server, on a loopback address too. In signed mode the signature decides.
   */
  readonly allowedOrigins?: readonly string[];
  /** Limits of rate and load; all of them are off unless they are set. */
  readonly load?: LoadOptions;
}

/** Adds to the application before its tools. The argument is a `FastifyInstance`, which the public types do not name. */
export type Configure = { with(app: object): unknown }["with"];

/** What can be set in code about a server, beside the configuration file. */
export interface BootstrapOptions extends ToolOptions {
  /**
   * The address of a listener for operators, with `/livez`, `/readyz` and `/metrics`; off by default. Goes before the
   * environment's `SVC_ADMIN_ADDR`. It asks nobody who he is: keep it on an address that only operators reach.
   */
  readonly admin?: Address;
  /** Connections at a time: 4,096 by default. Further ones are closed before a byte of them is read. */
  readonly maxConnections?: number;
  /**
   * Adds routes, hooks and plugins of your own to the application, before its tools: `configure: async (app: FastifyInstance)
   * => { await app.register(helmet); }` with the types of `svc-runtime/fastify`. Its hooks `onRequest` and `onResponse` see
   * the calls of tools too. Paths that no route has are answered 404 by us.
   */
  readonly configure?: Configure;
}
