/**
 * Routes of tools in a fastify application (protocol.md sections 7 and 9).
 *
 * Passes requests to {@link InvokeService} with their body unread, so that an unauthenticated caller is rejected before
 * a byte of the body is stored. Compares paths byte for byte, because fastify's router decodes them.
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type {
  FastifyError,
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  FastifyServerOptions,
  HTTPMethods,
} from "fastify";
import { isErrorCode } from "svc-client/internal/wire/error-codes";
import { MAX_TIMEOUT_MS } from "svc-client/internal/wire/protocol";
import { ENV_ADMIN_ADDR } from "../../config/environment.js";
import { errorReply, type InvokeService, JSON_HEADERS, replyToThrown } from "../call/invoke-service.js";
import { detailsOf, type Health, type InvokeRequest, isRefusal, type Refusal, type Reply } from "../call/messages.js";
import { documentOf, originOf } from "../call/meta.js";
import { checkHealth } from "../call/run/run.js";
import type { ServedTool } from "../call/run/served-tool.js";
import { RequestError } from "../errors/request-error.js";
import type { ServerLogger } from "../log/safe-logger.js";
import { pathOf, plainPath } from "./exact-path.js";
import { HeaviestConnection } from "./heaviest-connection.js";
import {
  type ConnectionLimits,
  DEADLINES,
  MAX_HEADERS,
  MAX_UNREAD_BYTES,
  MIN_BODY_BYTES_PER_SECOND,
} from "./limits.js";
import { destroyUnlessFlushed, endAfterRequest, isKept, unreadBytes } from "./lingering-close.js";
import { bodyReader, type ReadBody } from "./request-body.js";
import { REQUEST_ID_HEADER, requestIdOf } from "./request-id.js";
import { type InFlight, InFlightRequests, type Shutdown } from "./shutdown.js";

/** Served tools, and the services that their routes use. */
export interface ToolRoutesOptions {
  readonly tools: readonly ServedTool[];
  readonly service: InvokeService;
  readonly log: ServerLogger;
  readonly shutdown: Pick<Shutdown, "stopping" | "closed">;
  /** Called for each request that is answered without running a tool. */
  onRefused?(refusal: Refusal): void;
  /** Minimum rate of a request body; {@link MIN_BODY_BYTES_PER_SECOND} by default. */
  readonly minBodyBytesPerSecond?: number | undefined;
  /** Maximum total bytes of unread answers; {@link MAX_UNREAD_BYTES} by default. */
  readonly maxUnreadBytes?: number | undefined;
  /** Replaces {@link DEADLINES}, for tests. */
  readonly deadlines?: ConnectionLimits;
}

type Method = "GET" | "HEAD" | "POST";

/** Progress of a request, shared by its route and the shutdown. */
interface Progress {
  /** Whether the request has no answer yet. */
  isOpen(): boolean;
  /** Called before code of the tool runs. */
  onRun(): void;
  /** Registers a listener that is called if a shutdown answers the request. */
  onRefused(listener: (reply: Reply) => void): void;
}

/** Paths of the admin listener, for the log. */
const ADMIN_PATH = /^\/(?:metrics|readyz|livez)(?:\?|$)/;

interface Route {
  readonly methods: readonly Method[];
  /** Whether the route itself answers requests without a host. */
  readonly needsHost?: true;
  answer(request: FastifyRequest, response: ServerResponse, progress: Progress): Promise<Reply>;
}

const GET = ["GET"] as const;
const GET_AND_HEAD = ["GET", "HEAD"] as const;
const POST = ["POST"] as const;

