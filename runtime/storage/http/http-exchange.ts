/**
 * One HTTP exchange with a publisher or an aggregator, over node:http and node:https.
 *
 * Not `fetch`, which reports neither the connection nor the progress of a body, has time limits (300 s) that only the
 * undici package can change, and follows redirects and decompresses. Here each step has a deadline, the body is sent in
 * slices of the caller's bytes, and the answer is read chunk by chunk, so memory does not depend on the server. Every
 * exchange uses a new connection: after a failure on a stale connection, it would be unknown whether a PUT was
 * processed.
 */

import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { retryAfterOf } from "svc-client/internal/leader/waiting";
import type { Deadline, Deadlines } from "../deadline.js";
import { StorageError, type StorageErrorFacts, type StorageFault, systemCode } from "../storage-error.js";
import type { Endpoint } from "./endpoint.js";

export interface ExchangeOptions {
  readonly endpoint: Endpoint;
  readonly method: "GET" | "PUT";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly deadlines: Deadlines;
  readonly deadline: Deadline;
}

/** Size of a slice of the body, in bytes. */
const SLICE = 128 * 1024;

/** A response with status 200 whose body has not been read. */
export interface ResponseStream {
  /** Declared length of the body, in bytes. */
  readonly length: number | undefined;
  /** The body. If it is not read, the connection closes at the deadline. */
  readonly chunks: AsyncGenerator<Buffer, void>;
}

/**
 * Sends a request and returns a successful response, whose body is still unread.
 *
 * In an error, `paid` tells whether the request may have been processed, which is possible only after the last byte of
 * its body.
 *
 * @throws {@link StorageError} `connect_timeout`, `progress_timeout`, `total_timeout`, `aborted`, `connection_failed`,
 * `redirected`, `refused`, `not_found`, `answer_invalid`
 */
export async function exchange(options: ExchangeOptions): Promise<ResponseStream> {
  const { endpoint, method, path, query, body, deadline } = options;
  const headers = await deadline.race(endpoint.headers());
  headers["accept-encoding"] = "identity";
  if (body !== undefined) {
    headers["content-type"] = "application/octet-stream";
    headers["content-length"] = body.length;
  }
  return new Exchange(options).run(() =>
    (endpoint.secure ? httpsRequest : httpRequest)(endpoint.address(path, query), {
      method,
      headers,
      agent: false,
      ...(endpoint.secure && { minVersion: "TLSv1.2", ...(endpoint.ca !== undefined && { ca: endpoint.ca }) }),
    }),
  );
}

type ClientRequest = ReturnType<typeof httpRequest>;

class Exchange {
  #timer: NodeJS.Timeout | undefined;
  #wholeBodySent = false;
  #failure: StorageError | undefined;
  #request: ClientRequest | undefined;
  #rejectHead: ((error: StorageError) => void) | undefined;
  readonly #onAbort = () => this.#fail(this.#options.deadline.signal.reason as StorageError);

