/** Our own HTTP server: fastify with the limits of protocol.md section 1, and answers to what never becomes a request. */

import { createServer, type RequestListener, type Server, type ServerOptions, STATUS_CODES } from "node:http";
import { createServer as createHttpsServer, type Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { type ErrorCode, errorBody, statusOf } from "../errors/request-error.js";
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

/** What is served, and how. */
export interface ServeOptions extends ToolRoutesOptions {
  /** Undefined to serve plain HTTP. */
  readonly tls?: TlsSetup | undefined;
  /** At a time; {@link MAX_CONNECTIONS} by default. */
  readonly maxConnections?: number | undefined;
  /** Adds routes and hooks of the author's own. */
  readonly configure?: ((app: FastifyInstance) => unknown) | undefined;
}

/** The application, and the requests that wait there for their answer. */
export interface App {
  readonly app: FastifyInstance;
  readonly requests: InFlightRequests<FastifyReply>;
}

/** Refuses what came on a connection once the requests before it have their answers. */
type AfterAnswers = (socket: Duplex, refuse: () => void) => void;

/** Builds the application; nothing listens yet. */
export async function buildApp(options: ServeOptions): Promise<App> {
  const { service, shutdown, onRefused, configure, maxConnections = MAX_CONNECTIONS, deadlines = DEADLINES } = options;
  const routes = new ToolRoutes(options, { prefix: "", isOwn: true, hasHooks: configure !== undefined });
  const { requests } = routes;
  const afterAnswers: AfterAnswers = (socket, refuse) => {
    const due = requests.find(({ request: { raw } }) => raw.socket === socket && raw.complete);
    if (due !== undefined) due.raw.once("close", () => afterAnswers(socket, refuse));
    else if (socket.writable) refuse();
  };
  const app = fastify({
    logger: false,
    // Checked by hand, because the answers are ours.
    http: { requireHostHeader: false },
    return503OnClosing: false,
    // It also bounds the end: `app.close()` rejects when calls take longer.
    pluginTimeout: 0,
    // Made when a route of the author's needs them: fastify loads ajv for them at start-up.
    ...(configure === undefined && {
      schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    }),
    serverFactory: (handler) => httpServer(handler, options.tls, deadlines, afterAnswers),
    clientErrorHandler: (error: NodeJS.ErrnoException, socket) => {
      const code = refuseClient(error, socket, deadlines, afterAnswers);
      if (code !== undefined) onRefused?.(code);
    },
    // A path that fastify cannot decode is a path like any other.
    frameworkErrors: (_error, request, reply) => routes.answer(request as FastifyRequest, reply as FastifyReply),
  });
  capConnections(app.server, maxConnections, service.load.refusals);
  await configure?.(app);
  // A context of its own: it inherits the hooks of the author, not the one that follows.
  await app.register(async (part) => routes.register(part));
  // Paths that the router does not know, and everything once the server has closed.
  app.addHook("onRequest", (request, reply, done) => {
    if (request.is404 || shutdown.closed) routes.answer(request, reply);
    else done();
  });
  return { app, requests };
}

/** In the place of fastify's compilers of schemas, which it loads with ajv at start-up: no route here has a schema. */
function noSchemas(): never {
  throw new Error("no route has a schema");
}

/** Milliseconds that a caller who asked for a tunnel has to read that there is none. */
const TUNNEL_LINGER_MS = 1_000;

/** node's server with the limits of protocol.md section 1. */
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
  const server = tls === undefined ? createServer(limits, handler) : httpsServer(limits, tls, handler);
  // One more than allowed, so that too many are seen; node drops the rest silently.
  server.maxHeadersCount = MAX_HEADERS + 1;
  // Without listeners node would answer expectations before anybody looked at the other headers.
  server.on("checkContinue", handler);
  server.on("checkExpectation", handler);
  // And would hang up on a tunnel without a word.
  server.on("connect", (_request, socket) => {
    socket.on("error", () => socket.destroy());
    // node does not count it among its connections any more, and a server that stops would wait for it.
    const lingerMs = Math.min(deadlines.lingerMs, TUNNEL_LINGER_MS);
    afterAnswers(socket, () => refuseConnection(socket, { lingerMs }, "bad_request"));
  });
  return server;
}

function httpsServer(limits: ServerOptions, tls: TlsSetup, handler: RequestListener): HttpsServer {
  const server = createHttpsServer({ ...limits, ...tlsOptions(tls) }, handler);
  prepareTlsServer(server);
  return server;
}

/** Connections whose refusal is written or waits for the answers before it. */
const refused = new WeakSet<Duplex>();

/**
 * Answers what never became a request: faults of the parser, timeouts.
 *
 * @returns the code of the answer, if there is one
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