/** Methods that get 405 from a route that does not allow them. CORS handles OPTIONS (cors.ts). */
const ROUTED: readonly HTTPMethods[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

export class ToolRoutes {
  readonly requests: InFlightRequests<FastifyReply>;
  readonly #routes = new Map<string, Route>();
  readonly #deadlines: ConnectionLimits;
  readonly #readBody: ReadBody;
  /** Sends the answers of failed calls after the `onError` hooks. */
  readonly #failed = new WeakMap<FastifyReply, () => void>();
  /** Number of bytes of answers that were sent but not read yet. */
  readonly #unread: HeaviestConnection;

  #segments: ReadonlySet<string> | undefined;

  readonly #options: ToolRoutesOptions;
  readonly #routed: (path: string) => string;

  /** @param routed converts a tool's path to one that fastify's router matches */
  constructor(options: ToolRoutesOptions, routed: (path: string) => string = plainPath) {
    this.#options = options;
    this.#routed = routed;
    this.#deadlines = options.deadlines ?? DEADLINES;
    this.#readBody = bodyReader(options.minBodyBytesPerSecond ?? MIN_BODY_BYTES_PER_SECOND, this.#deadlines);
    this.#unread = new HeaviestConnection(options.maxUnreadBytes ?? MAX_UNREAD_BYTES, () =>
      options.service.load.refusals.count("answers"),
    );
    this.requests = new InFlightRequests<FastifyReply>(
      (reply, code) => this.#send(reply, errorReply(code), true),
      ({ request: { raw } }) => raw.complete || raw.readableEnded,
    );
  }

  /**
   * Plugin that adds the routes to an application, below the prefix of its registration.
   *
   * @throws {@link StartupError} if fastify's router cannot match a path
   */
  readonly plugin: FastifyPluginAsync = async (app) => {
    const prefix = prefixOf(app);
    const { slices } = this.#options.service.load;
    for (const event of ["connection", "drop"]) app.server.on(event, () => slices.accepted());
    for (const [path, route] of routesOf(this.#options, prefix, this.#readBody, app.server)) {
      this.#routes.set(this.#routed(path), route);
    }
    // fastify passes a second error, such as that of a hook after a failed call, to the parent's error handler.
    this.#answerErrors(app);
    await app.register(async (inner) =>
      this.#add(
        inner,
        ({ methods }) => [...methods],
        (request, reply, route) => this.#answer(request, reply, route),
      ),
    );
  };

  /** Plugin that answers other methods with 405, for applications with their own handler of unknown paths. */
  readonly otherMethods: FastifyPluginAsync = async (app) => {
    this.#add(
      app,
      ({ methods }) => ROUTED.filter((method) => !(methods as readonly string[]).includes(method)),
      (request, reply) => this.refuse(request, reply),
    );
  };

  /** Plugin that answers unknown paths and methods, for the standalone server. */
  readonly unrouted: FastifyPluginAsync = async (app) => {
    leaveBodiesUnread(app);
    this.#answerErrors(app);
    app.setNotFoundHandler((request, reply) => this.refuse(request, reply));
  };

  #add(
    app: FastifyInstance,
    methodsOf: (route: Route) => HTTPMethods[],
    handle: (request: FastifyRequest, reply: FastifyReply, route: Route) => void,
  ): void {
    leaveBodiesUnread(app);
    this.#answerErrors(app);
    // Tools have their own time limits.
    const { handlerTimeout = 0 }: FastifyServerOptions = app.initialConfig;
    const limit = handlerTimeout > 0 && { handlerTimeout: MAX_TIMEOUT_MS };
    const { length } = prefixOf(app);
    for (const [url, route] of this.#routes) {
      app.route({
        method: methodsOf(route),
        url: url.slice(length),
        exposeHeadRoute: false,
        // Hidden, because OpenAPI plugins would show these routes without types. Use `svc-gen openapi` instead.
        schema: { hide: true } as object,
        ...limit,
        // The router also matches percent-encoded spellings of the path.
        handler: (request, reply) => {
          if (pathOf(request.raw) === url) handle(request, reply, route);
          else reply.callNotFound();
        },
      });
    }
  }

  /**
   * Answers errors of calls, of hooks and of fastify. An error answer from a hook, such as 429, goes to the
   * application's error handler; any other error of a hook is logged and answered with 500 without its message.
   */
  #answerErrors(app: FastifyInstance): void {
    app.setErrorHandler((error: Partial<FastifyError>, request, reply) => {
      const answer = this.#failed.get(reply);
      this.#failed.delete(reply);
      if (answer !== undefined) answer();
      else if (error.code === "FST_ERR_ROUTE_MISSING_CONTENT_TYPE") this.refuse(request, reply);
      else if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) throw error;
      else this.#fail(reply, error);
    });
  }

  owns({ raw }: FastifyRequest): boolean {
    return this.#routes.has(pathOf(raw));
  }

  /** Whether a request to any route is malformed or arrived after the server was closed. */
  isRefused({ raw }: FastifyRequest): boolean {
    return this.#refusalOf(raw, this.#routes.get(pathOf(raw))) !== undefined;
  }

  /** Answers a request that no route handles: malformed, too late, unknown path or wrong method. */
  refuse(request: FastifyRequest, reply: FastifyReply): void {
    const route = this.#routes.get(pathOf(request.raw));
    this.#refuse(reply, this.#refusalOf(request.raw, route) ?? unrouted(route));
  }

  #refuse(reply: FastifyReply, refusal: Reply): void {
    this.#send(reply, refusal, this.#options.shutdown.stopping);
    this.#report(reply.request, refusal, false);
  }

  #report({ id, raw, originalUrl }: FastifyRequest, { status, code, body, logged }: Reply, isCall: boolean): void {
    if (code === undefined || !isErrorCode(code) || !isRefusal(status, code)) return;
    const { headers, socket } = raw;
    const path = code === "not_found" || code === "method_not_allowed" ? this.#shownPath(originalUrl) : undefined;
    const details =
      ADMIN_PATH.test(originalUrl) && code === "not_found"
        ? `${ENV_ADMIN_ADDR} serves this path`
        : (logged ?? detailsOf(body));
    this.#options.onRefused?.({
      ...{ id: requestIdOf(id), code, details, path, headers, peer: socket.remoteAddress, isCall },
    });
  }

  /** Path for the log. Segments that are in no path of this server may be secret, so each is shown as `*`. */
  #shownPath(url: string): string {
    this.#segments ??= new Set([...this.#routes.keys()].flatMap((path) => path.split("/")));
    const [path = ""] = url.split("?", 1);
    return path.replace(/[^/]+/g, (segment) => (this.#segments?.has(segment) ? segment : "*"));
  }

  #answer(request: FastifyRequest, reply: FastifyReply, route: Route): void {
    const refusal = this.#refusalOf(request.raw, route);
    if (refusal !== undefined) this.#refuse(reply, refusal);
    else void this.#answerBy(route, request, reply);
  }

  /** Never rejects. */
  async #answerBy(route: Route, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const isCall = route.methods === POST;
    let onRefused = (_reply: Reply) => {};
    const state: InFlight = {
      runs: false,
      refused: (code) => {
        const refusal = errorReply(code);
        onRefused(refusal);
        this.#report(request, refusal, isCall);
      },
    };
    this.requests.begin(reply, state);
    let answer: Reply;
    try {
      answer = await route.answer(request, reply.raw, {
        isOpen: () => this.requests.has(reply),
        onRun: () => {
          state.runs = true;
        },
        onRefused: (listener) => {
          onRefused = listener;
        },
      });
    } catch (error) {
      answer = replyToThrown(new RequestError("internal_error", undefined, { cause: error }), this.#options.log);
    }
    if (!this.requests.end(reply, answer.code)) return;
    const last = this.#options.shutdown.stopping || answer.code === "request_timeout";
    if (answer.error === undefined) this.#send(reply, answer, last);
    else this.#sendFailure(reply, answer, last);
    this.#report(request, answer, isCall);
  }

  /** Error answer for a request that is too late or malformed; undefined for other requests. */
  #refusalOf(request: IncomingMessage, route: Route | undefined): Reply | undefined {
    if (this.#options.shutdown.closed) return errorReply("shutting_down");
    const { rawHeaders } = request;
    if (rawHeaders.length > 2 * MAX_HEADERS) return errorReply("headers_too_large", `at most ${MAX_HEADERS} headers`);
    let hosts = 0;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i] as string;
      if (name.length === 4 && name.toLowerCase() === "host") hosts++;
    }
    // The parser also accepts versions 0.9 and 2.0.
    if (request.httpVersionMajor !== 1) return errorReply("bad_request");
    // For a missing host, the metadata route's own error explains why it is required.
    if (hosts > 1 || (hosts === 0 && route?.needsHost !== true)) return errorReply("bad_request");
    // The `Expect` header of a call is checked later, after the caller is verified.
    const isUnexpected = route !== undefined && route.methods !== POST && expectationOf(request) === "unknown";
    return isUnexpected ? expectationFailed() : undefined;
  }

  /** Sends a reply through fastify, which runs its hooks. Never throws. */
  #send(reply: FastifyReply, answer: Reply, last: boolean): void {
    // The author's own route has sent its headers, so its answer can only be cut off.
    if (reply.raw.headersSent) return void reply.raw.destroy();
    try {
      const memory = this.#options.service.memoryHeader;
      if (memory !== undefined) reply.header(...memory);
      send(reply, answer, last, this.#deadlines);
      this.#countUnread(reply, answer.body.length);
    } catch (error) {
      this.#fail(reply, error);
    }
  }

  /** Sends the reply of a failed call, after the application's `onError` hooks ran with its error. */
  #sendFailure(reply: FastifyReply, answer: Reply, last: boolean): void {
    const { error } = answer;
    this.#failed.set(reply, () => this.#send(reply, answer, last));
    reply.send(
      error instanceof Error ? error : new Error("the tool threw a value that is not an Error", { cause: error }),
    );
  }

  /** Counts the bytes of an answer as unread until they are sent. */
  #countUnread({ raw, request }: FastifyReply, bytes: number): void {
    if (raw.writableFinished || bytes === 0) return;
    const { socket } = request.raw;
    raw.once("close", () => this.#unread.release(socket, bytes));
    this.#unread.hold(socket, bytes);
  }

  /** Answers 500 without running hooks, because a hook may be the cause. */
  #fail(reply: FastifyReply, error: unknown): void {
    this.#options.log.error({ err: error }, "sending an answer failed");
    const { raw } = reply;
    if (raw.headersSent) return void raw.destroy();
    reply.hijack();
    for (const name of raw.getHeaderNames()) raw.removeHeader(name);
    const { status, headers, body } = errorReply("internal_error");
    const memory = this.#options.service.memoryHeader ?? [];
    const id = [REQUEST_ID_HEADER, requestIdOf(reply.request.id)];
    raw
      .writeHead(status, [...headers, ...id, ...memory, "content-length", String(body.length), "connection", "close"])
      .end(body);
  }
}

