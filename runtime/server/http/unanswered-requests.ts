/**
 * Bounds on requests without an answer (protocol.md section 1), for every route of the standalone server.
 *
 * Node's parser emits a request for each head in a chunk of up to 64 KiB, and nothing in node bounds how many wait for
 * their answers.
 */

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { HeaviestConnection } from "./heaviest-connection.js";
import { unreadBytes } from "./lingering-close.js";

/** Unanswered requests of a connection at which the server stops reading from it. */
export const MAX_UNANSWERED = 64;
/**
 * Maximum number of requests of the process that arrived behind an unanswered one on their connection: more than one
 * chunk can hold. With some 7 KB each they take 28 MB. The first of each connection is bounded by the connections.
 */
export const MAX_PIPELINED = 4_096;

/** A connection with requests. */
interface Connection {
  unanswered: number;
  /** The request that arrived last. */
  last: IncomingMessage;
  /** Whether the server does not read from it. */
  paused: boolean;
  /** Whether a listener keeps it paused. */
  isKept: boolean;
}

/** Requests without an answer, by connection. */
export class UnansweredRequests {
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #pipelined: HeaviestConnection;

  /** @param closed called when a connection was closed because the process has too many pipelined requests */
  constructor(closed: () => void, most = MAX_PIPELINED) {
    this.#pipelined = new HeaviestConnection(most, closed);
  }

  /** A listener for requests that counts each of them before `handle` gets it. */
  counted(handle: RequestListener): RequestListener {
    return (request, response) => {
      if (this.#begin(request, response)) handle(request, response);
      else ignoreRest(request.socket);
    };
  }

  /** Counts a request. Returns false when its connection is closed. */
  #begin(request: IncomingMessage, response: ServerResponse): boolean {
    const { socket } = request;
    // The rest of a chunk whose connection was closed.
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
      // A body is read to its end, so that it is not taken for a slow one.
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
 * Keeps node from making requests of the rest of a chunk whose connection was closed: it would keep them until the end
 * of the turn, which may read a chunk of each connection.
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
    // Node resumes a connection when an answer has left or a body is read.
    socket.on("resume", () => {
      if (connection.paused) socket.pause();
    });
  }
  socket.pause();
}
