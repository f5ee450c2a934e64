/** From tool classes to a listening server (protocol.md sections 8 to 10). */

import { checkedInteger } from "../config/checked-integer.js";
import {
  ConfigError,
  configDoubts,
  configFile,
  ENV_TOOLKIT_CONFIG_PATH,
  ToolkitRuntimeConfig,
} from "../config/config.js";
import { ENV_ADMIN_ADDR, ENV_BIND_ADDR, ENV_TLS_CERT_PATH } from "../config/environment.js";
import type { Reloads } from "../config/reload-stats.js";
import { parseFqn } from "../fqn.js";
import type { IsolateOptions, SvcToolClass } from "../tool.js";
import { type EngineSelection, selectEngine } from "../wire/ed25519.js";
import type { EngineName } from "../wire/ed25519-keys.js";
import { SignatureHeaders } from "../wire/http-names.js";
import { AllowedOrigins } from "./call/allowed-origins.js";
import { strayFields } from "./call/async-errors.js";
import { InvokeService } from "./call/invoke-service.js";
import { documentOf, localUrl, metaListing } from "./call/meta.js";
import { Observers } from "./call/observers.js";
import { type ServedTool, serveTools } from "./call/served-tool.js";
import { StartupError } from "./errors/startup-error.js";
import { type Address, type Endpoint, endpointFromEnv, endpointOf } from "./http/address.js";
import { buildApp } from "./http/http-server.js";
import { Shutdown, type ShutdownOptions, type ShutdownParts, type Stopped } from "./http/shutdown.js";
import { isTlsServer, tlsFromEnv } from "./http/tls.js";
import { bodyBytesBound } from "./load/body-bytes.js";
import { LoadControl } from "./load/load-control.js";
import type { LoadOptions, LoadStats } from "./load/load-options.js";
import { initLogger } from "./log/log.js";
import { exitWith } from "./log/log-destination.js";
import { SafeLogger, type ServerLogger } from "./log/safe-logger.js";
import { AdminListener } from "./observe/admin.js";
import { Metrics } from "./observe/metrics.js";
import { RequestLog } from "./observe/request-log.js";
import { loadTracing } from "./observe/tracing.js";
import { ServerReload } from "./reload.js";
import { SEAL_BYTES } from "./replay/cached-signature.js";
import { ReplayMemory } from "./replay/memory.js";
import type { ReplayStore } from "./replay/store.js";
import { stopOnSignals } from "./signals.js";
import { CryptoThreads } from "./threads/crypto-threads.js";
import { isolateTools } from "./threads/thread-host.js";
import { handOver } from "./threads/worker-handover.js";

export const DEFAULT_ADDRESS: Address = [[127, 0, 0, 1], 8080];
const DEFAULT_ENDPOINT: Endpoint = { host: "127.0.0.1", port: 8080 };

