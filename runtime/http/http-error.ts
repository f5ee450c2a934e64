import type { HttpAnswer } from "./http-answer.js";

/**
 * Reason of a failed request.
 *
 * - `timeout`: no complete answer within the time limit of the attempt or of the call
 * - `dns`: the host name has no address
 * - `connection`: the connection could not be established, or broke
 * - `tls`: the handshake failed, or the certificate is not trusted
 * - `forbidden_address`: the host is not on the public network, and `publicOnly` is set
 * - `status`: the answer has a status that is not accepted
 * - `too_large`: the answer is larger than `maxBytes`
 * - `overloaded`: the server's memory for the answers of other services is full
 * - `invalid_answer`: the body does not match its headers, or the answer is a redirect
 */
export type HttpErrorKind =
  | "timeout"
  | "dns"
  | "connection"
  | "tls"
  | "forbidden_address"
  | "status"
  | "too_large"
  | "overloaded"
  | "invalid_answer";

/**
 * A failed request. The message contains the method, the host and the reason, but no path, query, header or body, which
 * may contain secrets.
 *
 * @example
 * ```ts
 * import { HttpError } from "svc-runtime";
 *
 * export function isUnknown(error: unknown): boolean {
 *   return error instanceof HttpError && error.kind === "status" && error.status === 404;
 * }
 * ```
 */
export class HttpError extends Error {
  override readonly name = "HttpError";
  /** Status of the last answer, if any. */
  readonly status: number | undefined;
  /** Number of requests that were sent, including retries. */
  readonly attempts: number;
  /** The answer, if `kind` is `status`. Not enumerable, so that logs do not print it. */
  declare readonly answer: HttpAnswer | undefined;

  constructor(
    readonly kind: HttpErrorKind,
    message: string,
    {
      attempts,
      answer,
      cause,
    }: { readonly attempts: number; readonly answer?: HttpAnswer | undefined; cause?: unknown },
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.attempts = attempts;
    this.status = answer?.status;
    Object.defineProperty(this, "answer", { value: answer });
  }
}
