/** Failures of the HTTP requests of tools. */

import type { HttpAnswer } from "./http-answer.js";

/**
 * - `timeout`: no complete answer within the time of one attempt, or of the call
 * - `dns`: the host name has no address
 * - `connection`: no connection, or it broke
 * - `tls`: the handshake failed, or the certificate is not trusted
 * - `forbidden_address`: `publicOnly`, and the host is not on the public network
 * - `status`: an answer with a status that is not accepted
 * - `too_large`: the answer has more than `maxBytes`
 * - `invalid_answer`: a body that is not what its headers say, or a redirect that is not followed
 */
export type HttpErrorKind =
  | "timeout"
  | "dns"
  | "connection"
  | "tls"
  | "forbidden_address"
  | "status"
  | "too_large"
  | "invalid_answer";

/**
 * A request without an accepted answer. The message has the method, the host and the reason; no path, query, header or body,
 * which can hold secrets.
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
  /** The status of the last answer, if there was one. */
  readonly status: number | undefined;
  /** Requests that were sent. */
  readonly attempts: number;
  /** The answer of kind `status`. Not enumerable, so that no log prints it. */
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
