/** The error codes of protocol.md section 7: their status, and whether the tool ran. */

/**
 * Whether the tool ran because of a request: `yes`, `no`, or `maybe` if the answer leaves it open. Errors are unsigned, so
 * the leader cannot verify this.
 */
export type Ran = "no" | "maybe" | "yes";

interface ErrorFacts {
  readonly status: number;
  readonly ran: Ran;
}

export const ERROR_CODES = {
  bad_request: { status: 400, ran: "no" },
  host_header_required: { status: 400, ran: "no" },
  invalid_scheme: { status: 400, ran: "no" },
  auth_failed: { status: 401, ran: "no" },
  permission_denied: { status: 403, ran: "no" },
  not_found: { status: 404, ran: "no" },
  method_not_allowed: { status: 405, ran: "no" },
  request_timeout: { status: 408, ran: "no" },
  // An earlier request with this nonce is running, with the same input or another one.
  request_in_flight: { status: 409, ran: "maybe" },
  // Nothing ran because of this request; whether its first attempt ran is unknown.
  replay_memory_lost: { status: 409, ran: "maybe" },
  length_required: { status: 411, ran: "no" },
  payload_too_large: { status: 413, ran: "no" },
  unsupported_content_encoding: { status: 415, ran: "no" },
  expectation_failed: { status: 417, ran: "no" },
  input_integrity_error: { status: 422, ran: "no" },
  input_deserialization_error: { status: 422, ran: "no" },
  rate_limited: { status: 429, ran: "no" },
  headers_too_large: { status: 431, ran: "no" },
  // Thrown by `new` or `authorize`, or by `invoke`.
  tool_invocation_failed: { status: 500, ran: "maybe" },
  internal_error: { status: 500, ran: "maybe" },
  output_serialization_error: { status: 500, ran: "yes" },
  replay_store_full: { status: 503, ran: "no" },
  replay_store_unavailable: { status: 503, ran: "no" },
  overloaded: { status: 503, ran: "no" },
  shutting_down: { status: 503, ran: "no" },
  // A shutdown aborted the run, at any step.
  tool_invocation_interrupted: { status: 503, ran: "maybe" },
  // The deadline covers construction and `authorize` too.
  tool_invocation_timeout: { status: 504, ran: "maybe" },
} as const satisfies Readonly<Record<string, ErrorFacts>>;

/** The code of an error answer (protocol.md section 7). */
export type ErrorCode = keyof typeof ERROR_CODES;

/** Whether a text is an error code. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERROR_CODES, text);
}

export function statusOf(code: ErrorCode): number {
  return ERROR_CODES[code].status;
}
