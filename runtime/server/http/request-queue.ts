/**
 * Handles one request of each connection at a time, on every route. Further requests that a client has pipelined wait,
 * and hold nothing but their headers and the part of a body that has already arrived.
 *
 * Node's parser emits a request for each header section in a chunk of up to 64 KiB before any other code runs, and Node
 * does not limit how many requests wait for their answers.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { HeaviestConnection } from "./heaviest-connection.js";
import { unreadBytes } from "./lingering-close.js";

/**
 * Number of unanswered requests at which the server stops reading from a connection. If the chunk that Node has already
 * read contains more, they are dropped, and the connection closes after the answers to these.
 */
export const MAX_UNANSWERED = 4;
/** Maximum number of waiting requests of the process. At about 7 KB each, they take 28 MB. */
export const MAX_PIPELINED = 4_096;
/** Memory of a waiting request. */
const REQUEST_BYTES = 7_168;
/** Maximum bytes of a body that Node reads while its request waits. */
const READ_AHEAD_BYTES = 65_536;

interface Waiting {
  /** Undefined for the final text of a connection. */
  readonly request?: IncomingMessage;
  readonly response?: ServerResponse;
  /** Share of {@link MAX_PIPELINED}. */
  readonly weight: number;
  readonly begin: () => void;
}

interface Connection {
  current: IncomingMessage | undefined;
  waiting: Waiting[];
  /** Whether the server has stopped reading from the connection: for now, or because it dropped a request. */
  paused: false | "for now" | "for good";
  /** Whether a `resume` listener that pauses the connection again is installed. */
  isKept: boolean;
}

type Socket = IncomingMessage["socket"];

export class RequestQueue {
  readonly #connections = new WeakMap<Duplex, Connection>();
  readonly #pipelined: HeaviestConnection;

  /** @param closed called for each connection that is closed because the process has too many waiting requests */
  constructor(closed: () => void, most = MAX_PIPELINED) {
    this.#pipelined = new HeaviestConnection(most, closed);
  }

  /** Calls `begin` when all earlier requests of the connection are answered; never if the connection ends before. */
  enter(request: IncomingMessage, response: ServerResponse, begin: () => void): void {
    const { socket } = request;
    let connection = this.#connections.get(socket);
    if (connection === undefined) {
      connection = { current: undefined, waiting: [], paused: false, isKept: false };
      this.#connections.set(socket, connection);
    }
    const of = connection;
    const start = () => {
      of.current = request;
      response.once("close", () => this.#next(socket, of));
      begin();
    };
    // The request may be from the rest of a chunk whose connection was closed.
    if (hasEnded(socket)) dropRequests(socket, of);
    else if (of.current === undefined) start();
    else this.#wait(request, response, of, start);
  }

  #wait(request: IncomingMessage, response: ServerResponse, connection: Connection, begin: () => void): void {
    const { socket } = request;
    if (connection.waiting.length >= MAX_UNANSWERED - 1) {
      const last = connection.waiting.at(-1)?.response;
      if (last !== undefined) last.shouldKeepAlive = false;
      connection.paused = "for good";
      skipChunk(socket);
      return;
    }
    const weight = 1 + Math.floor(Math.min(unreadBytes(request), READ_AHEAD_BYTES) / REQUEST_BYTES);
    connection.waiting.push({ request, response, weight, begin });
    this.#pipelined.hold(socket, weight);
    if (socket.destroyed) dropRequests(socket, connection);
    else if (connection.waiting.length >= MAX_UNANSWERED - 1) pause(socket, connection);
  }

  /**
   * Calls `write` after the answers to all requests of a connection that have arrived completely. An incomplete one
   * gets no other answer.
   */
  afterAnswers(socket: Duplex, write: () => void): void {
    const connection = this.#connections.get(socket);
    if (connection?.current?.complete !== true) {
      if (socket.writable) write();
      return;
    }
    const isComplete = ({ request }: Waiting) => request?.complete !== false;
    connection.waiting = [...connection.waiting.filter(isComplete), { weight: 0, begin: write }];
  }

  #next(socket: Socket, connection: Connection): void {
    connection.current = undefined;
    const next = connection.waiting.shift();
    if (hasEnded(socket)) {
      dropRequests(socket, connection);
      return;
    }
    // A caller with at most as many requests under way never has one dropped.
    if (connection.paused === "for now" && connection.waiting.length === 0) {
      connection.paused = false;
      socket.resume();
    }
    if (next === undefined) return;
    connection.current = next.request;
    this.#pipelined.release(socket, next.weight);
    // In a turn of its own, so that a connection with many requests does not delay the others.
    setImmediate(() => {
      if (hasEnded(socket)) dropRequests(socket, connection);
      else next.begin();
    });
  }
}

/** Whether nothing more can be sent on a connection. */
const hasEnded = ({ destroyed, writableEnded }: Socket) => destroyed || writableEnded;

/** Drops the waiting requests of a connection that has ended. */
function dropRequests(socket: Socket, connection: Connection): void {
  connection.waiting = [];
  skipChunk(socket);
}

/**
 * Makes Node's parser skip the rest of the chunk: 2 is the reply for a connection that leaves HTTP. Otherwise Node would
 * parse up to 2,000 more requests of each connection in one turn of the event loop.
 */
function skipChunk(socket: Socket & { parser?: { onIncoming: () => number } | null }): void {
  if (socket.parser) socket.parser.onIncoming = () => 2;
}

/** Stops reading from a connection. */
function pause(socket: Socket, connection: Connection): void {
  if (connection.paused) return;
  connection.paused = "for now";
  if (!connection.isKept) {
    connection.isKept = true;
    // Node resumes a connection when an answer was sent or a body is read.
    socket.on("resume", () => {
      if (connection.paused) socket.pause();
    });
  }
  socket.pause();
}
