/**
 * Routes of tools in a fastify application (protocol.md sections 7 and 9).
 *
 * Requests reach {@link InvokeService} with their body unread, so that an unauthenticated caller is refused before a
 * byte of it is stored. Paths are compared byte for byte, because fastify's router decodes them.
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
import { type ErrorCode, isErrorCode, statusOf } from "../../wire/error-codes.js";
import { MAX_TIMEOUT_MS } from "../../wire/protocol.js";
import { errorReplyOf, type InvokeService, JSON_HEADERS } from "../call/invoke-service.js";
import { detailsOf, type InvokeRequest, isRefusal, type Refusal, type Reply } from "../call/messages.js";
import { documentOf, originOf } from "../call/meta.js";
import { REQUEST_ID_HEADER, requestIdOf } from "../call/request-id.js";
import { withDeadline } from "../call/run.js";
import type { ServedTool } from "../call/served-tool.js";
import { errorBody, RequestError, toRequestError } from "../errors/request-error.js";
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
import { BodyReader } from "./request-body.js";
import { type InFlight, InFlightRequests, type Shutdown } from "./shutdown.js";

/** The served tools and the services that their routes use. */
export interface ToolRoutesOptions {
  readonly tools: readonly ServedTool[];
  readonly service: InvokeService;
  readonly log: ServerLogger;
  readonly shutdown: Pick<Shutdown, "stopping" | "closed">;
  /** Called with each request that is answered although no tool ran for it. */
  onRefused?(refusal: Refusal): void;
  /** Minimum rate of a request body; {@link MIN_BODY_BYTES_PER_SECOND} by default. */
  readonly minBodyBytesPerSecond?: number | undefined;
  /** Maximum total bytes of answers that their clients have not read; {@link MAX_UNREAD_BYTES} by default. */
  readonly maxUnreadBytes?: number | undefined;
  /** Replaces {@link DEADLINES} in tests that need short times. */
  readonly deadlines?: ConnectionLimits;
}

type Method = "GET" | "HEAD" | "POST";

/** What the route and the shutdown know of each other's work on a request. */
interface Progress {
  /** Whether the request has no response yet. */
  isOpen(): boolean;
  /** Called before code of the tool runs. */
  onRun(): void;
  /** Registers a listener for the case that a shutdown answers the request. */
  onRefused(listener: (reply: Reply) => void): void;
}

interface Route {
  readonly methods: readonly Method[];
  /** Whether the route itself responds to a request without a host. */
  readonly needsHost?: true;
  answer(request: FastifyRequest, response: ServerResponse, progress: Progress): Promise<Reply>;
}

const GET = ["GET"] as const;
const GET_AND_HEAD = ["GET", "HEAD"] as const;
const POST = ["POST"] as const;

