/**
 * `#platform/http-client` in Node: node:http with limits of time and size. Certificates are checked by the rules of
 * node:https.
 */

import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { MAX_TIMER_MS } from "../storage/deadline.js";
import { asBuffer } from "../wire/bytes.js";
import { LeaderError } from "./error.js";
import {
  aborted,
  connectionLost,
  type HttpRequest,
  type HttpResponse,
  late,
  type TlsOptions,
  tooLarge,
} from "./http-messages.js";

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
          ...(ca !== undefined && {
            ca: [ca].flat().map((each) => (typeof each === "string" ? each : asBuffer(each))),
          }),
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
      const timer = setTimeout(
        () => fail(late(timeoutMs)),
        Math.min(Math.max(0, deadline - performance.now()), MAX_TIMER_MS),
      );
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

function collect(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) reject(tooLarge(maxBytes));
      else chunks.push(chunk);
    });
    response.once("end", () => resolve(Buffer.concat(chunks, size)));
    response.once("error", (cause) => reject(connectionLost(cause)));
    response.once("close", () => reject(connectionLost(undefined)));
  });
}