const prefixOf = ({ prefix }: FastifyInstance) => prefix.replace(/\/$/, "");

/**
 * Keeps fastify from reading bodies and checking content types, so that a caller is verified before a byte of its body
 * is stored.
 */
function leaveBodiesUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // Not "*", because fastify would then parse the header of each request again.
  app.addContentTypeParser(/^/, (_request, _body, parsed) => parsed(null));
  app.addHook("onRequest", ignoreContentType);
}

/** Keeps fastify from rejecting a malformed content type. */
function ignoreContentType(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  if (request.mediaType === undefined) delete request.raw.headers["content-type"];
  done();
}

/** Error answer for an unknown path, or for a method that the path does not allow. */
function unrouted(route: Route | undefined): Reply {
  if (route === undefined) return errorReply("not_found");
  const reply = errorReply("method_not_allowed");
  return { ...reply, headers: [...reply.headers, "allow", route.methods.join(", ")] };
}

/** Classifies the `Expect` header (RFC 9110 section 10.1.1). */
function expectationOf({ headers, httpVersion }: IncomingMessage): "continue" | "unknown" | undefined {
  if (headers.expect === undefined || httpVersion === "1.0") return undefined;
  return headers.expect.toLowerCase() === "100-continue" ? "continue" : "unknown";
}

