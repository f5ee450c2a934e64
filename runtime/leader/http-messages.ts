/** Requests and responses of the client's transports: http-client.ts in Node, portable/http-client.ts elsewhere. */

import type { Buffer } from "#platform/bytes";
import { LeaderError } from "./error.js";

/** TLS options of a client, in Node only: elsewhere the platform decides which servers it trusts. */
export interface TlsOptions {
  /** Trusted certificates in PEM form, instead of the system's. */
  readonly ca?: string | Uint8Array | readonly (string | Uint8Array)[];
  /** The server name to request and verify, by default the host of the URL. */
  readonly servername?: string;
}

/** A request. */
export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether the request may be sent twice, so that it is retried when a kept connection turns out to be closed. */
  readonly idempotent: boolean;
}

/** A complete response. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; repeated headers are joined. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export function aborted(signal: AbortSignal | undefined): LeaderError {
  return new LeaderError("aborted", "the caller's signal fired", { cause: signal?.reason });
}

export function late(timeoutMs: number): LeaderError {
  return new LeaderError("timeout", `no whole answer within ${timeoutMs} ms`);
}

export function tooLarge(maxBytes: number): LeaderError {
  return new LeaderError("answer_too_large", `the answer is limited to ${maxBytes} bytes`);
}

export function connectionLost(cause: unknown): LeaderError {
  return new LeaderError("connection_failed", "the connection ended before the answer did", { cause });
}
