/**
 * HTTP server of the development page. Serves its files, JSON endpoints, the OpenAPI document, and the state as
 * server-sent events. Listens on 127.0.0.1 by default and only answers requests of its own page (request-guard.ts).
 */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { json } from "node:stream/consumers";
import { authorityOf } from "svc-runtime/internal/inspect";
import { CONTENT_SECURITY_POLICY, readAsset } from "./assets.js";
import { PageFault } from "./page-fault.js";
import { MCP_PATH, RequestGuard } from "./request-guard.js";

export type Endpoints = Readonly<Record<string, (given: never) => unknown>>;

/** Content of the server, except files. */
export interface PageContent {
  /** Functions behind `POST /TOKEN/api/NAME`. */
  readonly endpoints: Endpoints;
  /** Events that are sent to a newly opened page. */
  readonly events: () => readonly (readonly [event: string, data: unknown])[];
  /** Answer of `GET /TOKEN/api/served`: address of the project's server. The token identifies the process. */
  readonly served: () => object | null;
  /** OpenAPI document as JSON text; undefined while there is none. */
  readonly openApi: () => string | undefined;
  /** Answers MCP clients at `/TOKEN/mcp`. */
  readonly mcp?: ((request: IncomingMessage, response: ServerResponse) => Promise<void>) | undefined;
}

const LOOPBACK = "127.0.0.1";
/** Maximum number of bytes that a page has not read. With more, it is disconnected; a new connection gets all state. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** Maximum size of a request of the page: more than twice the largest input, which a request may contain twice. */
const MAX_REQUEST_BYTES = 32 * 1024 * 1024;

const HEADERS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": CONTENT_SECURITY_POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

export interface PageAddress {
  /** Host name or address of this machine. */
  readonly host?: string | undefined;
  readonly port: number;
  /** Whether it is an error if the port is taken; otherwise the system chooses another one. */
  readonly exact: boolean;
  /** First segment of every path: at least 32 random characters. */
  readonly token?: string;
}

export class PageServer {
  /** Address of the page, with its token and a trailing slash. */
  url = "";
  readonly #server: Server;
  readonly #streams = new Set<ServerResponse>();
  #guard: RequestGuard | undefined;

  readonly #content: PageContent;

  constructor(content: PageContent) {
    this.#content = content;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** @throws PageFault if a port with `exact` is taken; errors of Node's `listen` */
  async listen({ host, port, exact, token }: PageAddress = { port: 0, exact: true }): Promise<void> {
    const own = token ?? randomBytes(24).toString("base64url");
    try {
      await this.#bind(port, host);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EADDRINUSE" && code !== "EACCES") throw error;
      if (exact) throw new PageFault(`port ${port} of the page is not available (${code})`);
      await this.#bind(0, host);
    }
    const { port: bound, address } = this.#server.address() as AddressInfo;
    const isAny = address === "0.0.0.0" || address === "::";
    const shown = isAny ? LOOPBACK : (host ?? LOOPBACK);
    const authority = authorityOf({ host: shown, port: bound });
    this.#guard = new RequestGuard(host === undefined ? authority : { names: [hostname(), host] }, own);
    this.url = `http://${authority}/${own}/`;
  }

  async #bind(port: number, host = LOOPBACK): Promise<void> {
    this.#server.listen(port, host);
    await once(this.#server, "listening");
  }

  send(event: string, data: unknown): void {
    for (const stream of this.#streams) writeEvent(stream, event, data);
  }

  async close(): Promise<void> {
    const closed = new Promise((done) => this.#server.close(done));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const verdict = this.#guard?.check(request);
      if (verdict === undefined || "status" in verdict) {
        reply(response, verdict?.status ?? 404, { error: verdict?.why ?? "not found" });
      } else if (verdict.path === MCP_PATH && this.#content.mcp !== undefined) {
        await this.#content.mcp(request, response);
      } else if (request.method === "POST") {
        await this.#post(verdict.path, request, response);
      } else if (verdict.path === "/api/events") {
        this.#open(response);
      } else if (verdict.path === "/api/served") {
        reply(response, 200, this.#content.served());
      } else {
        this.#file(verdict.path, response);
      }
    } catch (error) {
      // An error of the page must not stop the development server.
      const isFault = error instanceof PageFault || error instanceof SyntaxError;
      const message = error instanceof Error ? error.message : "failed";
      if (!response.headersSent) reply(response, isFault ? 400 : 500, { error: message });
      response.end();
    }
  }

  async #post(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { "content-type": type, "content-length": length } = request.headers;
    if (type !== "application/json") return reply(response, 415, { error: "the request must be application/json" });
    if (!(Number(length) <= MAX_REQUEST_BYTES)) {
      return reply(response, 413, { error: `the request may have at most ${MAX_REQUEST_BYTES} bytes` });
    }
    const { endpoints } = this.#content;
    const name = /^\/api\/([a-z]+)$/.exec(path)?.[1] ?? "";
    if (!Object.hasOwn(endpoints, name)) return reply(response, 404, { error: "not found" });
    const run = endpoints[name] as (given: unknown) => unknown;
    const given = await json(request);
    if (typeof given !== "object" || given === null)
      return reply(response, 400, { error: "the request must be a JSON object" });
    reply(response, 200, (await run(given)) ?? null);
  }

  #file(path: string, response: ServerResponse): void {
    const asset = path === "/openapi.json" ? undefined : readAsset(path);
    const document = path === "/openapi.json" ? this.#content.openApi() : undefined;
    if (asset !== undefined) {
      response.writeHead(200, { ...HEADERS, "Content-Type": asset.type, "Content-Encoding": "gzip" }).end(asset.gzip);
    } else if (document !== undefined) {
      response.writeHead(200, { ...HEADERS, "Content-Type": "application/json" }).end(document);
    } else reply(response, 404, { error: path === "/openapi.json" ? "no server is running" : "not found" });
  }

  #open(response: ServerResponse): void {
    response.writeHead(200, { ...HEADERS, "Content-Type": "text/event-stream" });
    for (const [event, data] of this.#content.events()) writeEvent(response, event, data);
    this.#streams.add(response);
    response.once("close", () => this.#streams.delete(response));
  }
}

function writeEvent(stream: ServerResponse, event: string, data: unknown): void {
  if (stream.writableLength > MAX_WAITING_BYTES) {
    stream.destroy();
    return;
  }
  stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { ...HEADERS, "Content-Type": "application/json" }).end(JSON.stringify(body));
}
