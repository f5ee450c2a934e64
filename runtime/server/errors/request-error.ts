/** The errors of requests (protocol.md section 7): a closed set of codes, each with one HTTP status. */

import { WireFault } from "../../wire/fault.js";

const STATUS = {
  bad_request: 400,
  host_header_required: 400,
  invalid_scheme: 400,
  auth_failed: 401,
  permission_denied: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  request_in_flight: 409,
  length_required: 411,
  payload_too_large: 413,
  unsupported_content_encoding: 415,
  expectation_failed: 417,
  input_integrity_error: 422,
  input_deserialization_error: 422,
  rate_limited: 429,
  headers_too_large: 431,
  tool_invocation_failed: 500,
  internal_error: 500,
  output_serialization_error: 500,
  replay_store_full: 503,
  replay_store_unavailable: 503,
  overloaded: 503,
  shutting_down: 503,
  tool_invocation_timeout: 504,
} as const;

export type ErrorCode = keyof typeof STATUS;

/** Whether a text is an error code. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(STATUS, text);
}

/** Optional members of an error beside its code and details. */
export interface RequestErrorFacts {
  /** The original error, for the log only. */
  readonly cause?: unknown;
  /** Milliseconds until the caller may retry; a 429 or 503 without it says one second. */
  readonly retryAfterMs?: number;
}

/** An error that a request is answered with. Its `details` are sent to the caller. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly code: ErrorCode,
    readonly details?: string,
    { retryAfterMs, ...options }: RequestErrorFacts = {},
  ) {
    super(details === undefined ? code : `${code}: ${details}`, options);
    this.retryAfterMs = retryAfterMs;
  }
}

export function statusOf(code: ErrorCode): number {
  return STATUS[code];
}

/** The JSON body of an error: `{"error": code, "details"?: text}`. */
export function errorBody(code: ErrorCode, details?: string): Buffer {
  return Buffer.from(JSON.stringify(details === undefined ? { error: code } : { error: code, details }));
}

/** The RequestError for anything thrown while a request is answered; unknown errors become `internal_error`. */
export function toRequestError(thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown;
  if (thrown instanceof WireFault) return new RequestError(thrown.code, thrown.details);
  return new RequestError("internal_error", undefined, { cause: thrown });
}
