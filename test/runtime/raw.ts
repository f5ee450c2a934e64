/** A client on a bare socket: what it sends is what is on the wire, byte for byte, and nothing is hidden of the answer. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket, type TcpNetConnectOpts } from "node:net";
// Not the global ones, which a test may have replaced.
import { clearTimeout, setTimeout } from "node:timers";
import { atEnd } from "../teardown.js";

/** One answer as it came. */
export interface RawResponse {
  readonly status: number;
  readonly reason: string;
  /** By lower-case name; a repeated one is joined by a comma. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** The `error` and `details` of an error body, which holds nothing else. */
export interface ErrorBody {
  readonly error: string;
  readonly details?: string;
}

/** Bounds a wait in vain. Far above what any answer takes on a busy machine, so no verdict depends on it. */
const PATIENCE_MS = 60_000;

/** A socket to a server, connected or about to be; destroyed at the end of the test file. Ignores errors. */
export function openSocket(url: string, options: Partial<TcpNetConnectOpts> = {}): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port), ...options });
  const forget = atEnd(() => socket.destroy());
  return socket.on("error", () => {}).once("close", forget);
}

/** Writes a text every so often until the socket closes or the returned function is called. */
export function drip(socket: Socket, text: string, intervalMs: number): () => void {
  const timer = setInterval(() => socket.write(text), intervalMs);
  const stop = () => clearInterval(timer);
  socket.once("close", stop);
  return stop;
}

/**
 * The URL of a port where nothing listens. A connection of the test has it as its own end, so that nothing else takes it.
 */
export async function refusingUrl(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = openSocket(`http://127.0.0.1:${port}`);
  atEnd(() => server.close());
  await once(socket, "connect");
  return `http://127.0.0.1:${socket.localPort}`;
}

/** A connection that is open until it is closed, by either side. */
export class RawConnection {
  #received = Buffer.alloc(0);
  #ended = false;
  #wake: (() => void) | undefined;

  private constructor(readonly socket: Socket) {
    const progress = () => this.#wake?.();
    socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      progress();
    });
    socket.on("close", () => {
      this.#ended = true;
      progress();
    });
  }

  static async open(url: string): Promise<RawConnection> {
    const socket = openSocket(url);
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new RawConnection(socket);
  }

  /** A connection over a socket that is connected, such as one with TLS. */
  static over(socket: Socket): RawConnection {
    return new RawConnection(socket);
  }

  send(bytes: string | Uint8Array): this {
    this.socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
    return this;
  }

  /** The next answer, interim ones (1xx) included. Fails when the connection ends without one. */
  async response(method = "GET"): Promise<RawResponse> {
    for (;;) {
      const head = this.#received.indexOf("\r\n\r\n");
      if (head !== -1) {
        const response = this.#parse(head, method);
        if (response !== undefined) return response;
      }
      assert.ok(!this.#ended, `the connection ended without an answer: ${JSON.stringify(this.#received.toString())}`);
      await this.#progress();
    }
  }

  /** Resolves when the server has closed the connection; gives what came before that and was not read. */
  async closed(): Promise<Buffer> {
    while (!this.#ended) await this.#progress();
    return this.#received;
  }

  /** What has come and was not read. */
  get unread(): Buffer {
    return this.#received;
  }

  close(): void {
    this.socket.destroy();
  }

  #progress(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`nothing came for ${PATIENCE_MS} ms`)), PATIENCE_MS).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #parse(head: number, method: string): RawResponse | undefined {
    const [statusLine = "", ...lines] = this.#received.subarray(0, head).toString("latin1").split("\r\n");
    const [, status, reason] =
      /^HTTP\/1\.1 (\d{3}) (.*)$/.exec(statusLine) ?? assert.fail(`status line: ${statusLine}`);
    const headers = new Map<string, string>();
    for (const line of lines) {
      const colon = line.indexOf(":");
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 1).trim();
      headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value);
    }
    const bare = Number(status) < 200 || Number(status) === 204 || Number(status) === 304 || method === "HEAD";
    const length = bare ? 0 : Number(headers.get("content-length") ?? assert.fail("an answer without Content-Length"));
    const end = head + 4 + length;
    if (this.#received.length < end) return undefined;
    const body = this.#received.subarray(head + 4, end);
    this.#received = this.#received.subarray(end);
    return { status: Number(status), reason: reason as string, headers, body };
  }
}

/** Sends one request on a connection of its own and gives the answer. */
export async function exchange(url: string, bytes: string | Uint8Array, method = "GET"): Promise<RawResponse> {
  const connection = await RawConnection.open(url);
  try {
    return await connection.send(bytes).response(method);
  } finally {
    connection.close();
  }
}

/** A request as text: start line, headers in this order, body. `Host` comes first unless `headers` has one. */
export function requestText(
  method: string,
  path: string,
  headers: readonly (readonly [name: string, value: string])[] = [],
  body: string | Uint8Array = "",
): Buffer {
  const host = headers.some(([name]) => name.toLowerCase() === "host") ? [] : [["Host", "localhost"]];
  const lines = [...host, ...headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines}\r\n`, "latin1"), Buffer.from(body)]);
}

/**
 * Checks that an answer is an error as the protocol says: `{"error":code,"details"?:text}` as `application/json`
 * without parameters, never signed, with nothing of the server's software in it.
 *
 * @returns its details
 */
export function expectError(response: RawResponse, status: number, code: string): string | undefined {
  const text = response.body.toString();
  assert.equal(response.status, status, text);
  assert.equal(response.headers.get("content-type"), "application/json");
  const body = JSON.parse(text) as ErrorBody;
  const expected = body.details === undefined ? { error: code } : { error: code, details: body.details };
  assert.equal(text, JSON.stringify(expected));
  assert.match(response.headers.get("x-request-id") ?? "", /^[\w.:=+/@-]{1,64}$/, "an error has a request id");
  assert.equal(response.headers.get("cache-control"), "no-store");
  for (const name of response.headers.keys()) {
    if (name.endsWith("-replay-memory") || name === "x-request-id") continue;
    assert.doesNotMatch(name, /^x-|^server$/, "an error carries no other header of the protocol or the software");
  }
  const retryAfter = response.headers.get("retry-after");
  if (status === 429) assert.match(retryAfter ?? "", /^[1-9][0-9]*$/);
  else assert.equal(retryAfter, status === 503 ? "1" : undefined);
  assert.doesNotMatch(text, /canary|\bat .*:\d+:\d+|node_modules|\.[jt]s\b/i, "nothing leaks");
  return body.details;
}
