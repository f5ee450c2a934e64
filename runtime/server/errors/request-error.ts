import type { ErrorCode } from "svc-client/internal/wire/error-codes";
import { WireFault } from "svc-client/internal/wire/fault";

export interface RequestErrorFacts {
  /** The original error, for the log only. */
  readonly cause?: unknown;
  /** Replaces the details in the log of refused requests. */
  readonly logged?: string | undefined;
  /** Milliseconds until the caller may retry. For a 429 or 503, one second by default. */
  readonly retryAfterMs?: number;
}

/** An error that is sent as the answer to a request, including its `details`. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly retryAfterMs: number | undefined;
  readonly logged: string | undefined;

  constructor(
    readonly code: ErrorCode,
    readonly details?: string,
    { retryAfterMs, logged, ...options }: RequestErrorFacts = {},
  ) {
    super(details === undefined ? code : `${code}: ${details}`, options);
    this.retryAfterMs = retryAfterMs;
    this.logged = logged;
  }
}

/** JSON body of an error: `{"error": code, "details"?: text}`. */
export function errorBody(code: ErrorCode, details?: string): Buffer {
  return Buffer.from(JSON.stringify(details === undefined ? { error: code } : { error: code, details }));
}

/** Converts a thrown value into a RequestError. Unknown errors become `internal_error`. */
export function toRequestError(thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown;
  if (thrown instanceof WireFault) return new RequestError(thrown.code, thrown.details);
  return new RequestError("internal_error", undefined, { cause: thrown });
}
