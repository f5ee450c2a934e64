/** What a client may cost before it is known (protocol.md section 1): time, headers, connections, bytes of bodies. */

import type { Server } from "node:net";
import { RequestError } from "./errors.js";
import type { LoadControl } from "./load.js";

/** Milliseconds in which a request's headers have to be there. */
export const HEADERS_TIMEOUT_MS = 10_000;
/** Milliseconds in which a whole request has to be there. */
export const REQUEST_TIMEOUT_MS = 30_000;
export const MAX_HEADERS = 64;
/** Bytes of all headers of a request together. */
export const MAX_HEADER_BYTES = 16_384;
/** Connections at a time, unless set otherwise: with 15 KB of half a request each they take 60 MB, under TLS more. */
export const MAX_CONNECTIONS = 4_096;
/** Bytes of bodies that calls hold together, unless set otherwise: 64 MiB, five bodies of the default limit. */
export const MAX_BODY_BYTES_IN_FLIGHT = 67_108_864;

/** How long a client may take, in milliseconds. */
export interface Deadlines {
  /** For the headers of a request, from the first byte; for the first byte, from the connection. */
  readonly headersMs: number;
  /** For a whole request. */
  readonly requestMs: number;
  /** For its answer to be taken, from the moment that it is ready. */
  readonly answerMs: number;
  /** For the rest of a request that was refused before it had come, and to close a connection that is refused. */
  readonly lingerMs: number;
  /** Between looks at the first two. */
  readonly checkMs: number;
}

export const DEADLINES: Deadlines = {
  headersMs: HEADERS_TIMEOUT_MS,
  requestMs: REQUEST_TIMEOUT_MS,
  answerMs: 30_000,
  lingerMs: 5_000,
  checkMs: 1_000,
};

/**
 * Checks a number that was set in code.
 *
 * @param name as the caller wrote it, for the message
 * @param unit what it counts, where the name does not say
 * @throws RangeError when it is no integer from `least` to `most`
 */
export function checkedInteger(name: string, value: unknown, least: number, most: number, unit?: string): number {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
  throw new RangeError(
    `${name}: expected an integer from ${least} to ${most}${unit === undefined ? "" : ` ${unit}`}, got ${typeof value === "number" ? value : typeof value}`,
  );
}

/** Lets a server hold at most so many connections; further ones are closed as they come, before a byte is read. */
export function capConnections(server: Server, most: number, load: LoadControl): void {
  server.maxConnections = most;
  server.on("drop", () => load.count("connections"));
}

/** The bytes of bodies that calls hold: from before the first is read until the call has its answer. */
export class BodyBytes {
  /** Announced by calls that are being read or answered. */
  inFlight = 0;

  /**
   * @param most at a time, at most 2^53 − 1, so that the account is exact
   */
  constructor(
    readonly most: number,
    private readonly load: LoadControl,
  ) {}

  /**
   * Makes room for a body; `release` gives it back.
   *
   * @param length as announced
   * @throws {@link RequestError} `overloaded` while there is no room, `payload_too_large` when there never will be
   */
  take(length: number): void {
    if (length > this.most) throw new RequestError("payload_too_large", `the body is limited to ${this.most} bytes`);
    if (this.inFlight + length > this.most) throw this.load.refusal("bodyBytes");
    this.inFlight += length;
  }

  release(length: number): void {
    this.inFlight -= length;
  }
}

/**
 * The bound of {@link BodyBytes} for a limit of single bodies, so that the largest is admitted when it comes alone.
 *
 * @throws RangeError for a bound set in code that is below the limit
 */
export function bodyBytesBound(given: number | undefined, bodyLimit: bigint): number {
  const largest = bodyLimit > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(bodyLimit);
  if (given === undefined) return Math.max(MAX_BODY_BYTES_IN_FLIGHT, largest);
  const most = checkedInteger("maxBodyBytesInFlight", given, 1, Number.MAX_SAFE_INTEGER, "bytes");
  if (most >= largest) return most;
  throw new RangeError(
    `maxBodyBytesInFlight: expected at least invoke_max_body_bytes, ${bodyLimit} bytes, got ${most}; a body of that size could never be read`,
  );
}
