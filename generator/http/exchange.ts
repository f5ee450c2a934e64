/**
 * One HTTP request on a new connection, with the duration of each phase and the raw headers of both sides. `fetch`
 * hides the connection, the certificate and the case of header names, and follows redirects.
 */

import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { performance } from "node:perf_hooks";
import type { PeerCertificate, TLSSocket } from "node:tls";
import type { TlsOptions } from "svc-runtime/leader";

export type Header = readonly [name: string, value: string];

export interface ExchangeRequest {
  readonly method: "GET" | "HEAD" | "POST";
  readonly url: URL;
  readonly headers?: readonly Header[];
  readonly body?: Uint8Array;
  /** `Content-Length` to send without a body, with `Expect: 100-continue`. */
  readonly announced?: number | undefined;
  readonly timeoutMs: number;
  readonly tls?: (TlsOptions & { readonly rejectUnauthorized?: boolean }) | undefined;
  /** Whether to return the part of a body that arrived before the connection ended or the limit was reached. */
  readonly acceptsPart?: boolean;
}

export interface ExchangeResponse {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: Buffer;
  readonly tls: { readonly protocol: string; readonly certificate: PeerCertificate } | undefined;
}

export interface ExchangeFailure {
  /** The code of Node.js or OpenSSL, `timeout`, or `unknown`. */
  readonly code: string;
  /** Node's message, followed by the code if it is not part of it. */
  readonly message: string;
}

export interface HttpExchange {
  readonly line: string;
  readonly headers: readonly Header[];
  readonly phases: readonly { readonly name: string; readonly ms: number }[];
  readonly response?: ExchangeResponse;
  readonly failure?: ExchangeFailure;
  /** Whether the server asked for the announced body. */
  readonly continued?: boolean;
}

/** Maximum size of a response body, in bytes. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Sends a request. Never rejects: a failed connection is reported in the exchange. */
export async function exchange(wanted: ExchangeRequest): Promise<HttpExchange> {
  const { method, url, body, announced = body?.length, tls, timeoutMs } = wanted;
  const headers: Header[] = [
    ["Host", url.host],
    ...(wanted.headers ?? []),
    ...(announced === undefined ? [] : [["Content-Length", String(announced)] as const]),
    ...(wanted.announced === undefined ? [] : [["Expect", "100-continue"] as const]),
    ["Connection", "close"],
  ];
  const clock = new Phases();
  const done = { line: `${method} ${url.pathname} HTTP/1.1`, headers, phases: clock.list };
  const options = { method, agent: false, headers: headers.flat(), minVersion: "TLSv1.2", ...tls } as RequestOptions;
  const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, options);
  let late: Error | undefined;
  const timer = setTimeout(() => {
    late = new Error(`the answer was not complete within ${timeoutMs} ms`);
    request.destroy(late);
  }, timeoutMs);
  request.once("socket", (socket) => {
    socket.once("connect", () => clock.end("connect"));
    socket.once("secureConnect", () => clock.end("TLS"));
  });
  request.once("finish", () => clock.end("send"));
  let continued = false;
  request.once("continue", () => {
    continued = true;
  });
  const chunks: Buffer[] = [];
  let response: Omit<ExchangeResponse, "body"> | undefined;
  try {
    const answered = answerTo(request);
    if (wanted.announced === undefined) request.end(body);
    else request.flushHeaders();
    const message = await answered;
    clock.end("wait");
    response = headOf(message);
    await readAll(message, chunks);
    clock.end("receive");
    return { ...done, response: { ...response, body: Buffer.concat(chunks) } };
  } catch (error) {
    if (wanted.acceptsPart && response !== undefined && late === undefined) {
      return { ...done, response: { ...response, body: Buffer.concat(chunks) } };
    }
    // A destroyed response fails with "aborted" instead of the error that destroyed it.
    if (late !== undefined) return { ...done, failure: { code: "timeout", message: late.message }, continued };
    const { code, message } = error as NodeJS.ErrnoException;
    const text = code === undefined || message.includes(code) ? message : `${code}: ${message}`;
    return { ...done, failure: { code: code ?? "unknown", message: text } };
  } finally {
    clearTimeout(timer);
    request.destroy();
  }
}

export function headerOf({ headers }: Pick<ExchangeResponse, "headers">, name: string): string | undefined {
  return headers.find(([each]) => each.toLowerCase() === name.toLowerCase())?.[1];
}

function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    request.on("error", reject);
    request.once("close", () => reject(new Error("the connection closed before the answer was complete")));
  });
}

function headOf({ statusCode = 0, rawHeaders, socket }: IncomingMessage): Omit<ExchangeResponse, "body"> {
  const tls = "encrypted" in socket ? (socket as TLSSocket) : undefined;
  return {
    status: statusCode,
    headers: rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name, rawHeaders[i + 1] ?? ""] as const] : [])),
    tls: tls && { protocol: tls.getProtocol() ?? "unknown", certificate: tls.getPeerCertificate() },
  };
}

async function readAll(message: IncomingMessage, chunks: Buffer[]): Promise<void> {
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error(`the answer is larger than ${MAX_BODY_BYTES} bytes`);
  }
}

/** Milliseconds between events. */
class Phases {
  readonly list: { name: string; ms: number }[] = [];
  #last = performance.now();

  end(name: string): void {
    const now = performance.now();
    this.list.push({ name, ms: Math.round((now - this.#last) * 100) / 100 });
    this.#last = now;
  }
}
