/** HTTP client with limits of time and size. Certificates are checked by the rules of node:https. */

import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { MAX_TIMER_MS } from "../storage/deadline.js";
import { LeaderError } from "./error.js";

/** TLS options of a client. */
export interface TlsOptions {
  /** Trusted certificates in PEM form, instead of the system's. */
  readonly ca?: string | Buffer | readonly (string | Buffer)[];
  /** The server name to request and verify, by default the host of the URL. */
  readonly servername?: string;
}

/** A request. */
export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether the request may be sent twice, so that it is retried when a kept connection turns out to be closed. */
  readonly idempotent: boolean;
}

/** A complete response. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; repeated headers are joined by the rules of node:http. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Client of one server, with kept connections. */
export class HttpClient {
  private readonly agent: HttpAgent;

  constructor(
    private readonly secure: boolean,
    { ca, servername }: TlsOptions = {},
  ) {
    this.agent = secure
      ? new HttpsAgent({
          keepAlive: true,
          minVersion: "TLSv1.2",
          ...(ca !== undefined && { ca: Array.isArray(ca) ? [...ca] : (ca as string | Buffer) }),
          ...(servername !== undefined && { servername }),
        })
      : new HttpAgent({ keepAlive: true });
  }

  /** @throws {@link LeaderError} `connection_failed`, `timeout`, `aborted`, `answer_too_large` */
  send(options: HttpRequest): Promise<HttpResponse> {
    return this.attempt(options, performance.now() + options.timeoutMs);
  }

  close(): void {
    this.agent.destroy();
  }

  private describe({ code, message }: NodeJS.ErrnoException): string {
    const isPlain = this.secure && /wrong version number|packet length too long/i.test(message);
    const what = code ?? "the connection broke";
    return isPlain ? `${what}: the server answers without TLS: use http:// in the url, or the server's TLS port` : what;
  }

  private closeIdle(): void {
    for (const sockets of Object.values(this.agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }

  private attempt(options: HttpRequest, deadline: number): Promise<HttpResponse> {
    const { method, url, headers, body, timeoutMs, maxBytes, signal, idempotent } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(aborted(signal));
        return;
      }
      let responded = false;
      let settled = false;
      const length = body === undefined ? {} : { "Content-Length": String(body.length) };
      const request = (this.secure ? httpsRequest : httpRequest)(url, {
        method,
        headers: { ...headers, ...length },
        agent: this.agent,
      });
      const end = () => {
        settled = true;
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      };
      const fail = (error: LeaderError) => {
        end();
        reject(error);
        request.destroy();
      };
      const onAbort = () => fail(aborted(signal));
      const late = () => fail(new LeaderError("timeout", `no whole answer within ${timeoutMs} ms`));
      const timer = setTimeout(late, Math.min(Math.max(0, deadline - performance.now()), MAX_TIMER_MS));
      signal?.addEventListener("abort", onAbort, { once: true });
      request.on("error", (error: NodeJS.ErrnoException) => {
        if (settled) return;
        // The server closed an idle connection as it was used again, and probably the other idle ones too.
        if (idempotent && !responded && request.reusedSocket && STALE_CODES.has(error.code ?? "")) {
          end();
          this.closeIdle();
          resolve(this.attempt({ ...options, idempotent: false }, deadline));
          return;
        }
        fail(new LeaderError("connection_failed", this.describe(error), { cause: error }));
      });
      request.once("response", (response) => {
        responded = true;
        collect(response, maxBytes).then((answer) => {
          end();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: answer });
        }, fail);
      });
      request.end(body);
    });
  }
}

const STALE_CODES: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

function aborted(signal: AbortSignal | undefined): LeaderError {
  return new LeaderError("aborted", "the caller's signal fired", { cause: signal?.reason });
}

function collect(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) reject(new LeaderError("answer_too_large", `the answer is limited to ${maxBytes} bytes`));
      else chunks.push(chunk);
    });
    response.once("end", () => resolve(Buffer.concat(chunks, size)));
    response.once("error", (cause) => reject(connectionLost(cause)));
    response.once("close", () => reject(connectionLost(undefined)));
  });
}

function connectionLost(cause: unknown): LeaderError {
  return new LeaderError("connection_failed", "the connection ended before the answer did", { cause });
}
