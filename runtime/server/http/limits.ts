/** Limits on unauthenticated clients (protocol.md section 1): time, headers, connections, body rate. */

import type { Server } from "node:net";
import type { Refusals } from "../load/refusals.js";

/** Milliseconds within which all headers of a request must arrive. */
export const HEADERS_TIMEOUT_MS = 10_000;
/** Milliseconds within which a whole request must arrive. */
export const REQUEST_TIMEOUT_MS = 30_000;
export const MAX_HEADERS = 64;
/** Total bytes of the headers of a request. */
export const MAX_HEADER_BYTES = 16_384;
/**
 * Default total bytes of answers that their clients have not read: 64 MiB, 256 of the largest results. An answer counts
 * from when it is ready, also behind the answer of an earlier request.
 */
export const MAX_UNREAD_BYTES = 67_108_864;
/**
 * Default minimum rate of a body in bytes per second: 131 kbit/s. A body of the default size limit that arrives within
 * the default request time has 25 times that rate.
 */
export const MIN_BODY_BYTES_PER_SECOND = 16_384;

/** Time limits for a client, in milliseconds. */
export interface ConnectionLimits {
  /** For a TLS handshake to complete. */
  readonly handshakeMs: number;
  /** For the headers of a request, counted from its first byte; for the first byte, counted from the connection. */
  readonly headersMs: number;
  /** For a whole request to arrive. */
  readonly requestMs: number;
  /** How long a body may stay below the minimum rate. */
  readonly bodyGraceMs: number;
  /** For the client to read its response, counted from the moment that the response is ready (`destroyUnlessFlushed`). */
  readonly answerMs: number;
  /**
   * For the rest of a request that was refused before it had arrived, and for a refused client to close its connection.
   */
  readonly lingerMs: number;
  /** How often `headersMs`, `requestMs` and `bodyGraceMs` are checked. */
  readonly checkMs: number;
}

export const DEADLINES: ConnectionLimits = {
  handshakeMs: 10_000,
  headersMs: HEADERS_TIMEOUT_MS,
  requestMs: REQUEST_TIMEOUT_MS,
  bodyGraceMs: 5_000,
  answerMs: 30_000,
  lingerMs: 5_000,
  checkMs: 1_000,
};

/** Limits a server's open connections; further ones are closed on arrival, before a byte is read. */
export function capConnections(server: Server, most: number, refusals: Refusals): void {
  server.maxConnections = most;
  server.on("drop", () => refusals.count("connections"));
}
