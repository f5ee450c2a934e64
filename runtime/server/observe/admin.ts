/** Admin listener with probes and metrics, separate from the callers' listener. It never serves tools. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, isIP } from "node:net";
import { isLoopback } from "svc-client/internal/loopback";
import { authorityOf, type ListenAddress } from "../../config/listen-address.js";
import type { ServerLogger } from "../log/safe-logger.js";
import { NO_METRICS } from "./metrics-library.js";

export interface AdminSources {
  /** Reason why the server is not ready; undefined if it is ready. */
  readonly readiness: { readonly unready: string | undefined };
  /** Undefined if no metrics library is installed. */
  readonly metrics: { readonly contentType: string; text(): Promise<string> } | undefined;
  readonly log: ServerLogger;
}

interface AdminAnswer {
  readonly status: number;
  readonly type?: string;
  readonly text: string;
}

const PLAIN = "text/plain; charset=utf-8";

export interface AdminListener {
  /** Base URL, such as `http://127.0.0.1:9090`. */
  readonly url: string;
  close(): Promise<void>;
}

/** @throws the error of Node's `listen` */
export async function listenAdmin(endpoint: ListenAddress, sources: AdminSources): Promise<AdminListener> {
  const limits = { headersTimeout: 5_000, requestTimeout: 5_000, keepAliveTimeout: 5_000, maxHeaderSize: 8_192 };
  const server = createServer({ ...limits, connectionsCheckingInterval: 1_000 }, (request, response) => {
    if (isAlone(request, response)) void send(sources, request, response);
  });
  server.maxConnections = 64;
  await once(server.listen({ ...endpoint }), "listening");
  const { address, port } = server.address() as AddressInfo;
  const url = `http://${authorityOf({ host: address, port })}`;
  if (!isLoopback(endpoint.host)) {
    const message =
      "the admin listener is unauthenticated and reachable from other machines: bind it to a loopback or private address";
    sources.log.warn({ admin: url }, message);
  }
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url, close };
}

async function send(sources: AdminSources, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let answer: AdminAnswer;
  try {
    answer = await answerOf(sources, request);
  } catch (error) {
    sources.log.error({ err: error }, "answering a request to the admin listener failed");
    answer = { status: 500, text: "internal error\n" };
  }
  response.writeHead(answer.status, {
    "content-type": answer.type ?? PLAIN,
    "content-length": Buffer.byteLength(answer.text),
    "cache-control": "no-store",
    ...(answer.status === 405 && { allow: "GET, HEAD" }),
    // Closes the connection instead of reading the rest of an invalid request.
    ...(answer.status >= 400 && answer.status !== 503 && { connection: "close" }),
  });
  response.end(request.method === "HEAD" ? undefined : answer.text);
}

async function answerOf(sources: AdminSources, request: IncomingMessage): Promise<AdminAnswer> {
  if (!isOwnHost(request)) return { status: 403, text: "expected an IP address or localhost as Host\n" };
  const { method, url = "" } = request;
  const [path] = url.split("?", 1);
  if (path !== "/livez" && path !== "/readyz" && path !== "/metrics") return { status: 404, text: "not found\n" };
  if (method !== "GET" && method !== "HEAD") return { status: 405, text: "method not allowed\n" };
  if (path === "/livez") return { status: 200, text: "ok\n" };
  if (path === "/readyz") return readinessOf(sources);
  const { metrics } = sources;
  if (metrics === undefined) return { status: 501, text: `${NO_METRICS}\n` };
  return { status: 200, type: metrics.contentType, text: await metrics.text() };
}

/**
 * Whether a request over loopback names this machine. A web page can make its own name resolve to a loopback address,
 * and could then read the metrics in the browser of an operator.
 */
function isOwnHost({ headers: { host }, socket: { localAddress = "" } }: IncomingMessage): boolean {
  if (host === undefined || !isLoopback(localAddress)) return true;
  const [, six, name = ""] = /^(?:\[(.*)\]|([^:]*))(?::\d*)?$/.exec(host) ?? [];
  return isIP(six ?? name) !== 0 || name.toLowerCase() === "localhost";
}

function readinessOf({ readiness: { unready } }: AdminSources): AdminAnswer {
  return unready === undefined ? { status: 200, text: "ready\n" } : { status: 503, text: `not ready: ${unready}\n` };
}

/**
 * Whether a request is the only one on its connection; otherwise closes the connection. Probes do not pipeline, but a
 * chunk of 64 KiB can contain 1,900 requests for metrics that take a millisecond each.
 */
function isAlone({ socket }: IncomingMessage, { socket: assigned }: ServerResponse): boolean {
  if (assigned === null) socket.destroy();
  return !socket.destroyed;
}
