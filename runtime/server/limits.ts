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
/** Bytes of request bodies held in memory together, unless set otherwise: 64 MiB, five bodies of the default limit. */
export const MAX_BODY_BYTES_IN_FLIGHT = 67_108_864;
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

/**
 * Bytes of request bodies held in memory, from their arrival until their call has its answer. One holder, a verified
 * leader or an unsigned connection, has at most as many as are left for all others: so however many hold what they can,
 * there is room for another.
 */
export class BodyBytes {
  inFlight = 0;
  readonly #held = new Map<string | object, number>();

  /**
   * @param most at a time, at most 2^53 − 1, so that the account is exact
   */
  constructor(
    readonly most: number,
    private readonly load: LoadControl,
  ) {}

  /**
   * Opens the account of a body, for which nothing is charged yet.
   *
   * @param holder the leader's id, or the connection
   * @param length as announced
   * @throws {@link RequestError} `overloaded` while there is no room, `payload_too_large` when there never will be
   */
  open(holder: string | object, length: number): BodyAccount {
    const largest = Math.floor(this.most / 2);
    if (length > largest) throw new RequestError("payload_too_large", `the body is limited to ${largest} bytes`);
    this.#requireRoom(holder, length);
    let charged = 0;
    return {
      charge: (bytes) => {
        this.#requireRoom(holder, bytes);
        this.#add(holder, bytes);
        charged += bytes;
      },
      release: () => {
        this.#add(holder, -charged);
        charged = 0;
      },
    };
  }

  #requireRoom(holder: string | object, bytes: number): void {
    const held = this.#held.get(holder) ?? 0;
    if (held + bytes > this.most - this.inFlight - bytes) throw this.load.refusal("bodyBytes");
  }

  #add(holder: string | object, bytes: number): void {
    this.inFlight += bytes;
    const held = (this.#held.get(holder) ?? 0) + bytes;
    if (held === 0) this.#held.delete(holder);
    else this.#held.set(holder, held);
  }
}

/** Account of the bytes that one body holds. */
export interface BodyAccount {
  /** @throws {@link RequestError} `overloaded` without room; then nothing of it is charged */
  charge(bytes: number): void;
  release(): void;
}

/**
 * Bound of {@link BodyBytes} for a limit of single bodies, so that the largest is admitted when it comes alone: twice the
 * limit at least.
 *
 * @throws RangeError for a bound set in code that is below that
 */
export function bodyBytesBound(given: number | undefined, bodyLimit: bigint): number {
  const twice = 2n * bodyLimit;
  const least = twice > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(twice);
  if (given === undefined) return Math.max(MAX_BODY_BYTES_IN_FLIGHT, least);
  const most = checkedInteger("maxBodyBytesInFlight", given, 1, Number.MAX_SAFE_INTEGER, "bytes");
  if (most >= least) return most;
  throw new RangeError(
    `maxBodyBytesInFlight: expected at least twice invoke_max_body_bytes, ${twice} bytes, got ${most}; a body of ${bodyLimit} bytes could never be read`,
  );
}
