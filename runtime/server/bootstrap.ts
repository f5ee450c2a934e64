/** Starts servers from tool classes (protocol.md sections 8 to 10). */

import { checkOptions } from "svc-client/internal/check-options";
import { prettyJson } from "svc-client/internal/wire/json/pretty-json";
import { ConfigError, configFile, ENV_TOOLKIT_CONFIG_PATH, type ToolkitRuntimeConfig } from "../config/config.js";
import { ENV_ADMIN_ADDR, ENV_BIND_ADDR, ENV_TLS_CERT_PATH } from "../config/environment.js";
import type { ListenAddress } from "../config/listen-address.js";
import type { Reloads } from "../config/reload-stats.js";
import type { SvcToolClass } from "../tool.js";
import { documentOf } from "./call/meta.js";
import { serveTools } from "./call/run/served-tool.js";
import { StartupError } from "./errors/startup-error.js";
import { type Address, listenAddressFromEnv, listenAddressOf } from "./http/address.js";
import { type App, buildApp } from "./http/http-server.js";
import { BACKLOG } from "./http/limits.js";
import type { ShutdownSummary } from "./http/shutdown.js";
import { isTlsServer, tlsFromEnv } from "./http/tls.js";
import type { LoadStats } from "./load/load-options.js";
import { exitWith } from "./log/log-destination.js";
import { type AdminListener, listenAdmin } from "./observe/admin.js";
import { Metrics } from "./observe/metrics.js";
import { NO_METRICS } from "./observe/metrics-library.js";
import { BOOTSTRAP_OPTIONS, type BootstrapOptions } from "./options.js";
import { requireVariables } from "./required-variables.js";
import { stopOnSignals, toggleDebugOnSignal } from "./signals.js";
import { loggerOf, ToolServer } from "./tool-server.js";
import { localUrl, metadataListing } from "./wire/metadata.js";

export const DEFAULT_ENDPOINT: ListenAddress = { host: "127.0.0.1", port: 8080 };

/** A listening server. */
export interface RunningServer {
  /** Base URL, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Reload statistics of the configuration, allow-list and certificate. */
  reloads(): Reloads;
  /** Current load and counts of rejected calls, in an object that stays up to date. */
  load(): LoadStats;
  /** Checks the watched files now instead of within a second. Resolves when their content was adopted or rejected. */
  reload(): Promise<void>;
  /** Base URL of the admin listener, such as `http://127.0.0.1:9090`; undefined without one. */
  readonly adminUrl: string | undefined;
  /**
   * Whether the server is ready, as `/readyz` reports it: it listens, no shutdown has begun, and its replay store is
   * available.
   */
  readonly ready: boolean;
  /**
   * Stops accepting connections. Resolves when the port is free and every request is answered. Requests have
   * `shutdown.drainMs` to finish. Then the abort signals of running tools fire, and requests that have not finished 2 s
   * later get 503 `shutting_down`.
   *
   * @param signal name of the process signal, for the log
   */
  close(signal?: string): Promise<ShutdownSummary>;
}

type Tools = SvcToolClass | readonly SvcToolClass[];

/** Distinguishes an address, whose first element is an array of octets, from a list of tools. */
function isAddress(value: unknown): value is Address {
  return Array.isArray(value) && Array.isArray(value[0]);
}

/**
 * Serves one tool or many: `bootstrap(Sum)`, `bootstrap([Sum, Other])`, `bootstrap([[127, 0, 0, 1], 8081], Sum)`,
 * `bootstrap([[127, 0, 0, 1], 8081], [Sum, Other])`, each with options as an optional last argument.
 *
 * With the command-line argument `--meta`, prints the metadata of the tools instead and exits with 0. Prints a start-up
 * error on standard error and exits with 1.
 *
 * SIGTERM and SIGINT close the server with {@link RunningServer.close}; the process then exits with 0, or with 3 if a
 * call was cut short. A second signal ends the process at once. SIGHUP reloads the configuration file and the
 * certificate, if there are any. SIGUSR2 raises the log level to `debug`; the next one restores it.
 *
 * A process that was forked with an IPC channel sends `{ serving: URL }` to its parent when it listens. An exception
 * outside a call is logged and ends neither the process nor a call. {@link serve} does none of this.
 *
 * @example
 * ```ts
 * import { bootstrap, provideContracts } from "svc-runtime/v1";
 * import { contracts } from "./generated/contracts.js";
 * import { Sum } from "./sum.js";
 *
 * provideContracts(contracts);
 * await bootstrap([[127, 0, 0, 1], 8081], Sum, { maxConnections: 1_000 });
 * ```
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
    // Installed before the server listens, so that every signal has a handler.
    stopOnSignals(starting);
    toggleDebugOnSignal(logger, options?.logger !== undefined);
    // Without files, SIGHUP keeps its default action, so that the server ends with its terminal.
    if (process.platform !== "win32" && hasFiles(options?.config)) {
      process.on("SIGHUP", () => void starting.then((server) => server.reload()).catch(() => {}));
    }
    const server = await starting;
    for (const event of ["uncaughtException", "unhandledRejection"] as const) {
      process.on(event, (err: unknown) => {
        logger.error({ err }, `${event} outside a call: await promises, catch errors`);
      });
    }
    // With port 0, the parent does not know the address.
    if (process.connected) process.send?.({ serving: server.url });
    return server;
  } catch (error) {
    return exitWith(1, `cannot start: ${startupMessage(error)}\n`);
  }
}

/** Whether the server watches files. */
function hasFiles(config: ToolkitRuntimeConfig | undefined): boolean {
  const configured = config === undefined ? process.env[ENV_TOOLKIT_CONFIG_PATH] : configFile(config);
  return configured !== undefined || process.env[ENV_TLS_CERT_PATH] !== undefined;
}

