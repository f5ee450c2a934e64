/**
 * The HTTP side, the only file that sees fastify: routes, limits, error bodies (protocol.md sections 1, 7 and 9).
 *
 * Requests reach {@link InvokeService} with their body unread, so that a stranger is refused before a byte of it is
 * kept. Paths are compared byte for byte with a table of our own: fastify's router would decode them.
 */

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { createServer as createHttpsServer, type Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";

import { asBuffer } from "../../wire/bytes.js";
import { errorReplyOf, type InvokeService, JSON_HEADERS } from "../call/invoke-service.js";
import type { InvokeRequest, Reply } from "../call/messages.js";
import { documentOf, originOf } from "../call/meta.js";
import { withDeadline } from "../call/run.js";
import type { ServedTool } from "../call/served-tool.js";
import { type ErrorCode, errorBody, RequestError, statusOf, toRequestError } from "../errors/request-error.js";
import type { ServerLogger } from "../log/safe-logger.js";
import {
  capConnections,
  DEADLINES,
  type Deadlines,
  HEADERS_TIMEOUT_MS,
  MAX_CONNECTIONS,
  MAX_HEADER_BYTES,
  MAX_HEADERS,
  MIN_BODY_BYTES_PER_SECOND,
  REQUEST_TIMEOUT_MS,
} from "./limits.js";
import { cutUnlessTaken, endConnection, endOnceRead, hadLastWord, isKept, unreadBytes } from "./lingering-close.js";
import { BodyReader } from "./request-body.js";
import { OpenRequests, type Shutdown } from "./shutdown.js";
import { prepareTlsServer, type TlsSetup, tlsOptions } from "./tls.js";

/** What is served, and for whom. */
export interface ServeOptions {
  readonly tools: readonly ServedTool[];
  readonly service: InvokeService;
  readonly log: ServerLogger;
  readonly shutdown: Pick<Shutdown, "stopping" | "closed">;
  /** Told the code of each refusal that no tool has to do with. */
  onRefused?(code: string): void;
  /** Undefined to serve plain HTTP. */
  readonly tls?: TlsSetup | undefined;
  /** At a time; {@link MAX_CONNECTIONS} by default. */
  readonly maxConnections?: number | undefined;
  /** Of a body; {@link MIN_BODY_BYTES_PER_SECOND} by default. */
  readonly minBodyBytesPerSecond?: number | undefined;
  /** Other times than {@link DEADLINES}, for tests that cannot wait. */
  readonly deadlines?: Deadlines;
}

interface Route {
  /** The methods it answers, as `Allow` lists them. */
  readonly allow: "GET" | "GET, HEAD" | "POST";
  /** Whether it has an answer of its own to a request without a host. */
  readonly needsHost?: true;
  answer(request: IncomingMessage, response: ServerResponse): Promise<Reply>;
}

const METHODS: Readonly<Record<Route["allow"], readonly string[]>> = {
  GET: ["GET"],
  "GET, HEAD": ["GET", "HEAD"],
  POST: ["POST"],
};

/** What listens, and the requests that wait there for their answer. */
export interface App {
  readonly app: FastifyInstance;
  readonly requests: OpenRequests<FastifyReply>;
}

/** Refuses what came on a connection once the requests before it have their answers. */
type AfterAnswers = (socket: Duplex, refuse: () => void) => void;

/** Builds the application; nothing listens yet. */
export function buildApp(options: ServeOptions): App {
  const { service, log, shutdown, onRefused, maxConnections = MAX_CONNECTIONS, deadlines = DEADLINES } = options;
  const bodies = new BodyReader(options.minBodyBytesPerSecond ?? MIN_BODY_BYTES_PER_SECOND, deadlines);
  const routes = routesOf(options, bodies);
  const requests = new OpenRequests<FastifyReply>(
    (reply) => send(reply, errorReply("shutting_down"), true, deadlines),
    ({ request }) => request.raw.complete,
  );
  const answered = async ({ raw }: FastifyRequest, reply: FastifyReply) => {
    const route = shutdown.closed ? errorReply("shutting_down") : routeOrRefusal(raw, routes);
    if (!("answer" in route)) {
      onRefused?.(route.code ?? "");
      return send(reply, route, shutdown.stopping, deadlines);
    }
    requests.begin(reply);
    let answer: Reply;
    try {
      answer = await route.answer(raw, reply.raw);
    } catch (error) {
      log.error({ err: error }, "answering a request failed");
      answer = errorReply("internal_error");
    }
    if (requests.end(reply, answer.code === "shutting_down")) {
      send(reply, answer, shutdown.stopping || answer.code === "request_timeout", deadlines);
    }
  };
  const answer = (request: FastifyRequest, reply: FastifyReply) =>
    answered(request, reply).catch((error: unknown) => {
      if (reply.raw.headersSent) reply.raw.destroy();
      else send(reply, errorReply("internal_error"), true, deadlines);
      log.error({ err: error }, "sending an answer failed");
    });
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
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    serverFactory: (handler) => httpServer(handler, options.tls, deadlines, afterAnswers),
    clientErrorHandler: (error: NodeJS.ErrnoException, socket) => {
      const code = refuseClient(error, socket, deadlines, afterAnswers);
      if (code !== undefined) onRefused?.(code);
    },
    // A path that fastify cannot decode is a path like any other.
    frameworkErrors: (_error, request, reply) => void answer(request as FastifyRequest, reply as FastifyReply),
  });
  // Answered before fastify looks at content type and body: the service reads the body once it knows the caller. The hook
  // never says that it is done, since nothing of fastify is to follow.
  app.addHook("onRequest", (request, reply, _done) => void answer(request, reply));
  capConnections(app.server, maxConnections, service.load.refusals);
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

