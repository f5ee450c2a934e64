/**
 * One HTTP exchange with a publisher or an aggregator, over node:http and node:https.
 *
 * Not `fetch`: it shows neither when a connection is made nor how far a body is sent, its own limits (300 s) cannot be
 * set without the undici package, it follows redirects and decompresses. Here each step has its deadline, the body goes
 * out in slices of the caller's own bytes, and the answer is pulled chunk by chunk, so that memory does not depend on what
 * a server sends. Every exchange has a connection of its own: a PUT on a connection that had gone stale could not be told
 * from one that was processed.
 */

import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Deadline, Deadlines } from "./deadline.js";
import type { Endpoint } from "./endpoint.js";
import { StorageError, type StorageErrorFacts, type StorageFault } from "./storage-error.js";

/** What is sent. */
export interface Outgoing {
  readonly endpoint: Endpoint;
  readonly method: "GET" | "PUT";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly deadlines: Deadlines;
  readonly deadline: Deadline;
  /** Told after each slice that the system took. */
  readonly onSent?: ((sent: number) => void) | undefined;
}

/** Bytes handed to the system at once. */
const SLICE = 128 * 1024;

/** An answer with status 200, its body not yet read. */
export interface Answer {
  /** The declared length of the body in bytes. */
  readonly length: number | undefined;
  /** The body. Must be read to its end or returned from, which ends the connection. */
  readonly chunks: AsyncGenerator<Buffer, void>;
}

/**
 * Sends a request and gives the answer's head when it is a success.
 *
 * A failure says whether the request may have been carried out: a body that was not handed over to its last byte
 * cannot have been.
 *
 * @throws {@link StorageError} `connect_timeout`, `progress_timeout`, `total_timeout`, `aborted`, `connection_failed`,
 * `redirected`, `refused`, `not_found`, `answer_invalid`
 */
