/**
 * The HTTP side, the only file that sees fastify: routes, limits, error bodies (protocol.md sections 1, 7 and 9).
 *
 * Requests reach {@link InvokeService} with their body unread, so that a stranger is refused before a byte of it is
 * kept. Paths are compared byte for byte before fastify's router, which would decode them.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify, type HTTPMethods } from "fastify";
import { type ErrorCode, errorBody, RequestError, statusOf, toRequestError } from "./errors.js";
import { errorReplyOf, type InvokeRequest, type InvokeService, type Reply } from "./handle.js";
import { withDeadline } from "./invoke.js";
import type { ServerLogger } from "./log.js";
import { documentOf, originOf } from "./meta.js";
import type { ServedTool } from "./served-tool.js";

/** Milliseconds in which a request's headers have to be there. */
export const HEADERS_TIMEOUT_MS = 10_000;
/** Milliseconds in which a whole request has to be there. */
export const REQUEST_TIMEOUT_MS = 30_000;
export const MAX_HEADERS = 64;
/** Bytes of all headers of a request together. */
export const MAX_HEADER_BYTES = 16_384;

/** What is served, and for whom. */
export interface ServeOptions {
  readonly tools: readonly ServedTool[];
  readonly service: InvokeService;
  readonly log: ServerLogger;
}

interface Route {
  readonly method: "GET" | "POST";
  readonly allow: string;
  answer(request: FastifyRequest): Promise<Reply>;
}

/** Builds the application; nothing listens yet. */
export function buildApp({ tools, service, log }: ServeOptions): FastifyInstance {
  const routes = routesOf(tools, service, log);
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    // Checked by hand, because the answers are ours.
    http: { requireHostHeader: false },
    serverFactory: (handler) => httpServer(handler),
    clientErrorHandler,
    frameworkErrors: (error, _request, reply) => {
      void send(reply as FastifyReply, errorReply(error.statusCode === 414 ? "headers_too_large" : "not_found"));
    },
  });
  app.removeAllContentTypeParsers();
  // The body is left where it is: the service reads it once it knows the caller.
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.addHook("onRequest", async (request, reply) => {
    const refused = refusedAtOnce(request.raw, routes);
    if (refused !== undefined) return send(reply, refused);
    // Ignored, whatever it says; fastify would refuse one that it cannot read.
    delete request.headers["content-type"];
  });
  for (const [url, route] of routes) {
    const method: HTTPMethods[] = route.allow.includes("HEAD") ? ["GET", "HEAD"] : [route.method];
    app.route({ method, url, handler: async (request, reply) => send(reply, await route.answer(request)) });
  }
  app.setNotFoundHandler((_request, reply) => send(reply, errorReply("not_found")));
  app.setErrorHandler((error, _request, reply) => {
    log.error({ err: error }, "answering a request failed");
    return send(reply, errorReply("internal_error"));
  });
  return app;
}

/** node's server with the limits of protocol.md section 1. */
function httpServer(handler: (request: IncomingMessage, response: ServerResponse) => void): Server {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: 65_000,
      requireHostHeader: false,
      noDelay: true,
    },
    handler,
  );
  // One more than allowed, so that too many are seen; node drops the rest silently.
  server.maxHeadersCount = MAX_HEADERS + 1;
  // Without listeners node would answer `100 Continue` before anybody looked at the headers.
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    awaitsContinue.set(request, response);
    handler(request, response);
  });
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    unknownExpectations.add(request);
    handler(request, response);
  });
  return server;
}

const awaitsContinue = new WeakMap<IncomingMessage, ServerResponse>();
const unknownExpectations = new WeakSet<IncomingMessage>();

/** What is wrong with a request before anybody looks at what it wants. */
function refusedAtOnce(request: IncomingMessage, routes: ReadonlyMap<string, Route>): Reply | undefined {
  const { rawHeaders, url = "" } = request;
  if (rawHeaders.length > 2 * MAX_HEADERS) return errorReply("headers_too_large", `at most ${MAX_HEADERS} headers`);
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  const query = url.indexOf("?");
  const path = query === -1 ? url : url.slice(0, query);
  const route = routes.get(path);
  // The metadata's own answer to a missing host says what it is needed for.
  if (hosts > 1 || (hosts === 0 && !path.endsWith("/meta"))) return errorReply("bad_request", "Host: required once");
  if (route === undefined) return errorReply("not_found");
  if (!route.allow.split(", ").includes(request.method ?? "")) {
    const reply = errorReply("method_not_allowed");
    return { ...reply, headers: { ...reply.headers, allow: route.allow } };
  }
  // Of a call, the service looks at the expectation only after it knows the caller.
  if (unknownExpectations.has(request) && route.method === "GET") return errorReply("expectation_failed");
  return undefined;
}

