/**
 * The standalone HTTP server: fastify with the limits of protocol.md section 1, and responses to unparseable requests.
 */

import { createServer, type RequestListener, type Server, type ServerOptions, STATUS_CODES } from "node:http";
import { createServer as createHttpsServer, type Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { type ErrorCode, errorBody, statusOf } from "../errors/request-error.js";
import { allowPages, type Pages } from "./cors.js";
import {
  capConnections,
  DEADLINES,
  type Deadlines,
  HEADERS_TIMEOUT_MS,
  MAX_CONNECTIONS,
  MAX_HEADER_BYTES,
  MAX_HEADERS,
  REQUEST_TIMEOUT_MS,
} from "./limits.js";
import { endConnection, isClosing } from "./lingering-close.js";
import type { InFlightRequests } from "./shutdown.js";
import { prepareTlsServer, type TlsSetup, tlsOptions } from "./tls.js";
import { ToolRoutes, type ToolRoutesOptions } from "./tool-routes.js";

/** Options of the standalone server. */
export interface ServeOptions extends ToolRoutesOptions {
  /** Certificate and key; undefined for plain HTTP. */
  readonly tls?: TlsSetup | undefined;
  /** Maximum number of open connections; {@link MAX_CONNECTIONS} by default. */
  readonly maxConnections?: number | undefined;
  /** Web pages that may read answers. */
  readonly pages?: Pages;
  /** Adds the application's own routes and hooks. */
  readonly configure?: ((app: FastifyInstance) => unknown) | undefined;
}

/** The fastify application and its requests in flight. */
export interface App {
  readonly app: FastifyInstance;
  readonly requests: InFlightRequests<FastifyReply>;
  /** Closes the listener and idle connections; resolves when all are closed. Never rejects: an error is logged. */
  close(): Promise<void>;
}

/** Writes a refusal on a connection after the responses to the earlier requests on it. */
type AfterAnswers = (socket: Duplex, refuse: () => void) => void;

/** Builds the application without listening. */
export async function buildApp(options: ServeOptions): Promise<App> {
  const {
    service,
    log,
    shutdown,
    onRefused,
    configure,
    pages,
    maxConnections = MAX_CONNECTIONS,
    deadlines = DEADLINES,
  } = options;
  // Whether hooks see the tools' requests: the application's own, or those of CORS.
  const isExtended = configure !== undefined || pages?.origins.isEmpty === false;
  const routes = new ToolRoutes(options, { prefix: "", isOwn: true, hasHooks: isExtended });
  const { requests } = routes;
  const afterAnswers: AfterAnswers = (socket, refuse) => {
    const due = requests.find(({ request: { raw } }) => raw.socket === socket && raw.complete);
    if (due !== undefined) due.raw.once("close", () => afterAnswers(socket, refuse));
    else if (socket.writable) refuse();
  };
  const app = fastify({
    logger: false,
    // routeOrRefusal checks the host, because node's own response has another format.
    http: { requireHostHeader: false },
    return503OnClosing: false,
    // No limit: pluginTimeout also applies to `app.close()`, which would reject when calls take longer.
    pluginTimeout: 0,
    // Only the application's own routes may have schemas; fastify's compilers load ajv at start-up.
    ...(configure === undefined && {
      schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    }),
    serverFactory: (handler) => httpServer(handler, options.tls, deadlines, afterAnswers),
    clientErrorHandler: (error: NodeJS.ErrnoException, socket) => {
      const code = refuseClient(error, socket, deadlines, afterAnswers);
      if (code !== undefined) onRefused?.(code);
    },
    // A path that fastify cannot decode goes through the same routing as any other path.
    frameworkErrors: (_error, request, reply) => routes.answer(request as FastifyRequest, reply as FastifyReply),
  });
  capConnections(app.server, maxConnections, service.load.refusals);
  // Handles unknown paths, and every request after the server has closed. Without such hooks fastify knows no path: its
  // router takes a millisecond for each tool's routes, and the map of ToolRoutes finds them by exact bytes.
  app.addHook("onRequest", (request, reply, done) => {
    if (request.is404 || shutdown.closed) routes.answer(request, reply);
    else {
      if (configure !== undefined && !routes.owns(request)) follow(reply, requests);
      done();
    }
  });
  const close = () =>
    app.close().catch((error: unknown) => log.error({ err: error }, "closing the application failed"));
  try {
    if (isExtended) {
      await configure?.(app);
      // Registered as a plugin, because fastify loads plugins in order: the routes after the plugins of `configure`.
      await app.register(async (part) => {
        if (pages !== undefined) await allowPages(part, pages, routes);
        routes.register(part);
      });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { app, requests, close };
}

/** Counts a request of the author's own routes until its response has ended, so that shutdown waits for it. */
function follow(reply: FastifyReply, requests: InFlightRequests<FastifyReply>): void {
  requests.begin(reply);
  reply.raw.once("close", () => requests.end(reply, false));
}

/** Replaces fastify's schema compilers, which load ajv at start-up; no route here has a schema. */
function noSchemas(): never {
  throw new Error("no route has a schema");
}

/** Milliseconds that a client has to read the refusal of its CONNECT request. */
const TUNNEL_LINGER_MS = 1_000;

/** Creates node's server with the limits of protocol.md section 1. */
function httpServer(
  handler: RequestListener,
  tls: TlsSetup | undefined,
  deadlines: Deadlines,
  afterAnswers: AfterAnswers,
): Server {
  const limits: ServerOptions = {
    headersTimeout: deadlines.headersMs,
    requestTimeout: deadlines.requestMs,
    connectionsCheckingInterval: deadlines.checkMs,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: 65_000,
    requireHostHeader: false,
    noDelay: true,
  };
  const server = tls === undefined ? createServer(limits, handler) : httpsServer(limits, tls, deadlines, handler);
  // One more than allowed makes an excess detectable; node silently drops headers above its own limit.
  server.maxHeadersCount = MAX_HEADERS + 1;
  // Without these listeners node responds to `Expect` before the other headers are checked.
  server.on("checkContinue", handler);
  server.on("checkExpectation", handler);
  // Without this listener node closes the connection of a CONNECT request without a response.
  server.on("connect", (_request, socket) => {
    socket.on("error", () => socket.destroy());
    // node no longer tracks this connection, so a server that closes would wait for it.
    const lingerMs = Math.min(deadlines.lingerMs, TUNNEL_LINGER_MS);
    afterAnswers(socket, () => refuseConnection(socket, { lingerMs }, "bad_request"));
  });
  return server;
}

function httpsServer(
  limits: ServerOptions,
  tls: TlsSetup,
  { handshakeMs }: Deadlines,
  handler: RequestListener,
): HttpsServer {
  const server = createHttpsServer({ ...limits, ...tlsOptions(tls, handshakeMs) }, handler);
  prepareTlsServer(server);
  return server;
}

/** Connections whose refusal is written or waits for earlier responses. */
const refused = new WeakSet<Duplex>();

/**
 * Responds to parser errors and timeouts, for which no request object exists.
 *
 * @returns the error code of the response, or undefined when none is sent
 */
function refuseClient(
  error: NodeJS.ErrnoException,
  socket: Socket,
  deadlines: Deadlines,
  afterAnswers: AfterAnswers,
): ErrorCode | undefined {
  if (isClosing(socket)) return undefined;
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  if (refused.has(socket)) return undefined;
  refused.add(socket);
  const [code, details] = CLIENT_ERRORS[error.code ?? ""] ?? ["bad_request"];
  afterAnswers(socket, () => refuseConnection(socket, deadlines, code, details));
  return code;
}

function refuseConnection(
  socket: Duplex,
  { lingerMs }: Pick<Deadlines, "lingerMs">,
  code: ErrorCode,
  details?: string,
): void {
  const status = statusOf(code);
  const body = errorBody(code, details);
  endConnection(
    socket,
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    lingerMs,
  );
}

const CLIENT_ERRORS: Readonly<Record<string, readonly [code: ErrorCode, details: string]>> = {
  HPE_HEADER_OVERFLOW: ["headers_too_large", `at most ${MAX_HEADER_BYTES} bytes of headers`],
  ERR_HTTP_REQUEST_TIMEOUT: [
    "request_timeout",
    `headers within ${HEADERS_TIMEOUT_MS} ms, the whole request within ${REQUEST_TIMEOUT_MS} ms`,
  ],
};