const expectationFailed = () => errorReply("expectation_failed", EXPECTATION_FAULT);
const EXPECTATION_FAULT = "Expect: only 100-continue";

function routesOf(
  { tools, service, log }: ToolRoutesOptions,
  prefix: string,
  readBody: ReadBody,
  server: Server,
): Map<string, Route> {
  const routes = new Map<string, Route>();
  for (const tool of tools) {
    const path = `${prefix}${tool.prefix}`;
    routes.set(`${path}/invoke`, {
      methods: POST,
      answer: (request, response, progress) =>
        service.handle(tool, invokeRequest(request, response, { readBody, server, ...progress })),
    });
    routes.set(`${path}/meta`, {
      methods: GET,
      needsHost: true,
      answer: async ({ raw }) => meta(tool, `${path}/`, raw, log),
    });
    routes.set(`${path}/health`, { methods: GET_AND_HEAD, answer: healthCheck(tool, log) });
  }
  const paths = Buffer.from(JSON.stringify(tools.map(({ contract }) => contract.path)));
  routes.set(`${prefix}/tools`, {
    methods: GET,
    answer: async () => ({ status: 200, headers: JSON_HEADERS, body: paths }),
  });
  const health = `${prefix}/health`;
  if (!routes.has(health)) routes.set(health, { methods: GET_AND_HEAD, answer: async () => empty(200) });
  return routes;
}

