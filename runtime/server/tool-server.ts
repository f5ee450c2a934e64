/** Tool server without a listener: tools with configuration, replay store, load control and reloads. */

import { SignatureHeaders } from "svc-client/internal/wire/protocol";
import { type EngineSelection, selectEngine } from "svc-client/internal/wire/signature/ed25519";
import type { EngineName } from "svc-client/internal/wire/signature/ed25519-keys";
import { ENV_TOOLKIT_CONFIG_PATH, replayTtlOf, similarEntry, ToolkitRuntimeConfig } from "../config/config.js";
import { ENV_REDIS_URL, numberSetting, REDIS_SETTINGS } from "../config/environment.js";
import type { ListenAddress } from "../config/listen-address.js";
import { type StrayVariable, strayVariables } from "../config/stray-variables.js";
import { vulnerableNode } from "../internal/node-version.js";
import { endsWithin } from "../time-limit.js";
import { SvcTool } from "../tool.js";
import { AllowedOrigins } from "./call/allowed-origins.js";
import { InvokeService } from "./call/invoke-service.js";
import type { Refusal } from "./call/messages.js";
import { type Observer, Observers } from "./call/observers.js";
import { createClasses } from "./call/run/class-hooks.js";
import type { ServedTool } from "./call/run/served-tool.js";
import { StartupError } from "./errors/startup-error.js";
import type { Pages } from "./http/cors.js";
import { Shutdown, type ShutdownParts, type ShutdownSummary } from "./http/shutdown.js";
import { LoadControl } from "./load/load-control.js";
import { type MemoryBudget, memoryBudget, partsOf } from "./load/memory-budget.js";
import { initLogger } from "./log/log.js";
import { SafeLogger, type ServerLogger } from "./log/safe-logger.js";
import { type Claims, claimsOf } from "./observe/claims.js";
import type { MetricSources, Metrics } from "./observe/metrics.js";
import { RefusedRequests } from "./observe/refused-requests.js";
import { requestLog } from "./observe/request-log.js";
import { loadTracing } from "./observe/tracing.js";
import { checkInnerNames, type ToolOptions } from "./options.js";
import { logConfigWarnings, ServerReload, warnIfUnsigned } from "./reload.js";
import { ReplayMemory } from "./replay/memory.js";
import { rememberTools } from "./replay/remembered-tools.js";
import type { ReplayStore } from "./replay/store.js";
import { refuseMisspelt } from "./stray-warnings.js";
import { checkUnsigned, unsignedResultsOf } from "./unsigned.js";
import { DEFAULT_MAX_INPUT_VALUES } from "./wire/heap-bytes.js";

/** Parts that the transport provides. */
export interface ListenerContext {
  readonly log: SafeLogger;
  readonly scheme: "http" | "https";
  /** Address of the listener; undefined if the application owns it. */
  readonly endpoint?: ListenAddress;
  /** Undefined if there is no admin listener. */
  readonly metrics?: Metrics | undefined;
}

interface Loaded {
  readonly config: ToolkitRuntimeConfig;
  /** Replay store of the options or the environment; undefined for the process's own. */
  readonly shared: ReplayStore | undefined;
  readonly strays: readonly StrayVariable[];
  readonly tracing: Observer | undefined;
}

/** Tools that are ready to serve, and what all their calls share. */
export class ToolServer {
  readonly config: ToolkitRuntimeConfig;
  readonly log: SafeLogger;
  readonly shutdown: Shutdown;
  readonly memory: MemoryBudget;
  readonly store: ReplayStore;
  readonly claims: Claims;
  readonly service: InvokeService;
  readonly reload: ServerReload;
  readonly pages: Pages;
  readonly maxUnreadBytes: number;
  readonly minBodyBytesPerSecond: number | undefined;
  /** Fields of the log line at the start. */
  readonly summary: object;
  /** Whether callers can connect. Always true if the application owns the listener. */
  listening: boolean;
  readonly onRefused = (refusal: Refusal): void => this.#refused.add(refusal);

  readonly #metrics: Metrics | undefined;
  readonly #refused: RefusedRequests;
  readonly #hasOwnStore: boolean;
  #isStoreStarted = false;
  #forgetTools: (() => void) | undefined;
  #closeClasses: (() => Promise<void>) | undefined;

  /**
   * Prepares tools for serving, without listening.
   *
   * @throws {@link StartupError}, {@link ConfigError}, RangeError for invalid options
   */
  static async prepare(
    tools: readonly ServedTool[],
    options: ToolOptions,
    context: ListenerContext,
  ): Promise<ToolServer> {
    checkInnerNames(options);
    const { log, scheme } = context;
    const config = options.config ?? ToolkitRuntimeConfig.fromEnv();
    const strays = strayVariables(process.env);
    const shared = options.replayStore ?? (await sharedStore(config.signedHttpIsRequired(), strays, log));
    return new ToolServer(tools, options, context, { config, shared, strays, tracing: await loadTracing(scheme, log) });
  }

