/**
 * Tools as routes of a fastify application (protocol.md sections 7 and 9).
 *
 * Requests reach {@link InvokeService} with their body unread, so that a stranger is refused before a byte of it is kept.
 * Paths are compared byte for byte: fastify's router decodes them.
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

/** What is served, and for whom. */
export interface ToolRoutesOptions {
  readonly tools: readonly ServedTool[];
  readonly service: InvokeService;
  readonly log: ServerLogger;
  readonly shutdown: Pick<Shutdown, "stopping" | "closed">;
  /** Called with the code of each refusal that no tool has to do with. */
  onRefused?(code: string): void;
  /** Of a body; {@link MIN_BODY_BYTES_PER_SECOND} by default. */
  readonly minBodyBytesPerSecond?: number | undefined;
  /** Other times than {@link DEADLINES}, for tests that cannot wait. */
  readonly deadlines?: Deadlines;
}

/** The application that has the routes. */
export interface RouteHost {
  /** In front of every path: `""` or `/tools`. */
  readonly prefix: string;
  /** Whether the server has our limits and listeners (http-server.ts). */
  readonly isOwn: boolean;
  /** Whether hooks of others may have set headers on an answer. */
  readonly hasHooks: boolean;
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

/** The methods that a route is registered for, to answer 405 itself. Not OPTIONS, which is for CORS. */
const ROUTED: HTTPMethods[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
/** Paths that mean to fastify's router what they say. */
const PLAIN_PATH = /^[\w\-.~/@!$&'+,;=]*$/;

/** The routes of tools, and the requests that wait for an answer of theirs. */
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
      (reply) => this.#send(reply, errorReply("shutting_down"), true),
      ({ request }) => request.raw.complete,
    );
  }

  /**
   * Adds the routes to the part of an application that has the prefix.
   *
   * @throws {@link StartupError} for a path that fastify's router reads as a pattern, in an application of others
   */
  register(app: FastifyInstance): void {
    for (const path of this.#routes.keys()) {
      if (!PLAIN_PATH.test(path)) {
        // Answered as a path that the router does not know.
        if (this.host.isOwn) continue;
        throw new StartupError(
          `path ${JSON.stringify(path)}: expected letters, digits and -._~/@!$&'+,;= where tools are mounted in an application; change path() or use bootstrap`,
        );
      }
      app.route({
        method: ROUTED,
        url: path.slice(this.host.prefix.length),
        exposeHeadRoute: false,
        // The last hook before fastify looks at content type and body; plugins add their own to a route's onRequest. It never
        // says that it is done, since nothing of fastify is to follow.
        preParsing: (request, reply, _payload, _done) => this.answer(request, reply),
        handler: unreachable,
      });
    }
  }

  /** Answers a request, or leaves it to the application's handler of unknown paths. Never throws. */
  answer(request: FastifyRequest, reply: FastifyReply): void {
    this.#answer(request, reply).catch((error: unknown) => {
      if (reply.raw.headersSent) reply.raw.destroy();
      else this.#send(reply, errorReply("internal_error"), true);
      this.options.log.error({ err: error }, "sending an answer failed");
    });
  }

  async #answer({ raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { shutdown, onRefused, log } = this.options;
    // The router may have decoded a path of another spelling.
    if (!this.host.isOwn && routeOf(raw, this.#routes) === undefined) return void reply.callNotFound();
    const route = shutdown.closed ? errorReply("shutting_down") : routeOrRefusal(raw, this.#routes);
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
    send(reply, answer, this.host.hasHooks ? headersOfHooks(reply, answer) : NO_HEADERS, last, this.#deadlines);
  }
}

const NO_HEADERS: readonly string[] = [];

/** Headers that hooks have set and the answer does not. */
function headersOfHooks(reply: FastifyReply, { headers }: Reply): string[] {
  const own = new Set(headers.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()));
  return Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
    value === undefined || own.has(name) || reply.raw.hasHeader(name)
      ? []
      : [value].flat().flatMap((each) => [name, String(each)]),
  );
}

function unreachable(): never {
  throw new Error("the request was answered before");
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
      // While its caller was being verified.
      if (request.destroyed) throw new RequestError("bad_request");
      // Node has done so where its server has no listener for it.
      if (expectation === "continue" && isOwnServer) response.writeContinue();
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

export function errorReply(code: ErrorCode, details?: string): Reply {
  return errorReplyOf(statusOf(code), errorBody(code, details), code);
}

/** Bytes of a body up to which it goes out in one write with the headers, as text: a second buffer is another system call. */
const ONE_WRITE = 16_384;

/**
 * Writes an answer.
 *
 * @param others headers that plugins of the application have set
 * @param last whether the connection ends with this answer
 */
function send(
  reply: FastifyReply,
  { status, headers, body, sent }: Reply,
  others: readonly string[],
  last: boolean,
  deadlines: Deadlines,
): void {
  // Past fastify's own way of answering, which adds to every call and has nothing to add to a finished answer.
  reply.hijack();
  const response = reply.raw;
  const list = [...others, ...headers];
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
    drainThenEnd(reply.request.raw, response, deadlines.lingerMs);
  }
  destroyUnlessFlushed(response, deadlines.answerMs);
}
