import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import fastifyPlugin from "fastify-plugin";
import { checkOptions } from "svc-client/internal/check-options";
import type { MetricRegistry, SvcToolClass } from "../tool.js";
import { serveTools } from "./call/run/served-tool.js";
import { StartupError } from "./errors/startup-error.js";
import { RequestQueue } from "./http/request-queue.js";
import { ToolRoutes } from "./http/tool-routes.js";
import type { ServerLogger } from "./log/safe-logger.js";
import { Metrics } from "./observe/metrics.js";
import { NO_METRICS } from "./observe/metrics-library.js";
import { TOOL_OPTIONS, type ToolOptions } from "./options.js";
import { requireVariables } from "./required-variables.js";
import { loggerOf, ToolServer } from "./tool-server.js";

/** Options of {@link svcTools}. `logLevel` and `prefix` are fastify's own options. */
export interface SvcToolsOptions extends ToolOptions {
  /** Tool classes. Register their contracts first, with `provideContracts` of `svc-runtime/v1`. */
  readonly tools: readonly SvcToolClass[];
  /**
   * Registry of `@prometheus-io/client` or prom-client, to which the tools' metrics are added (docs/observe.md); by
   * default none. Use a registry for one registration only.
   */
  readonly registry?: MetricRegistry;
}

/** Known options of the plugin. The last four are fastify's own options. */
const PLUGIN_OPTIONS = {
  ...TOOL_OPTIONS,
  tools: true,
  registry: true,
  prefix: true,
  prefixTrailingSlash: true,
  logLevel: true,
  logSerializers: true,
} as const;

const svcToolsPlugin: FastifyPluginAsync<SvcToolsOptions> = async (app, given) => {
  checkOptions("svcTools", given, PLUGIN_OPTIONS);
  const { tools: classes, registry, ...options } = given;
  if (app.initialConfig.http2 === true)
    throw new StartupError("svcTools: expected an HTTP/1.1 application, got HTTP/2; create it without http2");
  const tools = serveTools(classes);
  const logger = options.logger ?? loggerOfApplication(app);
  const log = loggerOf(logger && { logger });
  const scheme = app.initialConfig.https === undefined ? "http" : "https";
  if ((options.shutdown?.readinessDelayMs ?? 0) > 0) {
    throw new RangeError(
      "shutdown.readinessDelayMs: not supported for mounted tools; remove it, and delay app.close() in the application",
    );
  }
  requireVariables(tools.map(({ contract }) => contract));
  const metrics = registry && (await Metrics.load(registry));
  if (registry !== undefined && metrics === undefined) throw new StartupError(`registry: ${NO_METRICS}`);
  const prepared = await ToolServer.prepare(tools, options, { log, scheme, metrics });
  const { service, shutdown } = prepared;
  const stops = stopsOf.get(app.server) ?? [];
  stopsOf.set(app.server, stops);
  try {
    const routes = new ToolRoutes(prepared);
    const { requests } = routes;
    const queue = new RequestQueue(() => service.load.refusals.count("requests"));
    await app.register(async (part) => {
      part.addHook("onRequest", ({ raw }, reply, done) => queue.enter(raw, reply.raw, done));
      await part.register(routes.plugin);
      await part.register(routes.otherMethods);
    });
    await prepared.start(app.server);
    const release = (limitMs: number) => prepared.release(limitMs);
    stops.push(() => prepared.stop({ requests, close: async () => {}, hangUp: () => {}, release }));
    // preClose runs before the application closes its listener, while answers can still be sent. Its hooks run one
    // after another, so the first one stops all registrations.
    app.addHook("preClose", async () => {
      await Promise.all(stops.map((stop) => stop()));
    });
  } catch (error) {
    await prepared.release();
    throw error;
  }
  const { pluginTimeout = 0 } = app.initialConfig;
  if (pluginTimeout > 0 && pluginTimeout < shutdown.limitMs) {
    log.warn(
      { pluginTimeout, shutdownMs: shutdown.limitMs },
      "app.close() rejects if running calls take longer than pluginTimeout: set pluginTimeout of the application to 0",
    );
  }
  log.info({ prefix: app.prefix, ...prepared.summary }, "mounted");
};

function loggerOfApplication({ log }: FastifyInstance): ServerLogger | undefined {
  const { level } = log as { readonly level?: string };
  return level === undefined || level === "silent" ? undefined : (log as unknown as ServerLogger);
}

/** Functions that stop the registrations of each application, by its server. */
const stopsOf = new WeakMap<object, (() => Promise<unknown>)[]>();

/**
 * Mounts tools in your own fastify application: `await app.register(svcTools, { tools: [Sum], prefix: "/tools" })`.
 * Each tool has `POST …/invoke`, `GET …/meta` and `GET …/health`; `GET /tools` and `GET /health` are added below the
 * prefix. All other routes are unaffected.
 *
 * All hooks of the application run for a call. The plugin reads the body itself after the caller is verified:
 * `request.body` is undefined, and a hook must not read the body. An `onSend` hook that changes a signed result
 * invalidates its signature.
 *
 * The application owns the listener: address, TLS, connections, time limits and size of headers, signals, errors
 * outside calls. The plugin owns the handling of calls: signatures, replay protection, body limits, deadlines, load
 * control, reloads of the configuration. `app.close()` finishes the running calls within the limits of `shutdown`.
 *
 * @example
 * ```ts run
 * import { fastify, svcTools } from "svc-runtime/fastify";
 * import { provideContracts } from "svc-runtime/v1";
 * import { contracts } from "./generated/contracts.js";
 * import { Sum } from "./sum.js";
 *
 * provideContracts(contracts);
 * const app = fastify();
 * await app.register(svcTools, { tools: [Sum], prefix: "/tools", allowUnsigned: true });
 * const answer = await app.inject({ url: "/tools/sum/health" });
 * console.log(answer.statusCode); // 200
 * await app.close();
 * ```
 *
 * @throws StartupError, ConfigError, RangeError and TypeError, at `await app.register(…)` or `app.ready()`
 */
export const svcTools = fastifyPlugin(svcToolsPlugin, { fastify: "5.x", name: "svc-runtime", encapsulate: true });