const empty = (status: number): Reply => ({ status, headers: [], body: Buffer.alloc(0) });

/**
 * Health check of a tool. Only one check runs at a time; requests that arrive meanwhile share its status. Drops
 * requests of disconnected clients, because a slow check would otherwise hold requests of any number of closed
 * connections.
 */
function healthCheck(tool: ServedTool, log: ServerLogger): Route["answer"] {
  const waiting = new Set<(health: Health) => void>();
  let isRunning = false;
  const check = async () => {
    const health = await checkHealth(tool, log.child({ tool: tool.fqn }));
    isRunning = false;
    for (const answer of waiting) answer(health);
    waiting.clear();
  };
  return async ({ raw }) => {
    const health = new Promise<Health>((answer) => {
      waiting.add(answer);
      raw.once("close", () => {
        // `close` is also emitted for a request that was read completely.
        if (raw.socket.destroyed && waiting.delete(answer)) answer({ status: 503, error: undefined });
      });
    });
    if (!isRunning) {
      isRunning = true;
      void check();
    }
    const { status, error } = await health;
    return error === undefined ? empty(status) : { ...empty(status), error };
  };
}

function meta(tool: ServedTool, path: string, request: IncomingMessage, log: ServerLogger): Reply {
  try {
    const origin = originOf(request, "encrypted" in request.socket);
    const document = documentOf(tool.tool, tool.contract, origin + path);
    return { status: 200, headers: JSON_HEADERS, body: Buffer.from(document) };
  } catch (thrown) {
    return replyToThrown(thrown, log.child({ tool: tool.fqn }), "meta() of the tool threw an error");
  }
}

function invokeRequest(
  { id, raw: request }: FastifyRequest,
  response: ServerResponse,
  { readBody, server, isOpen, onRun, onRefused }: Progress & { readonly readBody: ReadBody; readonly server: Server },
): InvokeRequest {
  return {
    id: requestIdOf(id),
    // Not a getter, which would give every object its own hidden class in V8 and made calls 20 % slower.
    peer: () => request.socket.remoteAddress,
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    connection: request.socket,
    readBody: (length, account) => {
      const expectation = expectationOf(request);
      if (expectation === "unknown") throw new RequestError("expectation_failed", EXPECTATION_FAULT);
      // The connection may have closed while the caller was verified.
      if (request.destroyed) throw new RequestError("bad_request");
      // Without such a listener, Node has already sent `100 Continue`.
      if (expectation === "continue" && server.listenerCount("checkContinue") > 0) response.writeContinue();
      // A call that was already answered by a timeout or shutdown must not run a tool.
      const isAnswered = () => request.socket.writableEnded || !isOpen();
      return readBody(request, length, account, isAnswered);
    },
    isGone: () => request.destroyed || !isOpen(),
    onRun,
    onRefused,
    onDisconnect: (listener) => {
      response.on("close", () => {
        if (!response.writableFinished) listener();
      });
    },
  };
}

/**
 * Sends a reply.
 *
 * @param last whether the connection closes after this answer
 */
function send(reply: FastifyReply, answer: Reply, last: boolean, deadlines: ConnectionLimits): void {
  const { status, headers, body, sent } = answer;
  const request = reply.request.raw;
  const response = reply.raw;
  reply.code(status);
  reply.header(REQUEST_ID_HEADER, requestIdOf(reply.request.id));
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i] as string, headers[i + 1] as string];
    // CORS hooks also set `Vary`.
    reply.header(name, name === "vary" && reply.hasHeader(name) ? `${reply.getHeader(name)}, ${value}` : value);
  }
  // fastify omits it for HEAD without a body. Statuses 204 and 304 must not have it (RFC 9110 section 8.6).
  if (body.length === 0 && status !== 204 && status !== 304) reply.header("content-length", "0");
  const unread = unreadBytes(request);
  if (last || !isKept(unread)) reply.header("connection", "close");
  if (unread > 0) endAfterRequest(request, response, deadlines.lingerMs);
  reply.send(body.length === 0 ? undefined : body);
  if (sent !== undefined) response.once("finish", sent);
  destroyUnlessFlushed(response, deadlines.answerMs);
}