export async function exchange(outgoing: Outgoing): Promise<Answer> {
  const { endpoint, method, path, query, body, deadline } = outgoing;
  const headers = await deadline.race(endpoint.headers());
  headers["accept-encoding"] = "identity";
  if (body !== undefined) {
    headers["content-type"] = "application/octet-stream";
    headers["content-length"] = body.length;
  }
  return new Exchange(outgoing).run(() =>
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
  private timer: NodeJS.Timeout | undefined;
  private wholeBodySent = false;
  private failure: StorageError | undefined;
  private request: ClientRequest | undefined;
  private rejectHead: ((error: StorageError) => void) | undefined;
  private readonly onAbort = () => this.fail(this.outgoing.deadline.signal.reason as StorageError);

  constructor(private readonly outgoing: Outgoing) {}

  run(open: () => ClientRequest): Promise<Answer> {
    const { endpoint, body, deadlines, deadline } = this.outgoing;
    return new Promise((resolve, reject) => {
      this.rejectHead = reject;
      deadline.signal.addEventListener("abort", this.onAbort, { once: true });
      this.limit("connect_timeout", deadlines.connectMs, "no connection");
      let request: ClientRequest;
      try {
        request = open();
      } catch {
        this.fail(this.error("connection_failed", "the request could not be made"));
        return;
      }
      this.request = request;
      request.on("error", (error: NodeJS.ErrnoException) => this.fail(this.broken(error)));
      request.once("socket", (socket) => {
        socket.once(endpoint.secure ? "secureConnect" : "connect", () => {
          clearTimeout(this.timer);
          if (body === undefined) return;
          this.send(request, body).catch((error: unknown) => {
            // Thrown by the caller's progress callback: it is theirs, and ends the upload.
            this.fail(this.error("aborted", "the progress callback threw", { cause: error }));
          });
        });
      });
      request.once("response", (response) => this.answered(response, resolve));
      if (body === undefined) request.end();
      else request.flushHeaders();
    });
  }

  private answered(response: IncomingMessage, resolve: (answer: Answer) => void): void {
    clearTimeout(this.timer);
    const refusal = this.refusal(response);
    if (refusal !== undefined) {
      this.fail(refusal);
      return;
    }
    this.rejectHead = undefined;
    const declared = response.headers["content-length"];
    resolve({ length: declared === undefined ? undefined : Number(declared), chunks: this.read(response) });
  }

  private async send(request: ClientRequest, body: Uint8Array): Promise<void> {
    const { deadlines, onSent } = this.outgoing;
    for (let at = 0; at < body.length; at += SLICE) {
      const slice = body.subarray(at, at + SLICE);
      const last = at + SLICE >= body.length;
      this.limit("progress_timeout", deadlines.progressMs, "no part of the content was taken");
      const taken = await new Promise<boolean>((resolve) => {
        const done = (error?: Error | null) => resolve(error === undefined || error === null);
        if (last) {
          this.wholeBodySent = true;
          request.end(slice, done);
        } else request.write(slice, done);
      });
      // An early answer or a failure has taken over.
      if (!taken || this.rejectHead === undefined || this.failure !== undefined) return;
      clearTimeout(this.timer);
      onSent?.(at + slice.length);
    }
  }

  private async *read(response: IncomingMessage): AsyncGenerator<Buffer, void> {
    const iterator = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    try {
      for (;;) {
        this.limit("progress_timeout", this.outgoing.deadlines.progressMs, "no part of the answer came");
        const next = await iterator.next();
        clearTimeout(this.timer);
        if (this.failure !== undefined) throw this.failure;
        if (next.done) break;
        yield next.value;
      }
      if (!response.complete) throw this.broken(undefined);
    } catch (error) {
      throw this.failure ?? (error instanceof StorageError ? error : this.broken(error));
    } finally {
      this.close();
    }
  }

  private refusal(response: IncomingMessage): StorageError | undefined {
    const status = response.statusCode ?? 0;
    if (status === 200) {
      const encoding = response.headers["content-encoding"];
      if (encoding === undefined || encoding === "identity") return undefined;
      return this.error("answer_invalid", "expected an answer without content encoding");
    }
    const facts = { status, retryAfterMs: retryAfter(response.headers["retry-after"]) };
    if (status >= 300 && status < 400) {
      const paid = { ...facts, paid: "no" } as const;
      return this.error(
        "redirected",
        `answered ${status}: redirects are not followed: configure the final address`,
        paid,
      );
    }
    if (status === 404 && this.outgoing.method === "GET") {
      return this.error("not_found", "answered 404: it does not have the blob", facts);
    }
    // A server that answers 4xx did not carry the request out; behind a 5xx of a gateway it may have.
    const paid = status >= 400 && status < 500 ? ({ ...facts, paid: "no" } as const) : facts;
    return this.error("refused", `answered ${status}, expected 200`, paid);
  }

  private limit(code: StorageFault, ms: number, what: string): void {
    clearTimeout(this.timer);
    if (this.failure !== undefined) return;
    this.timer = setTimeout(() => this.fail(this.error(code, `${what} within ${ms} ms`)), ms);
  }

  private broken(error: unknown): StorageError {
    const code: unknown = (error as NodeJS.ErrnoException | undefined)?.code;
    const known = typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code) ? ` (${code})` : "";
    return this.error("connection_failed", `the connection failed or ended before the answer did${known}`);
  }

  private error(code: StorageFault, message: string, facts: StorageErrorFacts = {}): StorageError {
    const paid = this.outgoing.method === "PUT" && this.wholeBodySent ? "maybe" : "no";
    return new StorageError(code, `${this.outgoing.endpoint.role}: ${message}`, { paid, ...facts });
  }

  private fail(error: StorageError): void {
    if (this.failure !== undefined) return;
    const paid = this.outgoing.method === "PUT" && this.wholeBodySent && error.paid === "no" ? "maybe" : error.paid;
    this.failure = error.status === undefined ? error.with({ paid }) : error;
    this.close();
    this.rejectHead?.(this.failure);
    this.rejectHead = undefined;
  }

  private close(): void {
    clearTimeout(this.timer);
    this.outgoing.deadline.signal.removeEventListener("abort", this.onAbort);
    this.request?.destroy();
  }
}

/** Milliseconds of a `Retry-After` in seconds. */
function retryAfter(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,6}$/.test(value) ? Number(value) * 1000 : undefined;
}