/** Message of an error that an operator can fix; stack of an unexpected error. */
function startupMessage(error: unknown): string {
  if (error instanceof StartupError || error instanceof ConfigError || error instanceof RangeError)
    return error.message;
  const { syscall = "", code, message, stack } = Object(error) as NodeJS.ErrnoException;
  if (syscall === "listen" || syscall === "bind") {
    const remedy = code === "EADDRINUSE" ? "free the address, or set another one" : "set another address";
    return `${message}; ${remedy}: ${ENV_BIND_ADDR} for the tools, ${ENV_ADMIN_ADDR} for the admin listener`;
  }
  return (syscall === "" ? stack : message) ?? String(error);
}

/**
 * Prints a text and exits, because handles opened by a tool's module would keep the process alive. The exit code is 1 if
 * the text could not be written.
 */
export function print(text: string): Promise<never> {
  const failed = ({ message }: Error) => exitWith(1, `cannot print: ${message}\n`);
  return new Promise(() => process.stdout.write(text, (error) => (error ? failed(error) : process.exit(0))));
}

function metaOf(classes: readonly SvcToolClass[]): string {
  const documents = serveTools(classes).map(({ tool, contract }) =>
    prettyJson(documentOf(tool, contract, localUrl(contract.path))),
  );
  return metadataListing(documents);
}

/**
 * Serves tools like {@link bootstrap}, for programs that embed a server: rejects when the start fails, reads no command
 * line and handles no signals.
 *
 * @example
 * ```ts run
 * import { serve } from "svc-runtime";
 * import { provideContracts } from "svc-runtime/v1";
 * import { contracts } from "./generated/contracts.js";
 * import { Sum } from "./sum.js";
 *
 * provideContracts(contracts);
 * const server = await serve([Sum], { address: [[127, 0, 0, 1], 0] });
 * console.log((await fetch(`${server.url}/sum/health`)).status); // 200
 * await server.close();
 * ```
 *
 * @throws {@link StartupError}, {@link ConfigError}, RangeError and TypeError for invalid options, and the errors of node's `listen`
 */
export async function serve(
  classes: readonly SvcToolClass[],
  options: BootstrapOptions & { readonly address?: Address } = {},
): Promise<RunningServer> {
  checkOptions("serve", options, { ...BOOTSTRAP_OPTIONS, address: true });
  const tools = serveTools(classes);
  const endpoint =
    listenAddressOf("bootstrap", options.address) ?? listenAddressFromEnv(ENV_BIND_ADDR) ?? DEFAULT_ENDPOINT;
  const adminEndpoint = listenAddressOf("admin", options.admin) ?? listenAddressFromEnv(ENV_ADMIN_ADDR);
  const log = loggerOf(options);
  if (endpoint === DEFAULT_ENDPOINT && process.env.PORT !== undefined) {
    log.warn(
      { variable: "PORT" },
      `the environment variable PORT is ignored: set ${ENV_BIND_ADDR} to an address and a port`,
    );
  }
  const tls = tlsFromEnv();
  const scheme = tls === undefined ? "http" : "https";
  const metrics = adminEndpoint && (await Metrics.load());
  if (adminEndpoint !== undefined && metrics === undefined) log.warn(`/metrics answers 501: ${NO_METRICS}`);
  requireVariables(tools.map(({ contract }) => contract));
  const prepared = await ToolServer.prepare(tools, options, { log, metrics, scheme, endpoint });
  const { service, reload } = prepared;
  let admin: AdminListener | undefined;
  const release = async (limitMs?: number) => {
    await prepared.release(limitMs);
    await admin?.close();
  };
  let url: string;
  let opened: App | undefined;
  try {
    opened = await buildApp({ ...prepared, tls, configure: options.configure });
    const { server } = opened.app;
    if (tls !== undefined && isTlsServer(server)) reload.followCertificate(tls, server);
    await prepared.start(server);
    if (adminEndpoint !== undefined) {
      admin = await listenAdmin(adminEndpoint, { readiness: prepared, metrics, log });
    }
    url = await opened.app.listen({ ...endpoint, backlog: BACKLOG });
    prepared.listening = true;
  } catch (error) {
    await opened?.close();
    await release();
    throw error;
  }
  const { app, requests, close } = opened;
  log.info({ url, ...(admin !== undefined && { admin: admin.url }), ...prepared.summary }, "serving");
  const hangUp = () => app.server.closeAllConnections();
  return {
    url,
    adminUrl: admin?.url,
    get ready() {
      return prepared.unready === undefined;
    },
    reloads: () => reload.stats,
    load: () => service.load,
    reload: () => reload.reload(),
    close: (signal) => prepared.stop({ requests, close, hangUp, release }, signal),
  };
}
