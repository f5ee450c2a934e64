/**
 * Routes of tools in a fastify application (protocol.md sections 7 and 9).
 *
 * Requests reach {@link InvokeService} with their body unread, so that an unauthenticated caller is refused before a
 * byte of it is stored. Paths are compared byte for byte here, because fastify's router decodes them.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";

import { asBuffer } from "../../wire/bytes.js";
import { errorReplyOf, type InvokeService, JSON_HEADERS } from "../call/invoke-service.js";
import type { InvokeRequest, Reply } from "../call/messages.js";
import { documentOf, originOf } from "../call/meta.js";
import { withDeadline } from "../call/run.js";
import type { ServedTool } from "../call/served-tool.js";
import { type ErrorCode, errorBody, RequestError, statusOf, toRequestError } from "../errors/request-error.js";
import { StartupError } from "../errors/startup-error.js";
import type { ServerLogger } from "../log/safe-logger.js";
import { DEADLINES, type Deadlines, MAX_HEADERS, MIN_BODY_BYTES_PER_SECOND } from "./limits.js";
import { destroyUnlessFlushed, drainThenEnd, isKept, unreadBytes } from "./lingering-close.js";
import { BodyReader } from "./request-body.js";
import { InFlightRequests, type Shutdown } from "./shutdown.js";

/** The served tools and the services that their routes use. */
export interface ToolRoutesOptions {
  readonly tools: readonly ServedTool[];
  readonly service: InvokeService;
  readonly log: ServerLogger;
  readonly shutdown: Pick<Shutdown, "stopping" | "closed">;
  /** Called with the error code of each request that is refused before it reaches a route. */
  onRefused?(code: string): void;
  /** Minimum rate of a request body; {@link MIN_BODY_BYTES_PER_SECOND} by default. */
  readonly minBodyBytesPerSecond?: number | undefined;
  /** Replaces {@link DEADLINES} in tests that need short times. */
  readonly deadlines?: Deadlines;
}

/** The application that contains the routes. */
export interface RouteHost {
  /** Prefix of every path: `""` or `/tools`. */
  readonly prefix: string;
  /** Whether http-server.ts made the server, with its limits and listeners. */
  readonly isOwn: boolean;
  /** Whether the application's own hooks may set response headers. */
  readonly hasHooks: boolean;
}

interface Route {
  /** The allowed methods, in the form of the `Allow` header. */
  readonly allow: "GET" | "GET, HEAD" | "POST";
  /** Whether the route itself responds to a request without a host. */
  readonly needsHost?: true;
  answer(request: IncomingMessage, response: ServerResponse): Promise<Reply>;
}

const METHODS: Readonly<Record<Route["allow"], readonly string[]>> = {
  GET: ["GET"],
  "GET, HEAD": ["GET", "HEAD"],
  POST: ["POST"],
};