function routesOf(tools: readonly ServedTool[], service: InvokeService, log: ServerLogger): Map<string, Route> {
  const routes = new Map<string, Route>();
  for (const tool of tools) {
    const { prefix } = tool;
    routes.set(`${prefix}/invoke`, {
      method: "POST",
      allow: "POST",
      answer: (request) => service.handle(tool, invokeRequest(request)),
    });
    routes.set(`${prefix}/meta`, { method: "GET", allow: "GET", answer: async (request) => meta(tool, request, log) });
    routes.set(`${prefix}/health`, { method: "GET", allow: "GET, HEAD", answer: () => health(tool, log) });
  }
  const paths = Buffer.from(JSON.stringify(tools.map(({ contract }) => contract.path)));
  routes.set("/tools", {
    method: "GET",
    allow: "GET",
    answer: async () => ({ status: 200, headers: { "content-type": "application/json" }, body: paths }),
  });
  if (!routes.has("/health")) {
    routes.set("/health", { method: "GET", allow: "GET, HEAD", answer: async () => empty(200) });
  }
  return routes;
}

const empty = (status: number): Reply => ({ status, headers: {}, body: Buffer.alloc(0) });

async function health(tool: ServedTool, log: ServerLogger): Promise<Reply> {
  const check = async () => {
    try {
      const instance = await tool.construct();
      const status: unknown = await instance.health();
      if (Number.isInteger(status) && (status as number) >= 200 && (status as number) <= 599) return status as number;
      log.error({ tool: tool.fqn }, "health() must give a status from 200 to 599");
    } catch (error) {
      log.error({ tool: tool.fqn, err: error }, "the tool's health check failed");
    }
    return 500;
  };
  return empty(await withDeadline(check(), tool.timeoutMs, () => 503));
}

function meta(tool: ServedTool, request: FastifyRequest, log: ServerLogger): Reply {
  try {
    const secure = "encrypted" in request.raw.socket;
    const origin = originOf({ headers: request.raw.headers, rawHeaders: request.raw.rawHeaders }, secure);
    const document = documentOf(tool.tool, tool.contract, `${origin}${tool.prefix}/`);
    return { status: 200, headers: { "content-type": "application/json" }, body: Buffer.from(document) };
  } catch (thrown) {
    const error = toRequestError(thrown);
    if (error.code === "internal_error") log.error({ tool: tool.fqn, err: error.cause }, "the tool's meta() failed");
    return errorReply(error.code, error.details);
  }
}

function invokeRequest({ raw }: FastifyRequest): InvokeRequest {
  return {
    headers: raw.headers,
    rawHeaders: raw.rawHeaders,
    readBody: (length) => readBody(raw, length),
    onDisconnect: (listener) => {
      raw.socket.once("close", listener);
    },
  };
}

/** Reads a body of the announced length into one buffer; node's parser ends the stream at exactly that length. */
function readBody(request: IncomingMessage, length: number): Promise<Uint8Array> {
  if (unknownExpectations.has(request)) throw new RequestError("expectation_failed", "Expect: only 100-continue");
  awaitsContinue.get(request)?.writeContinue();
  return new Promise((resolve, reject) => {
    let body: Buffer | undefined;
    let filled = 0;
    request.on("data", (chunk: Buffer) => {
      if (chunk.length === length) body = chunk;
      else {
        body ??= Buffer.allocUnsafeSlow(length);
        body.set(chunk, filled);
      }
      filled += chunk.length;
    });
    request.once("end", () => resolve(body ?? Buffer.alloc(0)));
    request.once("close", () => {
      if (filled < length) reject(new RequestError("bad_request", "the connection ended before the body did"));
    });
  });
}

function errorReply(code: ErrorCode, details?: string): Reply {
  return errorReplyOf(statusOf(code), errorBody(code, details));
}

function send(reply: FastifyReply, { status, headers, body }: Reply): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}

/** Answers what never became a request: faults of the parser, timeouts. */
function clientErrorHandler(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = CLIENT_ERRORS[error.code ?? ""] ?? "bad_request";
  const status = statusOf(code);
  const body = errorBody(code);
  socket.end(
    `HTTP/1.1 ${status} ${REASONS[status]}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const CLIENT_ERRORS: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "payload_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  413: "Payload Too Large",
  431: "Request Header Fields Too Large",
};
