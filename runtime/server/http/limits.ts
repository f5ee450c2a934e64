/** Limits on unauthenticated clients (protocol.md section 1): time, headers, connections, body rate. */

import type { Server } from "node:net";
import type { Refusals } from "../load/refusals.js";

/** Time limit for all headers of a request, in milliseconds. */
export const HEADERS_TIMEOUT_MS = 10_000;
/** Time limit for a whole request, in milliseconds. */
export const REQUEST_TIMEOUT_MS = 30_000;
export const MAX_HEADERS = 64;
/** Maximum size of all headers of a request, in bytes. */
export const MAX_HEADER_BYTES = 16_384;
/**
 * Default maximum size, in bytes, of unread answers: 64 MiB, or 256 of the largest results. Includes answers that are
 * ready but wait for the answer to an earlier request.
 */
export const MAX_UNREAD_BYTES = 67_108_864;
/**
 * Default minimum rate of a body, in bytes per second (131 kbit/s). A body of the default maximum size that just meets
 * the request time limit has 25 times this rate.
 */
export const MIN_BODY_BYTES_PER_SECOND = 16_384;

/** Time limits of a client, in milliseconds. */
export const DEADLINES = {
  /** For a TLS handshake. */
  handshakeMs: 10_000,
  /** For the headers of a request, from its first byte; also for the first byte, from the start of the connection. */
  headersMs: HEADERS_TIMEOUT_MS,
  /** For a whole request. */
  requestMs: REQUEST_TIMEOUT_MS,
  /** Maximum time that a body may stay below the minimum rate. */
  bodyGraceMs: 5_000,
  /** For the client to read its answer, from the moment it is ready (`destroyUnlessFlushed`). */
  answerMs: 30_000,
  /** For the rest of a request that was already answered, and for its client to close the connection. */
  lingerMs: 5_000,
  /** Interval at which `headersMs`, `requestMs` and `bodyGraceMs` are checked. */
  checkMs: 1_000,
};

export type ConnectionLimits = Readonly<typeof DEADLINES>;

/**
 * Number of new connections that wait in the operating system to be accepted, if it allows as many. The system of a
 * further client tries again after a second.
 */
export const BACKLOG = 4_096;

/** Limits the number of open connections. Additional ones are closed on arrival, before a byte is read. */
export function capConnections(server: Server, most: number, refusals: Refusals): void {
  server.maxConnections = most;
  server.on("drop", () => refusals.count("connections"));
}
