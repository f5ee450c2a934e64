/**
 * Clients that are slow at the end: those that still send while they are refused, and those that do not take their
 * answer. A connection that is closed while bytes of the client are unread is reset, and the reset overtakes the answer;
 * so what still comes is discarded for a while, within bounds.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { MAX_HEADERS } from "./limits.js";

/** Bytes of an unread body up to which its connection is kept: less work than another connection, under TLS above all. */
const KEPT_UNREAD_BYTES = 65_536;
/** Bytes that are discarded of one client: a body within the default limit from one that sends all before it reads. */
const MAX_DISCARDED_BYTES = 16_777_216;

/** Connections whose last request has its answer but has not come whole, with the bytes that had come by then. */
const lingering = new WeakMap<Duplex, number>();

/** How much of a request's body nobody has read and may still come, in bytes; 0 when there is none. */
export function unreadBytes({ complete, readableEnded, headers, rawHeaders }: IncomingMessage): number {
  if (complete || readableEnded) return 0;
  // Of no known length; or the client may send the next request where this one's body is due.
  const unknown = headers["transfer-encoding"] !== undefined || headers.expect !== undefined;
  // The length may be among the headers that node dropped.
  if (unknown || rawHeaders.length > 2 * MAX_HEADERS) return Number.POSITIVE_INFINITY;
  return Number(headers["content-length"] ?? 0);
}

/** Whether a connection can be used again once so much of a body is discarded. */
export function isKept(unread: number): boolean {
  return unread <= KEPT_UNREAD_BYTES;
}

/**
 * Ends an answer that was written whole, though its request has not come whole: takes what still comes, and cuts a client
 * that goes on too long.
 */
export function drainThenEnd(request: IncomingMessage, response: ServerResponse, ms: number): void {
  const { socket } = request;
  const stop = linger(socket, ms);
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
}

/** Says the last word on a connection and closes it, the client's side too if the client does not. */
export function endConnection(socket: Duplex, text: string, ms: number): void {
  socket.end(text);
  linger(socket, ms);
}

/**
 * Cuts a connection after a time unless it is closed before.
 *
 * @returns lets it live
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
 * Whether a connection has had its last word; then whatever else the parser finds on it gets none. Closes our side, and
 * the whole connection when the client goes on too long.
 */
export function isClosing(socket: Duplex): boolean {
  const before = lingering.get(socket);
  if (before === undefined) return false;
  socket.end();
  if (bytesRead(socket) - before > MAX_DISCARDED_BYTES) socket.destroy();
  return true;
}

/** Cuts a client that does not take its answer. */
export function destroyUnlessFlushed(response: ServerResponse, ms: number): void {
  if (response.writableFinished) return;
  if (response.socket === null) {
    // Behind the answer of an earlier request on the same connection, whose tool may still run.
    response.once("socket", () => destroyUnlessFlushed(response, ms));
    return;
  }
  const timer = setTimeout(() => response.socket?.destroy(), ms).unref();
  response.once("close", () => clearTimeout(timer));
}