  readonly #options: ExchangeOptions;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  run(open: () => ClientRequest): Promise<ResponseStream> {
    const { endpoint, body, deadlines, deadline } = this.#options;
    return new Promise((resolve, reject) => {
      this.#rejectHead = reject;
      deadline.signal.addEventListener("abort", this.#onAbort, { once: true });
      this.#startTimer("connect_timeout", deadlines.connectMs, "no connection");
      let request: ClientRequest;
      try {
        request = open();
      } catch {
        this.#fail(this.#error("connection_failed", "the request could not be made"));
        return;
      }
      this.#request = request;
      request.on("error", (error: NodeJS.ErrnoException) => this.#fail(this.#connectionError(error)));
      request.once("socket", (socket) => {
        socket.once(endpoint.secure ? "secureConnect" : "connect", () => {
          clearTimeout(this.#timer);
          if (body === undefined) return;
          void this.#send(request, body);
        });
      });
      request.once("response", (response) => this.#onResponse(response, resolve));
      if (body === undefined) request.end();
      else request.flushHeaders();
    });
  }

  #onResponse(response: IncomingMessage, resolve: (answer: ResponseStream) => void): void {
    clearTimeout(this.#timer);
    const statusError = this.#statusError(response);
    if (statusError !== undefined) {
      this.#fail(statusError);
      return;
    }
    this.#rejectHead = undefined;
    const declared = response.headers["content-length"];
    resolve({ length: declared === undefined ? undefined : Number(declared), chunks: this.#read(response) });
  }

  async #send(request: ClientRequest, body: Uint8Array): Promise<void> {
    const { deadlines } = this.#options;
    for (let at = 0; at < body.length; at += SLICE) {
      const slice = body.subarray(at, at + SLICE);
      const last = at + SLICE >= body.length;
      this.#startTimer("progress_timeout", deadlines.progressMs, "no part of the content was accepted");
      const taken = await new Promise<boolean>((resolve) => {
        const done = (error?: Error | null) => resolve(error === undefined || error === null);
        if (last) {
          this.#wholeBodySent = true;
          request.end(slice, done);
        } else request.write(slice, done);
      });
      // Stop sending after an early answer or a failure.
      if (!taken || this.#rejectHead === undefined || this.#failure !== undefined) return;
      clearTimeout(this.#timer);
    }
  }

  async *#read(response: IncomingMessage): AsyncGenerator<Buffer, void> {
    const iterator = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    try {
      for (;;) {
        this.#startTimer("progress_timeout", this.#options.deadlines.progressMs, "no part of the answer arrived");
        const next = await iterator.next();
        clearTimeout(this.#timer);
        if (this.#failure !== undefined) throw this.#failure;
        if (next.done) break;
        yield next.value;
      }
      if (!response.complete) throw this.#connectionError(undefined);
    } catch (error) {
      throw this.#failure ?? (error instanceof StorageError ? error : this.#connectionError(error));
    } finally {
      this.#close();
    }
  }

  #statusError(response: IncomingMessage): StorageError | undefined {
    const status = response.statusCode ?? 0;
    if (status === 200) {
      const encoding = response.headers["content-encoding"];
      if (encoding === undefined || encoding === "identity") return undefined;
      return this.#error("answer_invalid", "expected an answer without content encoding");
    }
    const after = retryAfterOf(response.headers);
    const facts = { status, retryAfterMs: after && after * 1_000 };
    if (status >= 300 && status < 400) {
      const paid = { ...facts, paid: "no" } as const;
      return this.#error("redirected", `answered ${status}: redirects are not followed: configure the final URL`, paid);
    }
    if (status === 404 && this.#options.method === "GET") {
      return this.#error("not_found", "answered 404: it does not have the blob", facts);
    }
    // A server that answers 4xx did not process the request; a 5xx may come from a gateway in front of a server that
    // did.
    const paid = status >= 400 && status < 500 ? ({ ...facts, paid: "no" } as const) : facts;
    return this.#error("refused", `answered ${status}, expected 200`, paid);
  }

  #startTimer(code: StorageFault, ms: number, what: string): void {
    clearTimeout(this.#timer);
    if (this.#failure !== undefined) return;
    this.#timer = setTimeout(() => this.#fail(this.#error(code, `${what} within ${ms} ms`)), ms);
  }

  #connectionError(error: unknown): StorageError {
    return this.#error(
      "connection_failed",
      `the connection failed or ended before the answer was complete${systemCode(error)}`,
    );
  }

  #error(code: StorageFault, message: string, facts: StorageErrorFacts = {}): StorageError {
    const paid = this.#options.method === "PUT" && this.#wholeBodySent ? "maybe" : "no";
    return new StorageError(code, `${this.#options.endpoint.role}: ${message}`, { paid, ...facts });
  }

  #fail(error: StorageError): void {
    if (this.#failure !== undefined) return;
    const paid = this.#options.method === "PUT" && this.#wholeBodySent && error.paid === "no" ? "maybe" : error.paid;
    this.#failure = error.status === undefined ? error.with({ paid }) : error;
    this.#close();
    this.#rejectHead?.(this.#failure);
    this.#rejectHead = undefined;
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#options.deadline.signal.removeEventListener("abort", this.#onAbort);
    this.#request?.destroy();
  }
}

/** Reads a body of unknown length into memory. Throws `tooLong()` above `limit` bytes. */
export async function readBody(
  chunks: ResponseStream["chunks"],
  limit: number,
  tooLong: () => StorageError,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limit) throw tooLong();
    parts.push(chunk);
  }
  return Buffer.concat(parts, size);
}