/** Methods that get 405 where a route does not allow them. OPTIONS is left to CORS (cors.ts). */
const ROUTED: readonly HTTPMethods[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** The routes of tools and their requests in flight. */
export class ToolRoutes {
  readonly requests: InFlightRequests<FastifyReply>;
  readonly #routes = new Map<string, Route>();
  readonly #deadlines: ConnectionLimits;
  readonly #bodies: BodyReader;
  /** Answers to calls that failed, while the hooks for errors run. */
  readonly #failed = new WeakMap<FastifyReply, () => void>();
  /** Bytes of answers that were sent and have not left. */
  readonly #unread: HeaviestConnection;

  readonly #options: ToolRoutesOptions;
  readonly #routed: (path: string) => string;

  /** @param routed the path under which fastify's router finds a path of a tool */
  constructor(options: ToolRoutesOptions, routed: (path: string) => string = plainPath) {
    this.#options = options;
    this.#routed = routed;
    this.#deadlines = options.deadlines ?? DEADLINES;
    this.#bodies = new BodyReader(options.minBodyBytesPerSecond ?? MIN_BODY_BYTES_PER_SECOND, this.#deadlines);
    this.#unread = new HeaviestConnection(options.maxUnreadBytes ?? MAX_UNREAD_BYTES, () =>
      options.service.load.refusals.count("answers"),
    );
    this.requests = new InFlightRequests<FastifyReply>(
      (reply, code) => this.#send(reply, errorReply(code), true),
      ({ request: { raw } }) => raw.complete || raw.readableEnded,
    );
  }

  /**
   * The plugin that adds the routes to an application, below the prefix of its registration.
   *
   * @throws {@link StartupError} for a path that fastify's router cannot find
   */
  readonly plugin: FastifyPluginAsync = async (app) => {
    const prefix = prefixOf(app);
    const { slices } = this.#options.service.load;
    for (const event of ["connection", "drop"]) app.server.on(event, () => slices.accepted());
    for (const [path, route] of routesOf(this.#options, prefix, this.#bodies, app.server)) {
      this.#routes.set(this.#routed(path), route);
    }
    // fastify gives an error after the first to the handler of the parent: that of a hook after a call that failed.
    this.#answerErrors(app);
    await app.register(async (inner) =>
      this.#add(
        inner,
        ({ methods }) => [...methods],
        (request, reply, route) => this.#answer(request, reply, route),
      ),
    );
  };

  /** The plugin that answers requests with other methods 405, where the handler of unknown paths is an author's. */
  readonly otherMethods: FastifyPluginAsync = async (app) => {
    this.#add(
      app,
      ({ methods }) => ROUTED.filter((method) => !(methods as readonly string[]).includes(method)),
      (request, reply) => this.refuse(request, reply),
    );
  };

  /** The plugin that answers what no route answers, where the handler of unknown paths is ours. */
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
    // A tool has its own time limit, within which it answers itself.
    const { handlerTimeout = 0 }: FastifyServerOptions = app.initialConfig;
    const limit = handlerTimeout > 0 && { handlerTimeout: MAX_TIMEOUT_MS };
    const { length } = prefixOf(app);
    for (const [url, route] of this.#routes) {
      app.route({
        method: methodsOf(route),
        url: url.slice(length),
        exposeHeadRoute: false,
        // Documents of the application would show operations without types; svc-gen openapi has those of the tools.
        schema: { hide: true } as object,
        ...limit,
        // The router also matches percent-encoded spellings, which are not routes here.
        handler: (request, reply) => {
          if (pathOf(request.raw) === url) handle(request, reply, route);
          else reply.callNotFound();
        },
      });
    }
  }

  /**
   * Answers errors of calls, of hooks and of fastify itself. Refusals of hooks, such as 429, are left to the
   * application's handler of errors; any other error of a hook is logged and answered 500 without its message.
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

  /** Whether a request is for the path of a tool. */
  owns({ raw }: FastifyRequest): boolean {
    return this.#routes.has(pathOf(raw));
  }

  /** Whether a request is malformed or comes too late, for whichever route. */
  isRefused({ raw }: FastifyRequest): boolean {
    return this.#refusalOf(raw, this.#routes.get(pathOf(raw))) !== undefined;
  }

  /** Responds to a request that no route answers: malformed, with another method, to an unknown path or too late. */
  refuse(request: FastifyRequest, reply: FastifyReply): void {
    const route = this.#routes.get(pathOf(request.raw));
    this.#refuse(reply, this.#refusalOf(request.raw, route) ?? unrouted(route));
  }

  #refuse(reply: FastifyReply, refusal: Reply): void {
    this.#send(reply, refusal, this.#options.shutdown.stopping);
    this.#report(reply.request, refusal, false);
  }

  #report({ id, raw }: FastifyRequest, { status, code, body }: Reply, isCall: boolean): void {
    if (code === undefined || !isErrorCode(code) || !isRefusal(status, code)) return;
    const { headers, socket } = raw;
    const details = detailsOf(body);
    this.#options.onRefused?.({ id: requestIdOf(id), code, details, headers, peer: socket.remoteAddress, isCall });
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
      this.#options.log.error({ err: error }, "answering a request failed");
      answer = { ...errorReply("internal_error"), error };
    }
    if (!this.requests.end(reply, answer.code)) return;
    const last = this.#options.shutdown.stopping || answer.code === "request_timeout";
    if (answer.error === undefined) this.#send(reply, answer, last);
    else this.#sendFailure(reply, answer, last);
    this.#report(request, answer, isCall);
  }

  /** The refusal of a request that comes too late or is malformed, for a route or for none. */
  #refusalOf(request: IncomingMessage, route: Route | undefined): Reply | undefined {
    if (this.#options.shutdown.closed) return errorReply("shutting_down");
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
    // The `Expect` header of a call is checked later, after its caller is verified.
    const isUnexpected = route !== undefined && route.methods !== POST && expectationOf(request) === "unknown";
    return isUnexpected ? expectationFailed() : undefined;
  }

  /** Sends a reply through fastify, after which its hooks run. Never throws. */
  #send(reply: FastifyReply, answer: Reply, last: boolean): void {
    // A response of the author's own routes, which shutdown cuts.
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

  /** Sends the reply of a call that failed, after the application's `onError` hooks have run with its error. */
  #sendFailure(reply: FastifyReply, answer: Reply, last: boolean): void {
    const { error } = answer;
    this.#failed.set(reply, () => this.#send(reply, answer, last));
    reply.send(
      error instanceof Error ? error : new Error("the tool threw a value that is not an Error", { cause: error }),
    );
  }

  /** Counts the bytes of an answer until it has left. */
  #countUnread({ raw, request }: FastifyReply, bytes: number): void {
    if (raw.writableFinished || bytes === 0) return;
    const { socket } = request.raw;
    raw.once("close", () => this.#unread.release(socket, bytes));
    this.#unread.hold(socket, bytes);
  }

  /** Responds 500 without hooks and their headers, one of which may have failed or be invalid. */
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
 * Keeps fastify from reading bodies and from judging content types: a caller is verified before a byte of its body is
 * kept.
 */
function leaveBodiesUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // Not "*", for which fastify parses the header of each request anew.
  app.addContentTypeParser(/^/, (_request, _body, parsed) => parsed(null));
  app.addHook("onRequest", ignoreContentType);
}

/** Keeps fastify from refusing a malformed content type. */
function ignoreContentType(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  if (request.mediaType === undefined) delete request.raw.headers["content-type"];
  done();
}

/** The refusal of an unknown path, or of a method that a path does not have. */
function unrouted(route: Route | undefined): Reply {
  if (route === undefined) return errorReply("not_found");
  const reply = errorReply("method_not_allowed");
  return { ...reply, headers: [...reply.headers, "allow", route.methods.join(", ")] };
}

/** Classifies the `Expect` header: `100-continue` or an unknown expectation (RFC 9110 section 10.1.1). */
function expectationOf({ headers, httpVersion }: IncomingMessage): "continue" | "unknown" | undefined {
  if (headers.expect === undefined || httpVersion === "1.0") return undefined;
  return headers.expect.toLowerCase() === "100-continue" ? "continue" : "unknown";
}

const expectationFailed = () => errorReply("expectation_failed", EXPECTATION_FAULT);
const EXPECTATION_FAULT = "Expect: only 100-continue";

function routesOf(
  { tools, service, log }: ToolRoutesOptions,
  prefix: string,
  bodies: BodyReader,
  server: Server,
): Map<string, Route> {
  const routes = new Map<string, Route>();
  for (const tool of tools) {
    const path = `${prefix}${tool.prefix}`;
    routes.set(`${path}/invoke`, {
      methods: POST,
      answer: (request, response, progress) =>
        service.handle(tool, invokeRequest(request, response, { bodies, server, ...progress })),
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
 * Health check of a tool. One check runs at a time; requests that arrive meanwhile share its status. It refers to no
 * request whose client has left: a slow check would keep the requests of any number of closed connections.
 */
function healthCheck(tool: ServedTool, log: ServerLogger): Route["answer"] {
  const waiting = new Set<(status: number) => void>();
  let isRunning = false;
  const check = async () => {
    let status = 500;
    try {
      status = await withDeadline(
        () => tool.host.health(log.child({ tool: tool.fqn })),
        tool.timeoutMs,
        () => 503,
      );
    } catch (error) {
      log.error({ tool: tool.fqn, err: error }, "the tool's health check failed");
    }
    isRunning = false;
    for (const answer of waiting) answer(status);
    waiting.clear();
  };
  return async ({ raw }) => {
    const status = new Promise<number>((answer) => {
      waiting.add(answer);
      raw.once("close", () => {
        // A request that was read to its end emits it too.
        if (raw.socket.destroyed && waiting.delete(answer)) answer(503);
      });
    });
    if (!isRunning) {
      isRunning = true;
      void check();
    }
    return empty(await status);
  };
}

function meta(tool: ServedTool, path: string, request: IncomingMessage, log: ServerLogger): Reply {
  try {
    const origin = originOf(request, "encrypted" in request.socket);
    const document = documentOf(tool.tool, tool.contract, origin + path);
    return { status: 200, headers: JSON_HEADERS, body: Buffer.from(document) };
  } catch (thrown) {
    const { code, details, cause } = toRequestError(thrown);
    if (code !== "internal_error") return errorReply(code, details);
    log.error({ tool: tool.fqn, err: cause }, "the tool's meta() failed");
    return { ...errorReply(code, details), error: cause };
  }
}

function invokeRequest(
  { id, raw: request }: FastifyRequest,
  response: ServerResponse,
  { bodies, server, isOpen, onRun, onRefused }: Progress & { readonly bodies: BodyReader; readonly server: Server },
): InvokeRequest {
  return {
    id: requestIdOf(id),
    // A getter gives every object a hidden class of its own in V8, which made a call 20 % dearer.
    peer: () => request.socket.remoteAddress,
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    connection: request.socket,
    readBody: (length, account) => {
      const expectation = expectationOf(request);
      if (expectation === "unknown") throw new RequestError("expectation_failed", EXPECTATION_FAULT);
      // The connection may have closed while the caller was being verified.
      if (request.destroyed) throw new RequestError("bad_request");
      // Without such a listener, node has already sent `100 Continue`.
      if (expectation === "continue" && server.listenerCount("checkContinue") > 0) response.writeContinue();
      // A call whose caller already got a timeout or shutdown response must not run a tool.
      const isAnswered = () => request.socket.writableEnded || !isOpen();
      return bodies.read(request, length, account, isAnswered);
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

function errorReply(code: ErrorCode, details?: string): Reply {
  return errorReplyOf(statusOf(code), errorBody(code, details), code);
}

/**
 * Sends a reply.
 *
 * @param last whether the connection closes after this response
 */
function send(reply: FastifyReply, answer: Reply, last: boolean, deadlines: ConnectionLimits): void {
  const { status, headers, body, sent } = answer;
  const request = reply.request.raw;
  const response = reply.raw;
  reply.code(status);
  reply.header(REQUEST_ID_HEADER, requestIdOf(reply.request.id));
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i] as string, headers[i + 1] as string];
    // Hooks of CORS set the same one.
    reply.header(name, name === "vary" && reply.hasHeader(name) ? `${reply.getHeader(name)}, ${value}` : value);
  }
  // fastify sets it, but for HEAD without a body; statuses 204 and 304 never have one (RFC 9110 section 8.6).
  if (body.length === 0 && status !== 204 && status !== 304) reply.header("content-length", "0");
  const unread = unreadBytes(request);
  if (last || !isKept(unread)) reply.header("connection", "close");
  if (unread > 0) endAfterRequest(request, response, deadlines.lingerMs);
  reply.send(body.length === 0 ? undefined : body);
  if (sent !== undefined) response.once("finish", sent);
  destroyUnlessFlushed(response, deadlines.answerMs);
}