/** Where a request goes; or what is wrong with it before anybody looks at what it wants. */
function routeOrRefusal(request: IncomingMessage, routes: ReadonlyMap<string, Route>): Route | Reply {
  const { rawHeaders } = request;
  if (rawHeaders.length > 2 * MAX_HEADERS) return errorReply("headers_too_large", `at most ${MAX_HEADERS} headers`);
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  const route = routeOf(request, routes);
  // The parser takes 0.9 and 2.0 for versions that it can read.
  if (request.httpVersionMajor !== 1) return errorReply("bad_request");
  // The metadata's own answer to a missing host says what it is needed for.
  if (hosts > 1 || (hosts === 0 && route?.needsHost !== true)) return errorReply("bad_request");
  if (route === undefined) return errorReply("not_found");
  if (!METHODS[route.allow].includes(request.method ?? "")) {
    const reply = errorReply("method_not_allowed");
    return { ...reply, headers: [...reply.headers, "allow", route.allow] };
  }
  // The expectation of a call is looked at once its caller is known.
  if (route.allow !== "POST" && expectationOf(request) === "unknown") return expectationFailed();
  return route;
}

/** The route of a path, byte for byte, its query cut. */
function routeOf({ url = "" }: IncomingMessage, routes: ReadonlyMap<string, Route>): Route | undefined {
  const query = url.indexOf("?");
  return routes.get(query === -1 ? url : url.slice(0, query));
}

/** Whether a caller waits for `100 Continue`, or for something that nobody here knows (RFC 9110 section 10.1.1). */
function expectationOf({ headers, httpVersion }: IncomingMessage): "continue" | "unknown" | undefined {
  if (headers.expect === undefined || httpVersion === "1.0") return undefined;
  return headers.expect.toLowerCase() === "100-continue" ? "continue" : "unknown";
}

const expectationFailed = () => errorReply("expectation_failed", EXPECTATION_FAULT);
const EXPECTATION_FAULT = "Expect: only 100-continue";

