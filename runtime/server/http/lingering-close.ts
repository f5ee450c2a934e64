/**
 * Lingering close, for clients that are still sending when they are refused and for clients that do not read their
 * response.
 *
 * Closing a connection with unread bytes resets it, and the reset can overtake the response. Incoming bytes are
 * therefore read and discarded, up to a time and size limit.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { MAX_HEADERS } from "./limits.js";

/**
 * Largest unread body, in bytes, that is discarded to keep its connection: it costs less than a new connection or
 * handshake.
 */
const KEPT_UNREAD_BYTES = 65_536;
/** Maximum bytes discarded per client: enough for a client that sends a whole body of the default limit before it reads. */
const MAX_DISCARDED_BYTES = 16_777_216;

/** Connections whose last request was answered before it fully arrived, with the number of bytes read at that time. */
const lingering = new WeakMap<Duplex, number>();

/** Bytes of a request's body that are unread or may still arrive; 0 when there are none. */
export function unreadBytes({ complete, readableEnded, headers, rawHeaders }: IncomingMessage): number {
  if (complete || readableEnded) return 0;
  // The length is unknown, or the client may send its next request instead of this body.
  const unknown = headers["transfer-encoding"] !== undefined || headers.expect !== undefined;
  // With so many headers, Node may have dropped `content-length`.
  if (unknown || rawHeaders.length > 2 * MAX_HEADERS) return Number.POSITIVE_INFINITY;
  return Number(headers["content-length"] ?? 0);
}

/** Whether a connection is reusable after the unread bytes are discarded. */
export function isKept(unread: number): boolean {
  return unread <= KEPT_UNREAD_BYTES;
}

/**
 * Writes a response at once, but delays its end until the rest of its request has been read and discarded. Destroys the
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

/** Writes a final text to a connection and closes it; destroys it when the client does not close its side in time. */
export function endConnection(socket: Duplex, text: string, ms: number): void {
  socket.end(text);
  linger(socket, ms);
}

/**
 * Destroys a connection after a delay, unless it closes earlier.
 *
 * @returns a function that cancels the destruction
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

/** Destroys the connection of a client that does not read its response in time. */
export function destroyUnlessFlushed(response: ServerResponse, ms: number): void {
  if (response.writableFinished) return;
  if (response.socket === null) {
    // This response waits for that of an earlier request on the same connection, whose tool may still be running.
    response.once("socket", () => destroyUnlessFlushed(response, ms));
    return;
  }
  const timer = setTimeout(() => response.socket?.destroy(), ms).unref();
  response.once("close", () => clearTimeout(timer));
}
