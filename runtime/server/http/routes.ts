/** Routes of tools, without their transport: what each path answers (protocol.md sections 7 and 9). */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { FastifyRequest } from "fastify";
import type { Contract } from "svc-client/internal/wire/codec/contract";
import { errorReply, type InvokeService, JSON_HEADERS, replyToThrown } from "../call/invoke-service.js";
import type { Health, InvokeRequest, Reply } from "../call/messages.js";
import { documentOf, originOf } from "../call/meta.js";
import { checkHealth } from "../call/run/run.js";
import type { ServedTool } from "../call/run/served-tool.js";
import { RequestError } from "../errors/request-error.js";
import type { ServerLogger } from "../log/safe-logger.js";
import type { ReadBody } from "./request-body.js";
import { requestIdOf } from "./request-id.js";

type Method = "GET" | "HEAD" | "POST";

/** Progress of a request, shared by its route and the transport. */
export interface Progress {
  /** Whether the request has no answer yet. */
  isOpen(): boolean;
  /** Called before code of the tool runs. */
  onRun(): void;
  /** Registers a listener that is called if a shutdown answers the request. */
  onRefused(listener: (reply: Reply) => void): void;
}

export interface Route {
  readonly methods: readonly Method[];
  /** Whether the route itself answers requests without a host. */
  readonly needsHost?: true;
  /** Whether the route itself, or nothing, delays the start of its work under load. */
  readonly isImmediate?: true;
  answer(request: FastifyRequest, response: ServerResponse, progress: Progress): Promise<Reply>;
}

export interface RoutesOptions {
  readonly tools: readonly ServedTool[];
  readonly service: InvokeService;
  readonly log: ServerLogger;
}

const GET = ["GET"] as const;
const GET_AND_HEAD = ["GET", "HEAD"] as const;
export const POST = ["POST"] as const;

/** Error answer for an unknown path, or for a method that the path does not allow. */
export function unrouted(route: Route | undefined): Reply {
  const none = "no tool endpoint is at this path: GET /tools lists the tools, each with /invoke, /meta and /health";
  if (route === undefined) return errorReply("not_found", none);
  const methods = route.methods.join(", ");
  const reply = errorReply("method_not_allowed", `this path allows ${methods}`);
  return { ...reply, headers: [...reply.headers, "allow", methods] };
}

/** Classifies the `Expect` header (RFC 9110 section 10.1.1). */
export function expectationOf({ headers, httpVersion }: IncomingMessage): "continue" | "unknown" | undefined {
  if (headers.expect === undefined || httpVersion === "1.0") return undefined;
  return headers.expect.toLowerCase() === "100-continue" ? "continue" : "unknown";
}

export const expectationFailed = () => errorReply("expectation_failed", EXPECTATION_FAULT);
const EXPECTATION_FAULT = "Expect: only 100-continue";

/** Routes by path. */
export function routesOf(
  { tools, service, log }: RoutesOptions,
  prefix: string,
  { readBody, server }: { readonly readBody: ReadBody; readonly server: Server },
): Map<string, Route> {
  const routes = new Map<string, Route>();
  for (const tool of tools) {
    const path = `${prefix}${tool.prefix}`;
    routes.set(`${path}/invoke`, {
      methods: POST,
      isImmediate: true,
      answer: (request, response, progress) =>
        service.handle(tool, invokeRequest(request, response, { readBody, server, ...progress })),
    });
    routes.set(`${path}/meta`, {
      methods: GET,
      needsHost: true,
      answer: metadata(tool, `${path}/`, log),
    });
    routes.set(`${path}/health`, { methods: GET_AND_HEAD, isImmediate: true, answer: healthCheck(tool, log) });
  }
  const paths = Buffer.from(JSON.stringify(tools.map(({ contract }) => contract.path)));
  const details = Buffer.from(JSON.stringify(tools.map(({ contract }) => detailsOf(contract, service))));
  routes.set(`${prefix}/tools`, {
    methods: GET,
    answer: async ({ raw: { url = "" } }) => {
      const isDetailed = new URLSearchParams(url.split("?")[1]).has("details");
      return { status: 200, headers: JSON_HEADERS, body: isDetailed ? details : paths };
    },
  });
  const health = `${prefix}/health`;
  if (!routes.has(health)) {
    routes.set(health, { methods: GET_AND_HEAD, isImmediate: true, answer: async () => empty(200) });
  }
  return routes;
}

/** Entry of a tool in the list with details (protocol.md section 9). */
function detailsOf(contract: Contract, { callLimits }: InvokeService): object {
  const { path, fqn, timeout, inputSchema, outputSchema, hints } = contract;
  const schema_bytes = Buffer.byteLength(inputSchema) + Buffer.byteLength(outputSchema);
  return { path, fqn, timeout, schema_bytes, ...callLimits, hints };
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

/** Answers with the metadata document. */
function metadata(tool: ServedTool, path: string, log: ServerLogger): Route["answer"] {
  return async ({ raw }) => {
    // Of a flood of requests, those whose callers have gone cost nothing.
    if (raw.socket.destroyed) return empty(503);
    try {
      const url = originOf(raw, "encrypted" in raw.socket) + path;
      return { status: 200, headers: JSON_HEADERS, body: Buffer.from(documentOf(tool.tool, tool.contract, url)) };
    } catch (thrown) {
      return replyToThrown(thrown, log.child({ tool: tool.fqn }), "meta() of the tool threw an error");
    }
  };
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
