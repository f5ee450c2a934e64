/** Error codes of protocol.md section 7, with their statuses and whether the tool ran. */

/**
 * Whether the request made the tool run; `maybe` if the error does not tell. Error answers are unsigned, so the leader
 * cannot verify this.
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
  // An earlier request with this nonce is still running; its input may be the same or another one.
  request_in_flight: { status: 409, ran: "maybe" },
  // This request did not run; whether its first attempt ran is unknown.
  replay_memory_lost: { status: 409, ran: "maybe" },
  length_required: { status: 411, ran: "no" },
  payload_too_large: { status: 413, ran: "no" },
  unsupported_content_encoding: { status: 415, ran: "no" },
  expectation_failed: { status: 417, ran: "no" },
  input_integrity_error: { status: 422, ran: "no" },
  input_deserialization_error: { status: 422, ran: "no" },
  rate_limited: { status: 429, ran: "no" },
  headers_too_large: { status: 431, ran: "no" },
  // Thrown by `new`, `authorize` or `invoke`.
  tool_invocation_failed: { status: 500, ran: "maybe" },
  internal_error: { status: 500, ran: "maybe" },
  output_serialization_error: { status: 500, ran: "yes" },
  replay_store_full: { status: 503, ran: "no" },
  replay_store_unavailable: { status: 503, ran: "no" },
  overloaded: { status: 503, ran: "no" },
  shutting_down: { status: 503, ran: "no" },
  // A shutdown aborted the call; it may not have reached the tool.
  tool_invocation_interrupted: { status: 503, ran: "maybe" },
  // The deadline also covers construction and `authorize`, so `invoke` may not have started.
  tool_invocation_timeout: { status: 504, ran: "maybe" },
} as const satisfies Readonly<Record<string, ErrorFacts>>;

export type ErrorCode = keyof typeof ERROR_CODES;

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERROR_CODES, text);
}

export function statusOf(code: ErrorCode): number {
  return ERROR_CODES[code].status;
}
