/**
 * Standalone HTTP server: fastify with the limits of protocol.md section 1, and answers to requests that cannot be
 * parsed.
 */

import { type RequestListener, type ServerOptions, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type ConnectionError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { type ErrorCode, statusOf } from "svc-client/internal/wire/error-codes";
import { ENV_TLS_CERT_PATH, ENV_TLS_KEY_PATH } from "../../config/environment.js";
import { errorBody } from "../errors/request-error.js";
import type { MemoryBudget } from "../load/memory-budget.js";
import { NO_STORE } from "./answers.js";
import { allowPages, type Pages } from "./cors.js";
import { rewriteUrlFor, routedPath } from "./exact-path.js";
import {
  type ConnectionLimits,
  capConnections,
  DEADLINES,
  HEADERS_TIMEOUT_MS,
  MAX_HEADER_BYTES,
  MAX_HEADERS,
  REQUEST_TIMEOUT_MS,
} from "./limits.js";
import { endConnection, isClosing } from "./lingering-close.js";
import { REQUEST_ID_HEADER, requestIdOf } from "./request-id.js";
import { RequestQueue } from "./request-queue.js";
import type { InFlightRequests } from "./shutdown.js";
import { isTlsServer, prepareTlsServer, type TlsSetup, tlsOptions } from "./tls.js";
import { ToolRoutes, type ToolRoutesOptions } from "./tool-routes.js";

export interface ServeOptions extends ToolRoutesOptions {
  /** Certificate and key; undefined for plain HTTP. */
  readonly tls?: TlsSetup | undefined;
  readonly memory: Pick<MemoryBudget, "maxConnections">;
  /** Maximum number of pipelined requests; set by tests. */
  readonly maxPipelined?: number;
  /** Origins of web pages that may read answers. */
  readonly pages?: Pages;
  /** Adds the application's own routes and hooks. */
  readonly configure?: ((app: FastifyInstance) => unknown) | undefined;
}

export interface App {
  readonly app: FastifyInstance;
  readonly requests: InFlightRequests<FastifyReply>;
  /** Closes the listener and idle connections. Resolves when all are closed; logs errors instead of rejecting. */
  close(): Promise<void>;
}

/**
 * Answers on a connection whose request has no request object, after the answers to earlier requests. `logged` replaces
 * the details in the log.
 */
type Refuse = (socket: Socket, lingerMs: number, code: ErrorCode, details?: string, logged?: string) => void;

/** Builds the application without listening. */
export async function buildApp(options: ServeOptions): Promise<App> {
  const {
    tools,
    service,
    log,
    shutdown,
    onRefused,
    tls,
    configure,
    pages,
    memory,
    maxPipelined,
    deadlines = DEADLINES,
  } = options;
  const routes = new ToolRoutes(options, routedPath);
  const { requests } = routes;
  const queue = new RequestQueue(() => service.load.refusals.count("requests"), maxPipelined);
  const report = (peer: string | undefined, code: ErrorCode, details: string | undefined): string => {
    const id = requestIdOf(undefined);
    onRefused?.({ id, code, details, headers: {}, peer, isCall: false });
    return id;
  };
  const refuse: Refuse = (socket, lingerMs, code, details, logged = details) => {
    const id = report(socket.remoteAddress, code, logged);
    const text = refusalText(id, code, details, service.memoryHeader);
    queue.afterAnswers(socket, () => endConnection(socket, text, lingerMs));
  };
  const app: FastifyInstance = fastify({
    logger: false,
    ...(tls === undefined
      ? { http: serverLimits(deadlines) }
      : { https: { ...serverLimits(deadlines), ...tlsOptions(tls, deadlines.handshakeMs) } }),
    requestTimeout: deadlines.requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    return503OnClosing: false,
    // No limit, because pluginTimeout also applies to `app.close()`, which would reject if calls take longer.
    pluginTimeout: 0,
    // Without `configure`, no route has a schema, but fastify's compilers would load ajv at start-up.
    ...(configure === undefined && {
      schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    }),
    ...rewriteUrlFor(tools.map(({ prefix }) => prefix)),
    genReqId: ({ headers }) => requestIdOf(headers[REQUEST_ID_HEADER.toLowerCase()]),
    clientErrorHandler: (error, socket) => refuseClient(error, socket, deadlines.lingerMs, refuse),
    // A path that fastify cannot decode is an unknown path.
    frameworkErrors: (_error, request, reply) => routes.refuse(request as FastifyRequest, reply as FastifyReply),
  });
  completeServer(app, queue, deadlines, refuse);
  // A client that sends HTTP without TLS cannot read an answer, so its request is only reported.
  if (isTlsServer(app.server)) prepareTlsServer(app.server, (peer) => report(peer, "bad_request", PLAIN_ON_TLS));
  capConnections(app.server, memory.maxConnections, service.load.refusals);
  const close = () =>
    app.close().catch((error: unknown) => log.error({ err: error }, "closing the application failed"));
  try {
    await app.register(routes.unrouted);
    if (configure !== undefined) {
      app.addHook("onRequest", (request, reply, done) => {
        if (shutdown.closed) return routes.refuse(request, reply);
        if (!request.is404 && !routes.owns(request)) follow(reply, requests);
        done();
      });
      await configure(app);
    }
    await app.register(async (part) => {
      if (pages !== undefined) await allowPages(part, pages, routes);
      await part.register(routes.plugin);
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { app, requests, close };
}

/** Counts a request to the author's own routes until its answer has ended, so that a shutdown waits for it. */
function follow(reply: FastifyReply, requests: InFlightRequests<FastifyReply>): void {
  requests.begin(reply);
  reply.raw.once("close", () => requests.end(reply));
}

/** Replaces fastify's schema compilers, which would load ajv at start-up. */
function noSchemas(): never {
  throw new Error("no route has a schema to compile");
}

/** Time, in milliseconds, for a client to read the answer to its CONNECT request. */
const TUNNEL_LINGER_MS = 1_000;

/** Maximum time between two requests of a connection, in milliseconds. */
const KEEP_ALIVE_MS = 65_000;

/** Limits of protocol.md section 1, as options of Node's server. */
function serverLimits({ headersMs, checkMs }: ConnectionLimits): ServerOptions {
  return {
    headersTimeout: headersMs,
    connectionsCheckingInterval: checkMs,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The routes check the host instead, because Node's own response has another format.
    requireHostHeader: false,
    noDelay: true,
  };
}

/** Sets limits of Node's server that are not options. */
function completeServer(
  { server, routing }: FastifyInstance,
  queue: RequestQueue,
  deadlines: ConnectionLimits,
  refuse: Refuse,
): void {
  const queued: RequestListener = (request, response) =>
    queue.enter(request, response, () => routing(request, response));
  server.removeAllListeners("request");
  server.on("request", queued);
  // One more than allowed, so that an excess is detected: Node silently drops headers above its own limit.
  server.maxHeadersCount = MAX_HEADERS + 1;
  // Without these listeners, Node answers `Expect` before the other headers are checked.
  server.on("checkContinue", queued);
  server.on("checkExpectation", queued);
  // Without this listener, Node closes the connection of a CONNECT request without an answer.
  server.on("connect", (_request, socket) => {
    socket.on("error", () => socket.destroy());
    // Node no longer tracks this connection, so closing the server would wait for it.
    const lingerMs = Math.min(deadlines.lingerMs, TUNNEL_LINGER_MS);
    refuse(socket as Socket, lingerMs, "bad_request");
  });
}

/** Connections whose final error answer was written or waits for earlier answers. */
const refused = new WeakSet<Duplex>();

/** Answers parser errors and timeouts, for which no request object exists. */
function refuseClient(error: ConnectionError, socket: Socket, lingerMs: number, refuse: Refuse): void {
  if (isClosing(socket)) return;
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  if (refused.has(socket)) return;
  refused.add(socket);
  const [code, details] = CLIENT_ERRORS[error.code ?? ""] ?? ["bad_request"];
  // The cast is needed because fastify declares the buffer's JSON form. A TLS handshake begins with 0x16.
  const isTls = (error.rawPacket as unknown as Buffer | undefined)?.[0] === 0x16;
  refuse(socket, lingerMs, code, details, isTls ? TLS_ON_PLAIN : details);
}

const PLAIN_ON_TLS = "plain HTTP on a port with TLS: clients need https://, and nginx needs proxy_pass https://";
const TLS_ON_PLAIN = `a TLS handshake on a port without TLS: clients need http://, or set ${ENV_TLS_CERT_PATH} and ${ENV_TLS_KEY_PATH} here`;

/** Raw HTTP text of an error answer. */
function refusalText(id: string, code: ErrorCode, details: string | undefined, memory: readonly string[] = []): string {
  const status = statusOf(code);
  const body = errorBody(code, details);
  const headers = [
    "Content-Type: application/json",
    `${REQUEST_ID_HEADER}: ${id}`,
    `Content-Length: ${body.length}`,
    "Connection: close",
    NO_STORE.join(": "),
  ];
  if (memory.length > 0) headers.push(memory.join(": "));
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join("\r\n")}\r\n\r\n${body}`;
}

const CLIENT_ERRORS: Readonly<Record<string, readonly [code: ErrorCode, details: string]>> = {
  HPE_HEADER_OVERFLOW: ["headers_too_large", `at most ${MAX_HEADER_BYTES} bytes of headers`],
  ERR_HTTP_REQUEST_TIMEOUT: [
    "request_timeout",
    `headers within ${HEADERS_TIMEOUT_MS} ms, the whole request within ${REQUEST_TIMEOUT_MS} ms`,
  ],
};