function routesOf({ tools, service, log }: ServeOptions, bodies: BodyReader): Map<string, Route> {
  const routes = new Map<string, Route>();
  for (const tool of tools) {
    const { prefix } = tool;
    routes.set(`${prefix}/invoke`, {
      allow: "POST",
      answer: (request, response) => service.handle(tool, invokeRequest(request, response, bodies)),
    });
    routes.set(`${prefix}/meta`, {
      allow: "GET",
      needsHost: true,
      answer: async (request) => meta(tool, request, log),
    });
    routes.set(`${prefix}/health`, { allow: "GET, HEAD", answer: healthCheck(tool, log) });
  }
  const paths = Buffer.from(JSON.stringify(tools.map(({ contract }) => contract.path)));
  routes.set("/tools", {
    allow: "GET",
    answer: async () => ({ status: 200, headers: JSON_HEADERS, body: paths }),
  });
  if (!routes.has("/health")) routes.set("/health", { allow: "GET, HEAD", answer: async () => empty(200) });
  return routes;
}

const empty = (status: number): Reply => ({ status, headers: [], body: Buffer.alloc(0) });

/** The health of a tool. At most one check at a time: requests that come while one runs share its status. */
function healthCheck(tool: ServedTool, log: ServerLogger): () => Promise<Reply> {
  let running: Promise<number> | undefined;
  const check = async () => {
    try {
      return await withDeadline(
        () => tool.host.health(log.child({ tool: tool.fqn })),
        tool.timeoutMs,
        () => 503,
      );
    } finally {
      running = undefined;
    }
  };
  return async () => {
    running ??= check();
    return empty(await running);
  };
}

function meta(tool: ServedTool, request: IncomingMessage, log: ServerLogger): Reply {
  try {
    const origin = originOf(request, "encrypted" in request.socket);
    const document = documentOf(tool.tool, tool.contract, `${origin}${tool.prefix}/`);
    return { status: 200, headers: JSON_HEADERS, body: Buffer.from(document) };
  } catch (thrown) {
    const error = toRequestError(thrown);
    if (error.code === "internal_error") log.error({ tool: tool.fqn, err: error.cause }, "the tool's meta() failed");
    return errorReply(error.code, error.details);
  }
}

function invokeRequest(request: IncomingMessage, response: ServerResponse, bodies: BodyReader): InvokeRequest {
  return {
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    connection: request.socket,
    readBody: (length, account) => {
      const expectation = expectationOf(request);
      if (expectation === "unknown") throw new RequestError("expectation_failed", EXPECTATION_FAULT);
      // While its caller was being verified.
      if (request.destroyed) throw new RequestError("bad_request");
      if (expectation === "continue") response.writeContinue();
      // A caller that was told that it took too long, or that the server stops, does not run a tool.
      const isAnswered = () => request.socket.writableEnded || response.headersSent;
      return bodies.read(request, length, account, isAnswered);
    },
    onDisconnect: (listener) => {
      response.on("close", () => {
        if (!response.writableFinished) listener();
      });
    },
  };
}

function errorReply(code: ErrorCode, details?: string): Reply {
  return errorReplyOf(statusOf(code), errorBody(code, details), code);
}

/** Bytes of a body up to which it goes out in one write with the headers, as text: a second buffer is another system call. */
const ONE_WRITE = 16_384;

/** @param last whether the connection ends with this answer */
function send(reply: FastifyReply, { status, headers, body, sent }: Reply, last: boolean, deadlines: Deadlines): void {
  // Past fastify's own way of answering, which adds to every call and has nothing to add to a finished answer.
  reply.hijack();
  const response = reply.raw;
  const list = [...headers];
  // Node leaves it out towards HTTP/1.0; two statuses never have one (RFC 9110 section 8.6).
  if (status !== 204 && status !== 304) list.push("content-length", String(body.length));
  const unread = unreadBytes(reply.request.raw);
  if (last || !isKept(unread)) list.push("connection", "close");
  response.writeHead(status, list);
  if (sent !== undefined) response.once("finish", sent);
  const bytes = body.length <= ONE_WRITE ? asBuffer(body).toString("latin1") : body;
  if (unread === 0) response.end(bytes, "latin1");
  else {
    // Written whole at once; an answer without a body is its headers.
    if (body.length === 0 || reply.request.method === "HEAD") response.flushHeaders();
    else response.write(bytes, "latin1");
    endOnceRead(reply.request.raw, response, deadlines.lingerMs);
  }
  cutUnlessTaken(response, deadlines.answerMs);
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
  if (hadLastWord(socket)) return undefined;
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
