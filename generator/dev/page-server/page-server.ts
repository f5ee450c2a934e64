/**
 * The HTTP server of the development page: its files, a few JSON endpoints, and the state as server-sent events. It
 * listens on 127.0.0.1 only, and answers its own page only (request-guard.ts).
 */

import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { type Asset, CONTENT_SECURITY_POLICY, readAssets } from "./assets.js";
import { PageFault } from "./page-fault.js";
import { RequestGuard } from "./request-guard.js";

/** The endpoints: a name, and what answers its POST with JSON. */
export type Endpoints = Readonly<Record<string, (given: never) => unknown>>;

/** Bytes that wait for a page that does not read them; it is cut then, and gets the whole state when it comes back. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** Bytes of a request of the page: twice the largest input, as JSON text. */
const MAX_REQUEST_BYTES = 32 * 1024 * 1024;

const HEADERS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": CONTENT_SECURITY_POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

export class PageServer {
  /** The address of the page, with its token and a trailing slash. */
  url = "";
  private readonly server: Server;
  private readonly streams = new Set<ServerResponse>();
  private guard: RequestGuard | undefined;
  private assets: ReadonlyMap<string, Asset> | undefined;

  /**
   * @param endpoints by name, called as `POST /TOKEN/api/NAME`
   * @param first the events for a page that has just been opened
   */
  constructor(
    private readonly endpoints: Endpoints,
    private readonly first: () => readonly (readonly [event: string, data: unknown])[],
  ) {
    this.server = createServer((request, response) => void this.answer(request, response));
  }

  /** Listens on a port that the system chooses. */
  async listen(): Promise<void> {
    const token = randomBytes(24).toString("base64url");
    await new Promise<void>((listening, failed) => {
      this.server.once("error", failed);
      this.server.listen(0, "127.0.0.1", listening);
    });
    const address = this.server.address();
    const host = `127.0.0.1:${typeof address === "object" && address !== null ? address.port : ""}`;
    this.guard = new RequestGuard(host, token);
    this.url = `http://${host}/${token}/`;
  }

  /** Sends an event to every open page. */
  send(event: string, data: unknown): void {
    for (const stream of this.streams) writeEvent(stream, event, data);
  }

  async close(): Promise<void> {
    const closed = new Promise((done) => this.server.close(done));
    this.server.closeAllConnections();
    await closed;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const verdict = this.guard?.check(request);
      if (verdict === undefined || "status" in verdict) {
        reply(response, verdict?.status ?? 404, { error: verdict?.why ?? "not found" });
      } else if (request.method === "POST") {
        await this.call(verdict.path, request, response);
      } else if (verdict.path === "/api/events") {
        this.open(response);
      } else {
        this.file(verdict.path, response);
      }
    } catch (error) {
      // A defect of the page must not end the server of the tools.
      const isFault = error instanceof PageFault || error instanceof SyntaxError;
      const message = error instanceof Error ? error.message : "failed";
      if (!response.headersSent) reply(response, isFault ? 400 : 500, { error: message });
      response.end();
    }
  }

  private async call(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = /^\/api\/([a-z]+)$/.exec(path)?.[1] ?? "";
    if (!Object.hasOwn(this.endpoints, name)) return reply(response, 404, { error: "not found" });
    if (request.headers["content-type"] !== "application/json") return reply(response, 415, { error: "JSON only" });
    if (!(Number(request.headers["content-length"]) <= MAX_REQUEST_BYTES)) {
      return reply(response, 413, { error: `at most ${MAX_REQUEST_BYTES} bytes` });
    }
    const run = this.endpoints[name] as (given: unknown) => unknown;
    const given = await json(request);
    if (typeof given !== "object" || given === null) return reply(response, 400, { error: "a JSON object only" });
    reply(response, 200, (await run(given)) ?? null);
  }

  private file(path: string, response: ServerResponse): void {
    this.assets ??= readAssets();
    const asset = this.assets.get(path);
    if (asset === undefined) reply(response, 404, { error: "not found" });
    else {
      const headers = { ...HEADERS, "Content-Type": asset.type, "Content-Encoding": "gzip" };
      response.writeHead(200, headers).end(asset.gzip);
    }
  }

  private open(response: ServerResponse): void {
    response.writeHead(200, { ...HEADERS, "Content-Type": "text/event-stream" });
    for (const [event, data] of this.first()) writeEvent(response, event, data);
    this.streams.add(response);
    response.once("close", () => this.streams.delete(response));
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