  private constructor(
    readonly tools: readonly ServedTool[],
    options: ToolOptions,
    { log, scheme, metrics, endpoint }: ListenerContext,
    { config, shared, strays, tracing }: Loaded,
  ) {
    const signed = config.signedHttpIsRequired();
    const headers = new SignatureHeaders(options.headerPrefix);
    const { engine, reason } = engineOf(options.engine);
    const memory = memoryBudget(options, {
      bodyLimit: config.invokeMaxBodyBytes(),
      remembers: signed && shared === undefined,
      ownStore: shared?.maxBytes ?? 0,
      listens: endpoint !== undefined,
      tls: scheme === "https",
    });
    this.config = config;
    this.log = log;
    this.memory = memory;
    this.store = shared ?? new ReplayMemory({ maxBytes: memory.replay });
    this.listening = endpoint === undefined;
    this.#metrics = metrics;
    this.#hasOwnStore = options.replayStore === undefined && this.store.scope === "process";
    checkUnsigned(config, options, { endpoint, strays, log });
    if (vulnerableNode !== undefined) log.warn(vulnerableNode);
    if (signed) requireConfigEntries(tools, config, log);
    else warnOfUncalledAuthorize(tools, log);
    logConfigWarnings(config, log);
    for (const tool of tools) tool.around = options.around;
    const served = tools.map(({ fqn }) => fqn);
    const intervalMs = numberSetting("reloadIntervalMs", options.reloadIntervalMs)?.value;
    const allowedOrigins = new AllowedOrigins(options.allowedOrigins);
    this.shutdown = new Shutdown(options.shutdown);
    this.pages = { origins: allowedOrigins, headers };
    this.maxUnreadBytes = memory.answers;
    this.minBodyBytesPerSecond = numberSetting("minBodyBytesPerSecond", options.minBodyBytesPerSecond)?.value;
    const runs = numberSetting("maxRuns", options.maxRuns)?.value;
    const { bodies: bodyBytes, values: inputBytes, httpAnswers: httpAnswerBytes } = memory;
    const limits = { bodyBytes, inputBytes, httpAnswerBytes, runs, hasOneLeader: this.#hasOneLeader };
    this.claims = claimsOf(headers, () => config.leaders);
    this.#refused = new RefusedRequests(log, this.claims, (code) => metrics?.refused(code));
    const observers = [requestLog(log, this.claims), metrics, tracing];
    this.service = new InvokeService({
      config,
      headers,
      engine,
      store: this.store,
      maxInputValues: inputValuesLimit(options.maxInputValues),
      load: new LoadControl(options.load ?? {}, { tools: served, signed, log, ...limits }),
      log,
      allowedOrigins,
      unsignedResults: unsignedResultsOf(options.unsignedResults),
      observers: new Observers(
        observers.filter((observer) => observer !== undefined),
        log,
      ),
    });
    this.reload = new ServerReload({ config, served, log, intervalMs });
    if (memory.warning !== undefined) log.warn({}, memory.warning);
    this.summary = {
      tools: tools.map(({ fqn, prefix }) => ({ fqn, path: prefix || "/" })),
      signed,
      ed25519: `${engine.name} (${reason})`,
      memory: figuresOf(memory),
    };
  }

  readonly #hasOneLeader = (): boolean => this.config.signedHttpIsRequired() && this.config.leaders.hasOneLeader;

  /** Reason why the server is not ready; undefined if it is ready. */
  get unready(): string | undefined {
    if (this.shutdown.stopping) return "stopping";
    if (!this.listening) return "starting";
    const { unavailable } = this.store;
    return unavailable && `replay store: ${unavailable}`;
  }

  /** Starts the replay store and calls `create()` of the tools. Must end before a tool is called. */
  async start(listener: MetricSources["server"]): Promise<void> {
    const { tools, config, log, store } = this;
    const metrics = this.#metrics;
    metrics?.read({ ...this, readiness: this, server: listener, log: log.lines });
    // Without signatures, there are no nonces to remember.
    if (config.signedHttpIsRequired()) {
      if (this.#hasOwnStore) this.#forgetTools = rememberTools(tools.map(({ fqn }) => fqn));
      this.#isStoreStarted = true;
      await store.start?.({
        tools: tools.map(({ fqn, timeoutMs }) => ({ fqn, timeoutMs })),
        hasOneLeader: this.#hasOneLeader,
        ttlMs: (fqn) => replayTtlOf(config, fqn),
        log,
        observe: metrics && ((operation, ms) => metrics.replayOperation(operation, ms)),
      });
    }
    this.#closeClasses = await createClasses(tools, { log, ...(metrics && { registry: metrics.registry }) });
  }

  /** Finishes the running calls within the limits of the options, then releases all resources. */
  stop(transport: Omit<ShutdownParts, "log" | "abortRuns">, signal?: string): Promise<ShutdownSummary> {
    const { log, service, shutdown } = this;
    return shutdown.stop({ ...transport, log, abortRuns: () => service.abortRuns() }, signal);
  }

  /**
   * Releases all resources; waits, up to a limit, for pending writes of the replay store. Call it when no call is
   * running.
   */
  async release(limitMs = CLOSE_STORE_MS): Promise<void> {
    await this.service.settlementsDone();
    this.#refused.close();
    this.reload.close();
    const limit = Math.min(limitMs, CLOSE_STORE_MS);
    const storeClosed = this.#isStoreStarted && closeStore(this.store, this.log, limit);
    await Promise.all([this.#closeClasses?.(), storeClosed]);
    this.#forgetTools?.();
  }
}

function figuresOf(memory: MemoryBudget): object {
  const { source, maxConnections } = memory;
  const mebibytes = Object.entries(partsOf(memory)).map(
    ([name, bytes]) => [`${name}Mi`, Math.floor(bytes / 2 ** 20)] as const,
  );
  return { of: source, ...Object.fromEntries(mebibytes), maxConnections };
}

/**
 * Shared replay store that the environment configures, from the optional package svc-runtime-redis; undefined if there
 * is none.
 *
 * @throws {@link StartupError}
 */
async function sharedStore(
  signed: boolean,
  strays: readonly StrayVariable[],
  log: ServerLogger,
): Promise<ReplayStore | undefined> {
  const settings = REDIS_SETTINGS.filter((name) => process.env[name] !== undefined);
  if (signed && process.env[ENV_REDIS_URL] !== undefined) {
    let redis: typeof import("svc-runtime-redis");
    // A bundler accepts a missing package only in a `try` with the `import`; each replaces it by another error.
    try {
      redis = await import("svc-runtime-redis");
    } catch (error) {
      const missing = "the package svc-runtime-redis cannot be loaded: npm install svc-runtime-redis";
      throw new StartupError(`${ENV_REDIS_URL}: ${missing}`, { cause: error });
    }
    return redis.redisFromEnv();
  }
  if (signed && settings.length > 0) {
    throw new StartupError(
      `${settings.join(", ")}: expected ${ENV_REDIS_URL} to be set too; without it replicas do not share a replay store`,
    );
  }
  if (settings.length > 0) {
    log.warn(
      { variables: settings },
      `the settings of the shared replay store are ignored, because answers to unsigned calls are not stored: set ${ENV_TOOLKIT_CONFIG_PATH} to a configuration that requires signatures, or unset the settings`,
    );
  }
  const consequence = "without a shared replay store a call can run again in another replica";
  if (signed) refuseMisspelt(strays, ENV_REDIS_URL, consequence);
  return undefined;
}

/** Time limit, in milliseconds, for a store to finish its pending writes when a server ends. */
const CLOSE_STORE_MS = 5_000;

async function closeStore(store: ReplayStore, log: ServerLogger, limitMs: number): Promise<void> {
  const close = async () => store.close?.(limitMs);
  try {
    await endsWithin(limitMs + 100, close());
  } catch (error) {
    log.error({ err: error }, "closing the replay store failed");
  }
}

/** Logger of the options, or the default logger, wrapped so that it never throws. */
export function loggerOf(options: Pick<ToolOptions, "logger"> | undefined): SafeLogger {
  return SafeLogger.of(options?.logger ?? initLogger());
}

/** Limit on the number of values of one call, from code or the environment. */
export function inputValuesLimit(given: number | undefined): number {
  return numberSetting("maxInputValues", given)?.value ?? DEFAULT_MAX_INPUT_VALUES;
}

/**
 * Returns the engine with this name, or the fastest one.
 *
 * @throws {@link StartupError} for an unknown name, or if the engine does not load
 */
function engineOf(name: EngineName | undefined): EngineSelection {
  try {
    return selectEngine(name);
  } catch (error) {
    throw new StartupError((error as Error).message);
  }
}

/** Warns of tools whose `authorize` does not run, because an unsigned call has no leader. */
function warnOfUncalledAuthorize(tools: readonly ServedTool[], log: ServerLogger): void {
  for (const { fqn, tool } of tools) {
    if (tool.prototype.authorize === SvcTool.prototype.authorize) continue;
    log.warn({ tool: fqn }, `authorize of ${fqn} does not run: calls are unsigned`);
  }
}

/**
 * In signed mode, requires a configuration entry for every served tool, and logs a warning for a tool without a signing
 * key.
 *
 * @throws {@link StartupError} for a tool without an entry
 */
function requireConfigEntries(tools: readonly ServedTool[], config: ToolkitRuntimeConfig, log: ServerLogger): void {
  for (const { fqn } of tools) {
    const entry = config.toolConfig(fqn);
    if (entry === undefined) {
      const other = similarEntry(config, fqn);
      const found = other === undefined ? "" : `; it contains ${JSON.stringify(other)}: rename it if it is meant`;
      throw new StartupError(
        `signed requests are required, but ${fqn} has no entry: add ${JSON.stringify(fqn)} to /signed_http/tools in the configuration${found}`,
      );
    }
    warnIfUnsigned(entry, fqn, log);
  }
}
