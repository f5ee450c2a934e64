/** What a client may cost before it is known (protocol.md section 1): time, headers, connections, bytes of bodies. */

import type { Server } from "node:net";
import type { Refusals } from "../load/refusals.js";

/** Milliseconds in which a request's headers have to be there. */
export const HEADERS_TIMEOUT_MS = 10_000;
/** Milliseconds in which a whole request has to be there. */
export const REQUEST_TIMEOUT_MS = 30_000;
export const MAX_HEADERS = 64;
/** Bytes of all headers of a request together. */
export const MAX_HEADER_BYTES = 16_384;
/** Connections at a time, unless set otherwise: with 15 KB of half a request each they take 60 MB, under TLS more. */
export const MAX_CONNECTIONS = 4_096;
/** Bytes a second of a body, unless set otherwise: 131 kbit/s. The default limit within the default time is 25 times that. */
export const MIN_BODY_BYTES_PER_SECOND = 16_384;

/** How long a client may take, in milliseconds. */
export interface Deadlines {
  /** For the headers of a request, from the first byte; for the first byte, from the connection. */
  readonly headersMs: number;
  /** For a whole request. */
  readonly requestMs: number;
  /** That a body may stay below the minimum rate. */
  readonly bodyGraceMs: number;
  /** For its answer to be taken, from the moment that it is ready. */
  readonly answerMs: number;
  /** For the rest of a request that was refused before it had come, and to close a connection that is refused. */
  readonly lingerMs: number;
  /** Between looks at the first three. */
  readonly checkMs: number;
}

export const DEADLINES: Deadlines = {
  headersMs: HEADERS_TIMEOUT_MS,
  requestMs: REQUEST_TIMEOUT_MS,
  bodyGraceMs: 5_000,
  answerMs: 30_000,
  lingerMs: 5_000,
  checkMs: 1_000,
};

/** Lets a server hold at most so many connections; further ones are closed as they come, before a byte is read. */
export function capConnections(server: Server, most: number, refusals: Refusals): void {
  server.maxConnections = most;
  server.on("drop", () => refusals.count("connections"));
}