/** What can be set in code, beside the configuration file. */
export interface BootstrapOptions {
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
  /**
   * The address of a listener for operators, with `/livez`, `/readyz` and `/metrics`; off by default. Goes before the
   * environment's `SVC_ADMIN_ADDR`. It asks nobody who he is: keep it on an address that only operators reach.
   */
  readonly admin?: Address;
  /** How long the end may take. */
  readonly shutdown?: ShutdownOptions;
  /** Connections at a time: 4,096 by default. Further ones are closed before a byte of them is read. */
  readonly maxConnections?: number;
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

/** A server that listens. */
export interface RunningServer {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  /** What has become of new versions of the configuration, the allow-list and the certificate. */
  reloads(): Reloads;
  /** What there is to do, and what was refused because of it; the numbers go on changing. */
  load(): LoadStats;
  /** Looks at the files now instead of within a second; resolves when what is there is in force or refused. */
  reload(): Promise<void>;
  /** `http://127.0.0.1:9090`; undefined without a listener for operators. */
  readonly adminUrl: string | undefined;
  /** Whether it listens and was not told to stop. */
  readonly ready: boolean;
  /**
   * Stops accepting and resolves when the port is free and every request has its answer: within `shutdown.drainMs` by
   * itself; then the signals of running tools fire, and what has not ended 2 s later is answered 503 `shutting_down`.
   *
   * @param signal what it was told by, for the log
   */
  close(signal?: string): Promise<Stopped>;
}

type Tools = SvcToolClass | readonly SvcToolClass[];

/** A list of tools begins with a class, an address with its octets. */
function isAddress(value: unknown): value is Address {
  return Array.isArray(value) && Array.isArray(value[0]);
}

/**
 * Serves one tool or many: `bootstrap(Sum)`, `bootstrap([Sum, Other])`, `bootstrap([[127, 0, 0, 1], 8081], Sum)`,
 * `bootstrap([[127, 0, 0, 1], 8081], [Sum, Other])`, each with options as an optional last argument.
 *
 * With `--meta` among the process's arguments it prints the metadata of the tools instead and the process exits 0. A
 * fault at start-up is written to standard error and the process exits 1. SIGTERM and SIGINT close the server as
 * {@link RunningServer.close} says, then the process exits 0, or 3 when a call was cut short; a second signal ends it at
 * once. SIGHUP makes a process that has a configuration file or a certificate look at them at once. An
 * exception outside a call is logged and ends nothing. {@link serve} does none of this.
 */
export function bootstrap(tools: Tools, options?: BootstrapOptions): Promise<RunningServer | undefined>;
export function bootstrap(
  address: Address,
  tools: Tools,
  options?: BootstrapOptions,
): Promise<RunningServer | undefined>;
export async function bootstrap(
  first: Address | Tools,
  second?: Tools | BootstrapOptions,
  third?: BootstrapOptions,
): Promise<RunningServer | undefined> {
  const [address, tools, options] = isAddress(first)
    ? [first, second as Tools, third]
    : [undefined, first as Tools, second as BootstrapOptions | undefined];
  try {
    const classes = Array.isArray(tools) ? (tools as readonly SvcToolClass[]) : [tools as SvcToolClass];
    if (process.argv.includes("--meta")) return print(metaOf(classes));
    const logger = loggerOf(options);
    const starting = serve(classes, { ...options, logger, ...(address && { address }) });
    // Before it serves, so that no signal finds the process without them.
    stopOnSignals(starting);
    // Without files it keeps its old sense, so that no server outlives the terminal that it was started in.
    if (process.platform !== "win32" && hasFiles(options?.config)) {
      process.on("SIGHUP", () => void starting.then((server) => server.reload()).catch(() => {}));
    }
    const server = await starting;
    const served = classes.map((tool) => parseFqn(tool.fqn())?.text ?? "");
    for (const event of ["uncaughtException", "unhandledRejection"] as const) {
      process.on(event, (err: unknown) => {
        logger.error({ err, ...strayFields(served) }, `outside of a call: ${event}`);
      });
    }
    return server;
  } catch (error) {
    return exitWith(1, `cannot start: ${startupMessage(error)}\n`);
  }
}

/** Whether there is anything that may change under a running server. */
function hasFiles(config: ToolkitRuntimeConfig | undefined): boolean {
  const configured = config === undefined ? process.env[ENV_TOOLKIT_CONFIG_PATH] : configFile(config);
  return configured !== undefined || process.env[ENV_TLS_CERT_PATH] !== undefined;
}

/** What an operator can act on; the stack of anything unforeseen. */
function startupMessage(error: unknown): string {
  if (error instanceof StartupError || error instanceof ConfigError || error instanceof RangeError)
    return error.message;
  const { syscall, message, stack } = Object(error) as NodeJS.ErrnoException;
  return (syscall === undefined ? stack : message) ?? String(error);
}

/** Prints a text and ends the process: what a tool's module left open would keep it alive. */
function print(text: string): Promise<never> {
  return new Promise(() => process.stdout.write(text, () => process.exit(0)));
}

/** The logger of the options or the process's own, unable to throw. */
function loggerOf(options: BootstrapOptions | undefined): SafeLogger {
  return SafeLogger.of(options?.logger ?? initLogger());
}

/** What `--meta` prints. */
function metaOf(classes: readonly SvcToolClass[]): string {
  const documents = serveTools(classes).map(({ tool, contract }) =>
    documentOf(tool, contract, localUrl(contract.path)),
  );
  return metaListing(documents);
}

/**
 * Serves tools and rejects when that fails: what {@link bootstrap} does, for programs that embed a server. Reads no
 * command line and handles no signal.
 *
 * @throws {@link StartupError}, {@link ConfigError}, RangeError for options, and what listening throws
 */
export async function serve(
  classes: readonly SvcToolClass[],
  options: BootstrapOptions & { readonly address?: Address } = {},
): Promise<RunningServer> {
  const tools = serveTools(classes);
  if (handOver(tools)) return new Promise(() => {});
  const endpoint = endpointOf("bootstrap", options.address) ?? endpointFromEnv(ENV_BIND_ADDR) ?? DEFAULT_ENDPOINT;
  const adminEndpoint = endpointOf("admin", options.admin) ?? endpointFromEnv(ENV_ADMIN_ADDR);
  const config = options.config ?? ToolkitRuntimeConfig.fromEnv();
  const headers = new SignatureHeaders(options.headerPrefix ?? "X-Svc-");
  const log = loggerOf(options);
  const store = options.replayStore ?? replayMemory(config, options.replayMaxBytes);
  const { engine, reason } = engineOf(options.engine);
  config.leaders.onWarning = (message) => log.warn({}, message);
  if (config.signedHttpIsRequired()) requireEntries(tools, config, log);
  for (const doubt of configDoubts(config)) log.warn({}, `configuration: ${doubt}`);
  const tls = tlsFromEnv();
  const intervalMs = intervalOf(options.reloadIntervalMs);
  const shutdown = new Shutdown(options.shutdown);
  const maxConnections = connectionsOf(options.maxConnections);
  const allowedOrigins = new AllowedOrigins(options.allowedOrigins);
  const minBodyBytesPerSecond = bodyRateOf(options.minBodyBytesPerSecond);
  const cryptoThreads = checkedInteger("cryptoThreads", options.cryptoThreads ?? 0, 0, 64);
  const load = await LoadControl.start(options.load ?? {}, {
    tools: tools.map(({ fqn }) => fqn),
    signed: config.signedHttpIsRequired(),
    bodyBytes: bodyBytesBound(options.maxBodyBytesInFlight, config.invokeMaxBodyBytes()),
    log,
  });
  const signs = config.signedHttpIsRequired() && cryptoThreads > 0;
  const threads = signs ? new CryptoThreads(engine, cryptoThreads, log) : undefined;
  const metrics = adminEndpoint && (await Metrics.load());
  const scheme = tls === undefined ? "http" : "https";
  const looking = [new RequestLog(log), metrics, await loadTracing(scheme, log)];
  const observers = new Observers(
    looking.filter((observer) => observer !== undefined),
    log,
  );
  const service = new InvokeService({
    config,
    headers,
    engine: threads ?? engine,
    store,
    load,
    log,
    allowedOrigins,
    observers,
  });
  const onRefused = (code: string) => metrics?.refused(code);
  const { app, requests } = buildApp({
    tools,
    service,
    log,
    shutdown,
    onRefused,
    tls,
    maxConnections,
    minBodyBytesPerSecond,
  });
  const reload = new ServerReload({
    config,
    served: tools.map(({ fqn }) => fqn),
    tls: tls && isTlsServer(app.server) ? { setup: tls, server: app.server } : undefined,
    log,
    intervalMs,
  });
  let admin: AdminListener | undefined;
  let endToolThreads: (() => Promise<void>) | undefined;
  const release = async () => {
    await service.noted();
    reload.close();
    load.close();
    threads?.close();
    await endToolThreads?.();
    await admin?.close();
  };
  let listening = false;
  let url: string;
  try {
    endToolThreads = await isolateTools(tools, options.isolate, log);
    if (adminEndpoint !== undefined && metrics !== undefined) {
      const memory = store instanceof ReplayMemory ? store : undefined;
      metrics.read({ tools, config, store: memory, service, reload, server: app.server, shutdown, log: log.lines });
      const unready = () => (shutdown.stopping ? "stopping" : listening ? undefined : "starting");
      admin = await AdminListener.listen(adminEndpoint, { unready, reload, metrics, log });
    }
    // fastify names the scheme of the servers that it makes itself.
    url = (await app.listen({ ...endpoint })).replace(/^http(?=:)/, scheme);
    listening = true;
  } catch (error) {
    await release();
    throw error;
  }
  log.info(
    {
      url,
      ...(admin !== undefined && { admin: admin.url }),
      tools: tools.map(({ fqn, prefix }) => ({ fqn, path: prefix || "/" })),
      signed: config.signedHttpIsRequired(),
      ed25519: `${engine.name} (${reason})`,
      ...(store instanceof ReplayMemory && sustained(store, tools, config)),
    },
    "serving",
  );
  const parts: ShutdownParts = {
    requests,
    log,
    close: () => app.close(),
    abortRuns: () => service.abortRuns(),
    hangUp: () => app.server.closeAllConnections(),
    release,
  };
  return {
    url,
    adminUrl: admin?.url,
    get ready() {
      return !shutdown.stopping;
    },
    reloads: () => reload.stats,
    load: () => load,
    reload: () => reload.reload(),
    close: (signal) => shutdown.stop(parts, signal),
  };
}

/** @throws RangeError */
const connectionsOf = (most: number | undefined) =>
  most === undefined ? undefined : checkedInteger("maxConnections", most, 1, 2_147_483_647, "connections");

/** @throws RangeError */
const bodyRateOf = (bytes: number | undefined) =>
  bytes === undefined
    ? undefined
    : checkedInteger("minBodyBytesPerSecond", bytes, 1, Number.MAX_SAFE_INTEGER, "bytes a second");

/** @throws RangeError */
const intervalOf = (milliseconds: number | undefined) =>
  milliseconds === undefined
    ? undefined
    : checkedInteger("reloadIntervalMs", milliseconds, 10, 2_147_483_647, "milliseconds");

/** The engine asked for, or the fastest; a name that is none and an engine that does not load are no start. */
function engineOf(name: EngineName | undefined): EngineSelection {
  try {
    return selectEngine(name);
  } catch (error) {
    throw new StartupError((error as Error).message);
  }
}

function replayMemory(config: ToolkitRuntimeConfig, maxBytes: number | undefined): ReplayMemory {
  return new ReplayMemory({
    ...(maxBytes !== undefined && { maxBytes }),
    ttlMs: (fqn) => config.toolConfig(fqn)?.replayTtlMs ?? 300_000,
  });
}

/** What the replay memory bears: calls a second with results of 400 bytes, over the longest TTL. */
function sustained(store: ReplayMemory, tools: readonly ServedTool[], config: ToolkitRuntimeConfig) {
  if (!config.signedHttpIsRequired()) return {};
  const ttl = Math.max(...tools.map(({ fqn }) => config.toolConfig(fqn)?.replayTtlMs ?? 0));
  return { replay: `sustains ${Math.floor(store.sustainedRate(ttl, 400 + SEAL_BYTES))} calls/s over ${ttl} ms` };
}

/** In signed mode every served tool has an entry; one without a signing key is named. */
function requireEntries(tools: readonly ServedTool[], config: ToolkitRuntimeConfig, log: ServerLogger): void {
  for (const { fqn } of tools) {
    const entry = config.toolConfig(fqn);
    if (entry === undefined) {
      throw new StartupError(
        `signed requests are required, but ${fqn} has no entry: add ${JSON.stringify(fqn)} to /signed_http/tools in the configuration`,
      );
    }
    if (entry.signingKey === undefined) log.warn({ tool: fqn }, "results are not signed: no response_signing_key");
  }
}
