/**
 * One HTTP exchange with a publisher or an aggregator, over a connection of its own: after a failure on a stale
 * connection, it would be unknown whether a PUT was processed. The body is sent in slices of the caller's bytes.
 */

import type { Socket } from "node:net";
import { onAbort, retryAfterOf } from "svc-client/internal/leader/waiting";
import type { Dispatcher } from "undici";
import type { Deadline, Deadlines } from "../deadline.js";
import { StorageError, type StorageErrorFacts, type StorageFault, systemCode } from "../storage-error.js";
import type { Endpoint } from "./endpoint.js";

export interface ExchangeOptions {
  readonly endpoint: Endpoint;
  readonly method: "GET" | "PUT";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Maximum size of the answer, in bytes. */
  readonly maxBytes: number;
  /** Creates the error for a larger answer; by default `answer_invalid`. */
  readonly tooLarge?: () => StorageError;
  readonly deadlines: Deadlines;
  readonly deadline: Deadline;
}

/** Size of a slice of the body, in bytes. */
const SLICE = 128 * 1024;

/**
 * Sends a request and returns the body of the answer, which must have status 200. Follows no redirect and decompresses
 * nothing.
 *
 * In an error, `paid` tells whether the request may have been processed, which is possible only after the last byte of
 * its body.
 *
 * @throws {@link StorageError} `connect_timeout`, `progress_timeout`, `total_timeout`, `aborted`, `connection_failed`,
 * `redirected`, `refused`, `not_found`, `answer_invalid`
 */
export async function exchange(options: ExchangeOptions): Promise<Buffer> {
  const { endpoint, method, path, query, body, maxBytes, tooLarge, deadlines, deadline } = options;
  const headers = await deadline.race(endpoint.headers());
  headers["accept-encoding"] = "identity";
  if (body !== undefined) {
    headers["content-type"] = "application/octet-stream";
    headers["content-length"] = String(body.length);
  }
  // Loaded at the first request, because a server starts sooner without it.
  const { Agent, buildConnector, request } = await import("undici");
  const { connectMs: timeout } = deadlines;
  const open = buildConnector({ timeout, minVersion: "TLSv1.2", ...(endpoint.ca && { ca: endpoint.ca }) });
  let endAbort = () => {};
  const agent = new Agent({
    // undici passes an abort on only when the request has a connection.
    connect: (to, done) => {
      const socket = open(to, done) as unknown as Socket;
      endAbort = onAbort([deadline.signal], () => socket.destroy(deadline.signal.reason));
    },
    headersTimeout: 0,
    bodyTimeout: deadlines.progressMs,
  });
  let isWholeBodySent = false;
  function* slices(content: Uint8Array): Generator<Uint8Array> {
    for (let at = 0; at < content.length; at += SLICE) {
      isWholeBodySent = at + SLICE >= content.length;
      yield content.subarray(at, at + SLICE);
    }
  }
  const fail = (code: StorageFault, message: string, facts: StorageErrorFacts = {}) => {
    const paid = isWholeBodySent ? "maybe" : "no";
    return new StorageError(code, `${endpoint.role}: ${message}`, { paid, ...facts });
  };
  const faultOf = (error: unknown): StorageError => {
    if (error instanceof StorageError) {
      return isWholeBodySent && error.status === undefined ? error.with({ paid: "maybe" }) : error;
    }
    const { code } = error as NodeJS.ErrnoException;
    if (code === "UND_ERR_CONNECT_TIMEOUT") {
      return fail("connect_timeout", `no connection within ${deadlines.connectMs} ms`);
    }
    if (code === "UND_ERR_BODY_TIMEOUT") {
      return fail("progress_timeout", `no part of the answer arrived within ${deadlines.progressMs} ms`);
    }
    const reason = `the connection failed or ended before the answer was complete${systemCode(error)}`;
    return fail("connection_failed", reason);
  };
  try {
    deadline.signal.throwIfAborted();
    const response = await request(endpoint.address(path, query), {
      method,
      headers,
      dispatcher: agent,
      signal: deadline.signal,
      ...(body && { body: slices(body) as never }),
    });
    response.body.on("error", () => {});
    const refused = refusalOf(response, method);
    if (refused !== undefined) throw fail(...refused);
    const parts: Buffer[] = [];
    let size = 0;
    for await (const part of response.body as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > maxBytes) {
        throw tooLarge?.() ?? fail("answer_invalid", `expected an answer of at most ${maxBytes} bytes, got more`);
      }
      parts.push(part);
    }
    return Buffer.concat(parts, size);
  } catch (error) {
    throw faultOf(error);
  } finally {
    endAbort();
    void agent.destroy();
  }
}

/** Arguments of the error for a response that is not a successful answer. */
function refusalOf(
  { statusCode: status, headers }: Dispatcher.ResponseData,
  method: ExchangeOptions["method"],
): [StorageFault, string, StorageErrorFacts?] | undefined {
  if (status === 200) {
    const encoding = headers["content-encoding"] ?? "identity";
    return encoding === "identity" ? undefined : ["answer_invalid", "expected an answer without content encoding"];
  }
  const after = retryAfterOf(headers);
  // A server that answers 3xx or 4xx did not process the request; a 5xx may come from a gateway in front of a server
  // that did.
  const isUnprocessed = status >= 300 && status < 500;
  const facts = { status, retryAfterMs: after && after * 1_000, ...(isUnprocessed && { paid: "no" as const }) };
  if (status >= 300 && status < 400) {
    return ["redirected", `answered ${status}: redirects are not followed: configure the final URL`, facts];
  }
  if (status === 404 && method === "GET") return ["not_found", "answered 404: it does not have the blob", facts];
  return ["refused", `answered ${status}, expected 200`, facts];
}
