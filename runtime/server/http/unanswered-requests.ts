/**
 * Limits the number of unanswered requests (protocol.md section 1) on every route of the standalone server.
 *
 * Node's parser emits a request for each header section in a chunk of up to 64 KiB, and Node does not limit how many
 * requests wait for their answers.
 */

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { HeaviestConnection } from "./heaviest-connection.js";
import { unreadBytes } from "./lingering-close.js";

/** Number of unanswered requests at which the server stops reading from a connection. */
export const MAX_UNANSWERED = 64;
/**
 * Maximum number of pipelined requests of the process, that is, requests that wait for an earlier one on their
 * connection. One chunk cannot contain that many. At about 7 KB each, they take 28 MB.
 */
export const MAX_PIPELINED = 4_096;

interface Connection {
  unanswered: number;
  last: IncomingMessage;
  /** Whether the server has stopped reading from the connection. */
  paused: boolean;
  /** Whether a `resume` listener that pauses the connection again is installed. */
  isKept: boolean;
}

/** Counts requests without an answer, by connection. */
export class UnansweredRequests {
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #pipelined: HeaviestConnection;

  /** @param closed called for each connection that is closed because the process has too many pipelined requests */
  constructor(closed: () => void, most = MAX_PIPELINED) {
    this.#pipelined = new HeaviestConnection(most, closed);
  }

  /** Wraps a request listener to count its requests. */
  counted(handle: RequestListener): RequestListener {
    return (request, response) => {
      if (this.#begin(request, response)) handle(request, response);
      else ignoreRest(request.socket);
    };
  }

  /** Counts a request. Returns false if its connection is closed. */
  #begin(request: IncomingMessage, response: ServerResponse): boolean {
    const { socket } = request;
    // The request is from the rest of a chunk whose connection was closed.
    if (socket.destroyed) return false;
    let connection = this.#connections.get(socket);
    if (connection === undefined) {
      connection = { unanswered: 0, last: request, paused: false, isKept: false };
      this.#connections.set(socket, connection);
    }
    const of = connection;
    of.last = request;
    of.unanswered++;
    response.once("close", () => this.#end(socket, of));
    if (of.unanswered === 1) return true;
    this.#pipelined.hold(socket, 1);
    if (of.unanswered >= MAX_UNANSWERED) {
      // Reading stops only after the body of the request: a paused body would fall below the minimum rate.
      if (unreadBytes(request) === 0) pauseAtBound(socket, of);
      else request.once("end", () => of.last === request && pauseAtBound(socket, of));
    }
    return !socket.destroyed;
  }

  #end(socket: Socket, connection: Connection): void {
    connection.unanswered--;
    if (connection.unanswered > 0) this.#pipelined.release(socket, 1);
    if (!connection.paused || connection.unanswered >= MAX_UNANSWERED) return;
    connection.paused = false;
    socket.resume();
  }
}

/**
 * Keeps Node from creating requests from the rest of a chunk after its connection was closed. They would stay in memory
 * until the end of the turn of the event loop, which may read a chunk of every connection.
 */
function ignoreRest(socket: Socket & { parser?: { onIncoming: () => number } | null }): void {
  if (socket.parser) socket.parser.onIncoming = () => 0;
}

/** Stops reading from a connection with too many unanswered requests. */
function pauseAtBound(socket: Socket, connection: Connection): void {
  if (connection.unanswered < MAX_UNANSWERED || connection.paused || socket.destroyed) return;
  connection.paused = true;
  if (!connection.isKept) {
    connection.isKept = true;
    // Node resumes a connection when an answer was sent or a body is read.
    socket.on("resume", () => {
      if (connection.paused) socket.pause();
    });
  }
  socket.pause();
}
