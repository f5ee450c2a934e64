/** One HTTP request on a connection of its own, with the times of its phases and both sides' headers as they were. */

import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { performance } from "node:perf_hooks";
import type { TlsOptions } from "svc-runtime/leader";

export type Header = readonly [name: string, value: string];

export interface WireRequest {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
  readonly timeoutMs: number;
  readonly tls?: TlsOptions | undefined;
}

export interface WireExchange {
  readonly line: string;
  readonly headers: readonly Header[];
  readonly phases: readonly { readonly name: string; readonly ms: number }[];
  readonly response?: { readonly status: number; readonly headers: readonly Header[]; readonly body: Buffer };
  readonly failure?: string;
}

/** Limit of an answer, in bytes. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Sends a request. A failure of the connection is part of the exchange. */
export async function exchange(wanted: WireRequest): Promise<WireExchange> {
  const { method, url, body, tls, timeoutMs } = wanted;
  const headers: Header[] = [
    ["Host", url.host],
    ...wanted.headers,
    ...(method === "POST" ? [["Content-Length", String(body.length)] as const] : []),
    ["Connection", "close"],
  ];
  const line = `${method} ${url.pathname} HTTP/1.1`;
  const clock = new Phases();
  const options = { method, agent: false, headers: headers.flat(), ...tls } as RequestOptions;
  const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, options);
  let late: NodeJS.ErrnoException | undefined;
  const timer = setTimeout(() => {
    late = new Error(`no whole answer within ${timeoutMs} ms`);
    request.destroy(late);
  }, timeoutMs);
  request.once("socket", (socket) => {
    socket.once("connect", () => clock.end("connect"));
    socket.once("secureConnect", () => clock.end("TLS"));
  });
  request.once("finish", () => clock.end("send"));
  const done = { line, headers, phases: clock.list };
  try {
    const answered = answerTo(request);
    request.end(body);
    const response = await answered;
    clock.end("wait");
    const bytes = await readAll(response);
    clock.end("receive");
    return {
      ...done,
      response: { status: response.statusCode ?? 0, headers: pairs(response.rawHeaders), body: bytes },
    };
  } catch (error) {
    // An answer that has begun fails with "aborted", whatever ended it.
    const { code, message } = late ?? (error as NodeJS.ErrnoException);
    return { ...done, failure: code === undefined || message.includes(code) ? message : `${code}: ${message}` };
  } finally {
    clearTimeout(timer);
    request.destroy();
  }
}

type Request = ReturnType<typeof httpRequest>;

function answerTo(request: Request): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    request.on("error", reject);
    request.once("close", () => reject(new Error("the connection ended before the answer did")));
  });
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += (chunk as Buffer).length;
    if (size > MAX_ANSWER_BYTES) throw new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

function pairs(raw: readonly string[]): Header[] {
  return raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1] ?? ""] as const] : []));
}

/** Durations between events, in milliseconds. */
class Phases {
  readonly list: { name: string; ms: number }[] = [];
  #last = performance.now();

  end(name: string): void {
    const now = performance.now();
    this.list.push({ name, ms: Math.round((now - this.#last) * 100) / 100 });
    this.#last = now;
  }
}
