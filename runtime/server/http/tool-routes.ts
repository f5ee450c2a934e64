/**
 * Routes of tools in a fastify application (protocol.md sections 7 and 9).
 *
 * Passes requests to {@link InvokeService} with their body unread, so that an unauthenticated caller is rejected before
 * a byte of the body is stored. Compares paths byte for byte, because fastify's router decodes them.
 */

import type { IncomingMessage } from "node:http";
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
import { errorReply, replyToThrown } from "../call/invoke-service.js";
import { detailsOf, isRefusal, type Refusal, type Reply } from "../call/messages.js";
import { RequestError } from "../errors/request-error.js";
import { Answers, type AnswersOptions } from "./answers.js";
import { pathOf, plainPath } from "./exact-path.js";
import { type ConnectionLimits, DEADLINES, MAX_HEADERS, MIN_BODY_BYTES_PER_SECOND } from "./limits.js";
import { bodyReader, type ReadBody } from "./request-body.js";
import { requestIdOf } from "./request-id.js";
import {
  expectationFailed,
  expectationOf,
  POST,
  type Route,
  type RoutesOptions,
  routesOf,
  unrouted,
} from "./routes.js";
import { type InFlight, InFlightRequests, type Shutdown } from "./shutdown.js";

/** Served tools, and the services that their routes use. */
export interface ToolRoutesOptions extends RoutesOptions, AnswersOptions {
  readonly shutdown: Pick<Shutdown, "stopping" | "closed">;
  /** Called for each request that is answered without running a tool. */
  onRefused?(refusal: Refusal): void;
  /** Minimum rate of a request body; {@link MIN_BODY_BYTES_PER_SECOND} by default. */
  readonly minBodyBytesPerSecond?: number | undefined;
  /** Replaces {@link DEADLINES}, for tests. */
  readonly deadlines?: ConnectionLimits;
}

/** Methods that get 405 from a route that does not allow them. CORS handles OPTIONS (cors.ts). */
const ROUTED: readonly HTTPMethods[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

export class ToolRoutes {
  readonly requests: InFlightRequests<FastifyReply>;
  readonly #routes = new Map<string, Route>();
  readonly #readBody: ReadBody;
  readonly #answers: Answers;
  #segments: ReadonlySet<string> | undefined;

  readonly #options: ToolRoutesOptions;
  readonly #routed: (path: string) => string;

  /** @param routed converts a tool's path to one that fastify's router matches */
  constructor(options: ToolRoutesOptions, routed: (path: string) => string = plainPath) {
    this.#options = options;
    this.#routed = routed;
    const { deadlines = DEADLINES, minBodyBytesPerSecond = MIN_BODY_BYTES_PER_SECOND } = options;
    this.#readBody = bodyReader(minBodyBytesPerSecond, deadlines);
    this.#answers = new Answers(options, deadlines);
    this.requests = new InFlightRequests<FastifyReply>(
      (reply, code) => this.#answers.send(reply, errorReply(code), true),
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
    const parts = { readBody: this.#readBody, server: app.server };
    for (const [path, route] of routesOf(this.#options, prefix, parts)) {
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
      if (this.#answers.sendFailed(reply)) return;
      if (error.code === "FST_ERR_ROUTE_MISSING_CONTENT_TYPE") this.refuse(request, reply);
      else if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) throw error;
      else this.#answers.fail(reply, error);
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
    this.#paced(() => this.#refuse(reply, this.#refusalOf(request.raw, route) ?? unrouted(route)));
  }

  /** Does work in a time slice, so that probes of other connections are not delayed. */
  #paced(work: () => void): void {
    const turn = this.#options.service.load.slices.enter(0);
    if (turn === undefined) work();
    else void turn.then(work);
  }

  #refuse(reply: FastifyReply, refusal: Reply): void {
    this.#answers.send(reply, refusal, this.#options.shutdown.stopping);
    this.#report(reply.request, refusal, false);
  }

  #report({ id, raw, originalUrl }: FastifyRequest, { status, code, body, logged }: Reply, isCall: boolean): void {
    if (code === undefined || !isErrorCode(code) || !isRefusal(status, code)) return;
    const { headers, socket } = raw;
    const path = code === "not_found" || code === "method_not_allowed" ? this.#shownPath(originalUrl) : undefined;
    const details = logged ?? detailsOf(body);
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
    if (refusal !== undefined) this.#paced(() => this.#refuse(reply, refusal));
    else if (route.isImmediate) void this.#answerBy(route, request, reply);
    else this.#paced(() => void this.#answerBy(route, request, reply));
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
    if (answer.error === undefined) this.#answers.send(reply, answer, last);
    else this.#answers.sendFailure(reply, answer, last);
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
