/**
 * Lingering close, for clients that are still sending when they are answered and for clients that do not read their
 * answer.
 *
 * Closing a connection with unread bytes resets it, and the client may see the reset before the answer. Therefore
 * incoming bytes are read and discarded, up to a time limit and a size limit.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { MAX_HEADERS } from "./limits.js";

/**
 * Maximum size, in bytes, of an unread body that is discarded to keep its connection, which costs less than a new
 * connection.
 */
export const KEPT_UNREAD_BYTES = 65_536;
/** Maximum number of discarded bytes for each client; exceeds the default maximum size of a body. */
export const MAX_DISCARDED_BYTES = 16_777_216;

/**
 * Connections whose last request was answered before it arrived completely, with the number of bytes read until then.
 */
const lingering = new WeakMap<Duplex, number>();

/** Number of body bytes that are unread or may still arrive. */
export function unreadBytes({ complete, readableEnded, headers, rawHeaders }: IncomingMessage): number {
  if (complete || readableEnded) return 0;
  // The length is unknown, or the client may send its next request instead of this body.
  const unknown = headers["transfer-encoding"] !== undefined || headers.expect !== undefined;
  // With so many headers, Node may have dropped `content-length`.
  if (unknown || rawHeaders.length > 2 * MAX_HEADERS) return Number.POSITIVE_INFINITY;
  return Number(headers["content-length"] ?? 0);
}

/** Whether a connection can be reused after the unread bytes are discarded. */
export function isKept(unread: number): boolean {
  return unread <= KEPT_UNREAD_BYTES;
}

/**
 * Writes an answer at once, but ends it only after the rest of the request was read and discarded. Destroys the
 * connection of a client that exceeds the limits.
 */
export function endAfterRequest(request: IncomingMessage, response: ServerResponse, ms: number): void {
  response.end = (body?: unknown) => {
    Reflect.deleteProperty(response, "end");
    if (body === undefined || body === null || request.method === "HEAD") response.flushHeaders();
    else response.write(body);
    const stop = linger(request.socket, ms);
    let discarded = 0;
    request.on("data", (chunk: Buffer) => {
      discarded += chunk.length;
      if (discarded > MAX_DISCARDED_BYTES) request.pause();
    });
    request.once("end", () => {
      stop();
      response.end();
    });
    request.resume();
    return response;
  };
}

/** Writes a final text and closes the connection; destroys it if the client does not close its side in time. */
export function endConnection(socket: Duplex, text: string, ms: number): void {
  socket.end(text);
  linger(socket, ms);
}

/**
 * Destroys a connection after a delay, unless it closes earlier.
 *
 * @returns a function that cancels this
 */
function linger(socket: Duplex, ms: number): () => void {
  lingering.set(socket, bytesRead(socket));
  const timer = setTimeout(() => socket.destroy(), ms).unref();
  const stop = () => {
    clearTimeout(timer);
    lingering.delete(socket);
    socket.off("close", stop);
  };
  socket.once("close", stop);
  return stop;
}

const bytesRead = (socket: Duplex) => (socket as Duplex & { bytesRead?: number }).bytesRead ?? 0;

/**
 * Whether the final response of a connection has been written, so that later parser errors get no response. Closes the
 * server's side of such a connection, and all of it once the client exceeds the limit of discarded bytes.
 */
export function isClosing(socket: Duplex): boolean {
  const before = lingering.get(socket);
  if (before === undefined) return false;
  socket.end();
  if (bytesRead(socket) - before > MAX_DISCARDED_BYTES) socket.destroy();
  return true;
}

/** Destroys the connection of a client that does not read its answer in time. */
export function destroyUnlessFlushed(response: ServerResponse, ms: number): void {
  if (response.writableFinished) return;
  if (response.socket === null) {
    // The answer waits for that of an earlier request on the same connection, whose tool may still be running.
    response.once("socket", () => destroyUnlessFlushed(response, ms));
    return;
  }
  const timer = setTimeout(() => response.socket?.destroy(), ms).unref();
  response.once("close", () => clearTimeout(timer));
}
