/** Requests and responses of the transports: http-client.ts in Node, portable/http-client.ts elsewhere. */

import type { Buffer } from "#platform/bytes";
import { LeaderError } from "../error.js";
import type { Dispatcher } from "./dispatcher.js";

/** TLS options of a client; only in Node. On other platforms, the platform determines the trusted servers. */
export interface TlsOptions {
  /** Trusted certificates in PEM format, instead of the system's. */
  readonly ca?: string | Uint8Array | readonly (string | Uint8Array)[];
  /** Server name to request and verify; by default the host of the URL. */
  readonly servername?: string;
  /** Client certificate in PEM format, for servers that request one. */
  readonly cert?: string | Uint8Array;
  /** Private key of `cert`, in PEM format. */
  readonly key?: string | Uint8Array;
}

export interface TransportOptions {
  readonly tls?: TlsOptions | undefined;
  readonly dispatcher?: Dispatcher | undefined;
  /** Resolves host names; a function for `net.connect`. Only in Node. */
  readonly lookup?: unknown;
}

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Called with the length of each chunk of the answer; returns false to end the request. Only in Node. */
  readonly admit?: (bytes: number) => boolean;
  /** Abort the request when any of them fires. */
  readonly signals: readonly AbortSignal[];
}

/** A complete response. */
export interface HttpResponse {
  readonly status: number;
  /** Keys are lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Sends requests, each at most once. */
export interface Transport {
  /**
   * @throws {@link LeaderError} `connection_failed`, `timeout`, `aborted`, `answer_too_large`; with `ran: "no"` if no
   * byte of the request was sent
   */
  send(request: HttpRequest): Promise<HttpResponse>;
  /** Closes connections that no other client uses. */
  close(): void;
}

export function aborted({ reason }: AbortSignal): LeaderError {
  return reason instanceof LeaderError
    ? reason
    : new LeaderError("aborted", "the call was aborted by its signal", { cause: reason });
}

export function late(timeoutMs: number): LeaderError {
  return new LeaderError("timeout", `no complete answer within ${timeoutMs} ms`);
}

export function tooLarge(maxBytes: number): LeaderError {
  return new LeaderError("answer_too_large", `the answer is larger than ${maxBytes} bytes`);
}