/** Registered methods: all that the route accepts or refuses with 405. OPTIONS is left to CORS (cors.ts). */
const ROUTED: HTTPMethods[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
/** Paths that fastify's router matches literally. */
const PLAIN_PATH = /^[\w\-.~/@!$&'+,;=]*$/;

/** The routes of tools and their requests in flight. */
export class ToolRoutes {
  readonly requests: InFlightRequests<FastifyReply>;
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #deadlines: Deadlines;

  constructor(
    private readonly options: ToolRoutesOptions,
    private readonly host: RouteHost,
  ) {
    this.#deadlines = options.deadlines ?? DEADLINES;
    const bodies = new BodyReader(options.minBodyBytesPerSecond ?? MIN_BODY_BYTES_PER_SECOND, this.#deadlines);
    this.#routes = routesOf(options, host, bodies);
    this.requests = new InFlightRequests<FastifyReply>(
      (reply) => {
        reply.hijack();
        this.#send(reply, errorReply("shutting_down"), true);
      },
      ({ request: { raw } }) => raw.complete || raw.readableEnded,
    );
  }

  /**
   * Adds the routes to the fastify context that has the prefix, where an author's routes or hooks have to see them.
   *
   * @throws {@link StartupError} for a path that fastify's router reads as a pattern
   */
  register(app: FastifyInstance): void {
    for (const path of this.#routes.keys()) {
      if (!PLAIN_PATH.test(path)) {
        throw new StartupError(
          `path ${JSON.stringify(path)}: expected letters, digits and -._~/@!$&'+,;= where tools are mounted in an application; change path(), or use bootstrap without configure and allowedOrigins`,
        );
      }
      app.route({
        method: ROUTED,
        url: path.slice(this.host.prefix.length),
        exposeHeadRoute: false,
        // preParsing is the last hook before fastify reads content type and body; plugins add hooks to a route's
        // onRequest. The callback `_done` stays uncalled, which keeps fastify from processing the request further.
        preParsing: (request, reply, _payload, _done) => this.answer(request, reply),
        handler: unreachable,
      });
    }
  }

  /** Responds to a request, or leaves it to the application's handler for unknown paths. Never throws. */
  answer(request: FastifyRequest, reply: FastifyReply): void {
    this.#answer(request, reply).catch((error: unknown) => this.#fail(reply, error));
  }

  /** Whether a request is for one of the routes. */
  owns({ raw }: FastifyRequest): boolean {
    return routeOf(raw, this.#routes) !== undefined;
  }

  async #answer({ raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { shutdown, onRefused, log } = this.options;
    const found = routeOf(raw, this.#routes);
    // The router also matches percent-encoded spellings, which are not routes here.
    if (!this.host.isOwn && found === undefined) return void reply.callNotFound();
    // Bypasses fastify's reply pipeline, which costs time in every call and adds nothing to a complete response. After
    // it, fastify itself sends nothing, not even when the application's `handlerTimeout` expires.
    reply.hijack();
    const route = shutdown.closed ? errorReply("shutting_down") : routeOrRefusal(raw, found);
    if (!("answer" in route)) {
      onRefused?.(route.code ?? "");
      return this.#send(reply, route, shutdown.stopping);
    }
    this.requests.begin(reply);
    let answer: Reply;
    try {
      answer = await route.answer(raw, reply.raw);
    } catch (error) {
      log.error({ err: error }, "answering a request failed");
      answer = errorReply("internal_error");
    }
    if (this.requests.end(reply, answer.code === "shutting_down")) {
      this.#send(reply, answer, shutdown.stopping || answer.code === "request_timeout");
    }
  }

  #send(reply: FastifyReply, answer: Reply, last: boolean): void {
    try {
      send(reply, answer, this.host.hasHooks ? headersOfHooks(reply, answer) : NO_HEADERS, last, this.#deadlines);
    } catch (error) {
      this.#fail(reply, error);
    }
  }

  /** Responds 500 without the headers of hooks, one of which may have an invalid value. */
  #fail(reply: FastifyReply, error: unknown): void {
    this.options.log.error({ err: error }, "sending an answer failed");
    const { raw } = reply;
    try {
      for (const name of raw.headersSent ? [] : raw.getHeaderNames()) raw.removeHeader(name);
      send(reply, errorReply("internal_error"), NO_HEADERS, true, this.#deadlines);
    } catch {
      raw.destroy();
    }
  }
}

const NO_HEADERS: readonly string[] = [];

/** Headers that the application's hooks set and the reply does not. */
function headersOfHooks(reply: FastifyReply, { headers }: Reply): string[] {
  const own = new Set(headers.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()));
  own.delete("vary");
  return Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
    value === undefined || own.has(name) || CONNECTION_HEADERS.has(name)
      ? []
      : [value].flat().flatMap((each) => [name, String(each)]),
  );
}

/** Headers of the connection and the framing, which no hook decides. */
const CONNECTION_HEADERS = new Set(["connection", "content-length", "keep-alive", "transfer-encoding"]);

function unreachable(): never {
  throw new Error("the request was answered before");
}

/** Returns the route that was found for a request, or the refusal of a malformed or unroutable request. */
function routeOrRefusal(request: IncomingMessage, route: Route | undefined): Route | Reply {
  const { rawHeaders } = request;
  if (rawHeaders.length > 2 * MAX_HEADERS) return errorReply("headers_too_large", `at most ${MAX_HEADERS} headers`);
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  // The parser also accepts 0.9 and 2.0.
  if (request.httpVersionMajor !== 1) return errorReply("bad_request");
  // The metadata route's own error for a missing host explains why it needs one.
  if (hosts > 1 || (hosts === 0 && route?.needsHost !== true)) return errorReply("bad_request");
  if (route === undefined) return errorReply("not_found");
  if (!METHODS[route.allow].includes(request.method ?? "")) {
    const reply = errorReply("method_not_allowed");
    return { ...reply, headers: [...reply.headers, "allow", route.allow] };
  }
  // The `Expect` header of a call is checked later, after its caller is verified.
  if (route.allow !== "POST" && expectationOf(request) === "unknown") return expectationFailed();
  return route;
}

/** Finds a route by exact path, without the query. */
function routeOf({ url = "" }: IncomingMessage, routes: ReadonlyMap<string, Route>): Route | undefined {
  const query = url.indexOf("?");
  return routes.get(query === -1 ? url : url.slice(0, query));
}

/** Classifies the `Expect` header: `100-continue` or an unknown expectation (RFC 9110 section 10.1.1). */
function expectationOf({ headers, httpVersion }: IncomingMessage): "continue" | "unknown" | undefined {
  if (headers.expect === undefined || httpVersion === "1.0") return undefined;
  return headers.expect.toLowerCase() === "100-continue" ? "continue" : "unknown";
}

const expectationFailed = () => errorReply("expectation_failed", EXPECTATION_FAULT);
const EXPECTATION_FAULT = "Expect: only 100-continue";

function routesOf({ tools, service, log }: ToolRoutesOptions, host: RouteHost, bodies: BodyReader): Map<string, Route> {
  const routes = new Map<string, Route>();
  for (const tool of tools) {
    const prefix = `${host.prefix}${tool.prefix}`;
    routes.set(`${prefix}/invoke`, {
      allow: "POST",
      answer: (request, response) => service.handle(tool, invokeRequest(request, response, bodies, host.isOwn)),
    });
    routes.set(`${prefix}/meta`, {
      allow: "GET",
      needsHost: true,
      answer: async (request) => meta(tool, `${prefix}/`, request, log),
    });
    routes.set(`${prefix}/health`, { allow: "GET, HEAD", answer: healthCheck(tool, log) });
  }
  const paths = Buffer.from(JSON.stringify(tools.map(({ contract }) => contract.path)));
  routes.set(`${host.prefix}/tools`, {
    allow: "GET",
    answer: async () => ({ status: 200, headers: JSON_HEADERS, body: paths }),
  });
  const health = `${host.prefix}/health`;
  if (!routes.has(health)) routes.set(health, { allow: "GET, HEAD", answer: async () => empty(200) });
  return routes;
}

const empty = (status: number): Reply => ({ status, headers: [], body: Buffer.alloc(0) });

/** Health check of a tool. One check runs at a time; requests that arrive meanwhile share its status. */
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

function meta(tool: ServedTool, path: string, request: IncomingMessage, log: ServerLogger): Reply {
  try {
    const origin = originOf(request, "encrypted" in request.socket);
    const document = documentOf(tool.tool, tool.contract, origin + path);
    return { status: 200, headers: JSON_HEADERS, body: Buffer.from(document) };
  } catch (thrown) {
    const error = toRequestError(thrown);
    if (error.code === "internal_error") log.error({ tool: tool.fqn, err: error.cause }, "the tool's meta() failed");
    return errorReply(error.code, error.details);
  }
}

function invokeRequest(
  request: IncomingMessage,
  response: ServerResponse,
  bodies: BodyReader,
  isOwnServer: boolean,
): InvokeRequest {
  return {
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    connection: request.socket,
    readBody: (length, account) => {
      const expectation = expectationOf(request);
      if (expectation === "unknown") throw new RequestError("expectation_failed", EXPECTATION_FAULT);
      // The connection may have closed while the caller was being verified.
      if (request.destroyed) throw new RequestError("bad_request");
      // On a server without a checkContinue listener, node has already sent `100 Continue`.
      if (expectation === "continue" && isOwnServer) response.writeContinue();
      // A call whose caller already got a timeout or shutdown response must not run a tool.
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

/**
 * Largest body, in bytes, that is written as a string together with the headers; a buffer needs another system call.
 */
const ONE_WRITE = 16_384;

/**
 * Writes a response.
 *
 * @param others headers that the application's plugins set
 * @param last whether the connection closes after this response
 */
function send(
  reply: FastifyReply,
  { status, headers, body, sent }: Reply,
  others: readonly string[],
  last: boolean,
  deadlines: Deadlines,
): void {
  const response = reply.raw;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const list = [...others, ...headers];
  // Node omits content-length for HTTP/1.0; statuses 204 and 304 never have one (RFC 9110 section 8.6).
  if (status !== 204 && status !== 304) list.push("content-length", String(body.length));
  const unread = unreadBytes(reply.request.raw);
  if (last || !isKept(unread)) list.push("connection", "close");
  response.writeHead(status, list);
  if (sent !== undefined) response.once("finish", sent);
  const bytes = body.length <= ONE_WRITE ? asBuffer(body).toString("latin1") : body;
  if (unread === 0) response.end(bytes, "latin1");
  else {
    // Writes the whole response now; without a body that is the headers.
    if (body.length === 0 || reply.request.method === "HEAD") response.flushHeaders();
    else response.write(bytes, "latin1");
    drainThenEnd(reply.request.raw, response, deadlines.lingerMs);
  }
  destroyUnlessFlushed(response, deadlines.answerMs);
}
