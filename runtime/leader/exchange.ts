/** One HTTP exchange with limits on time and size; certificates are checked as node:https does. */

import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { LeaderError } from "./error.js";

/** How a client reaches a server over TLS. */
export interface TlsOptions {
  /** Certificates in PEM form to trust instead of the system's. */
  readonly ca?: string | Buffer | readonly (string | Buffer)[];
  /** The name to ask for and to check, where it is not that of the URL. */
  readonly servername?: string;
}

/** What is sent. */
export interface Outgoing {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether sending it twice is the same as sending it once: then a connection that had gone stale is replaced. */
  readonly repeatable: boolean;
}

/** What came back. */
export interface Incoming {
  readonly status: number;
  /** Names in lower case, repeated ones joined as node:http does. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Connections to one server, kept alive. */
export class Connections {
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
  exchange(outgoing: Outgoing): Promise<Incoming> {
    return this.attempt(outgoing, performance.now() + outgoing.timeoutMs);
  }

  close(): void {
    this.agent.destroy();
  }

  private closeIdle(): void {
    for (const sockets of Object.values(this.agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }

  private attempt(outgoing: Outgoing, deadline: number): Promise<Incoming> {
    const { method, url, headers, body, timeoutMs, maxBytes, signal, repeatable } = outgoing;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(aborted(signal));
        return;
      }
      let answering = false;
      let over = false;
      const length = body === undefined ? {} : { "Content-Length": String(body.length) };
      const request = (this.secure ? httpsRequest : httpRequest)(url, {
        method,
        headers: { ...headers, ...length },
        agent: this.agent,
      });
      const end = () => {
        over = true;
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
        if (over) return;
        // The server closed an idle connection just as it was used again; it has hardly kept the others.
        if (repeatable && !answering && request.reusedSocket && STALE.has(error.code ?? "")) {
          end();
          this.closeIdle();
          resolve(this.attempt({ ...outgoing, repeatable: false }, deadline));
          return;
        }
        fail(new LeaderError("connection_failed", error.code ?? "the connection broke", { cause: error }));
      });
      request.once("response", (response) => {
        answering = true;
        collect(response, maxBytes).then((answer) => {
          end();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: answer });
        }, fail);
      });
      request.end(body);
    });
  }
}

/** A timer that is set later fires at once. */
const MAX_TIMER_MS = 2_147_483_647;

const STALE: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

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
    response.once("error", (cause) => reject(broken(cause)));
    response.once("close", () => reject(broken(undefined)));
  });
}

function broken(cause: unknown): LeaderError {
  return new LeaderError("connection_failed", "the connection ended before the answer did", { cause });
}
