/**
 * What to do about an answer: the rows of docs/troubleshooting.md that a probe can see, in short. A test holds the two
 * against each other.
 */

/** Next steps, keyed by the error code of the answer. */
const ROWS: Readonly<Record<string, string>> = {
  auth_failed: "see which header the details name; a gateway has to pass every signature header unchanged, once",
  permission_denied: "the tool's own authorize refused this leader; without signatures: allow the page's origin",
  input_integrity_error: "let the gateway pass bodies byte for byte: no rewriting, no transcoding",
  input_deserialization_error: "run svc-gen diff: it shows whether the tool's Input changed",
  request_in_flight: "a call with the same nonce is running; try again",
  replay_memory_lost: "a repeat reached another replay memory than its first attempt; share one between replicas",
  length_required: "let the gateway buffer requests (nginx: proxy_request_buffering on), so that they have a length",
  payload_too_large: "raise invoke_max_body_bytes in the configuration, or the limit of the gateway",
  request_timeout: "the request came too slowly; look at the way between here and the server",
  headers_too_large: "the gateway adds headers: at most 64, together 16 KiB, are taken",
  rate_limited: "wait as long as Retry-After says; the rate of a leader is set in bootstrap",
  tool_invocation_failed: "the tool threw while it was made; the server's log has the error and its stack",
  internal_error: "report it with its cause from the server's log",
  tool_invocation_timeout: "the tool had no answer within its timeout(); the server's log says what went on",
  replay_store_full:
    "raise SVC_REPLAY_MAX_BYTES and the memory limit, lower replay_cache_ttl_ms, or serve from more processes",
  replay_store_unavailable: "look at the replay store; the server's log has its error",
  overloaded: "more calls or bytes than the limits given to bootstrap; try again, then raise them",
  tool_invocation_interrupted: "the process stopped while the tool ran; give running calls a longer drain limit",
  shutting_down: "the process is stopping; let the load balancer poll /readyz",
};

/** Codes that the page has no row for: only a broken caller or gateway sees them. */
const OTHERS: Readonly<Record<string, string>> = {
  host_header_required: "let the gateway set X-Forwarded-Host to one name, or leave it out",
  invalid_scheme: "let the gateway set X-Forwarded-Proto to http or https",
  unsupported_content_encoding: "the gateway compresses requests: switch that off",
  expectation_failed: "the gateway adds an Expect header: switch that off",
  bad_request: "the gateway sends what is no valid HTTP/1.1 request; look at its log",
  not_found: "the address is not that of a tool: see GET /tools of the server",
  method_not_allowed: "the gateway changes the method of requests: it has to pass it",
};

/** The next step after an answer with this code. Undefined for a code that is not the protocol's. */
export function nextStep(code: string): string | undefined {
  if (Object.hasOwn(ROWS, code)) return `${ROWS[code]} (troubleshooting: ${code})`;
  return Object.hasOwn(OTHERS, code) ? OTHERS[code] : undefined;
}
