/**
 * The one table of error answers (protocol.md section 7) and its words: OpenAPI, invoke, page and doctor read it, and tests
 * hold docs/error-codes.md against it.
 */

import {
  DEFAULT_HEADER_PREFIX,
  DEFAULT_INVOKE_MAX_BODY_BYTES,
  ERROR_CODES,
  type ErrorCode,
  MAX_VALUES,
  type Ran,
} from "svc-runtime/internal/generator";

/** Texts are parts of sentences: lower case, without a period. */
interface ErrorAnswer {
  readonly status: number;
  readonly ran: Ran;
  readonly meaning: string;
  /** The next step of the caller. */
  readonly caller: string;
  /** The next step of the server's operator. */
  readonly operator: string;
  /** Details as a server writes them, for the codes that have some; with the default header prefix. */
  readonly details?: string;
  /** Ends a run, so that retries get the same answer (section 8). */
  readonly isStored?: true;
}

type Words = Omit<ErrorAnswer, "status" | "ran">;

const REPEAT = "repeat the same request after the seconds of Retry-After";
const SAME_ANSWER = "a repeat gets the same answer";

const WORDS: Readonly<Record<ErrorCode, Words>> = {
  bad_request: {
    meaning: "the request is not valid HTTP, has no Host or two, or an unknown method",
    caller: "look at the proxies: the request was damaged on the way",
    operator: "look at the log of the gateway: it sends requests that are not valid HTTP",
  },
  host_header_required: {
    meaning: "the host of a request to /meta is missing or malformed",
    caller: "look at the proxies: /meta needs one host name",
    operator: "let the gateway set X-Forwarded-Host to one name, or leave it out",
    details: "Host: expected a host name or address with an optional port",
  },
  invalid_scheme: {
    meaning: "the forwarded scheme of a request to /meta is neither http nor https",
    caller: "look at the proxies: X-Forwarded-Proto must be http or https",
    operator: "let the gateway set X-Forwarded-Proto to http or https",
    details: "X-Forwarded-Proto: expected http or https",
  },
  auth_failed: {
    meaning: "the signature is missing or was refused",
    caller: "compare the leader's id, key id and key with the allow-list of the server",
    operator: "see which header the details name; a gateway has to pass every signature header unchanged, once",
    details: `${DEFAULT_HEADER_PREFIX}Sig-V: missing`,
  },
  permission_denied: {
    meaning: "the tool refused this leader, or a web page's origin is not allowed",
    caller: "ask for access: the signature is valid, and a repeat is refused too",
    operator:
      "ask the author of the tool whom authorize refuses; without signatures, add the page's origin to allowedOrigins",
    details: "Origin: requests of web pages are refused unless their origin is allowed by name",
    isStored: true,
  },
  not_found: {
    meaning: "no tool is at this address",
    caller: "take an address of the list at /tools of the server",
    operator: "the address is not that of a tool: see GET /tools of the server",
  },
  method_not_allowed: {
    meaning: "the path has other methods",
    caller: "use a method that the header Allow names",
    operator: "the gateway changes the method of requests: it has to pass it",
  },
  request_timeout: {
    meaning: "the request arrived too slowly",
    caller: "repeat the request: all of it has to arrive within 30 s, and a body at no less than 16 KiB a second",
    operator: "look at the way between the caller and the server",
    details: "headers within 10000 ms, the whole request within 30000 ms",
  },
  request_in_flight: {
    meaning: "a call with this nonce is still running",
    caller: "repeat the same request later for its result",
    operator: "wait for the call to end, or for lease and TTL when its replica died",
  },
  replay_memory_lost: {
    meaning: "the replay memory that may know this request is gone",
    caller:
      "find out by the tool's effects whether an earlier attempt ran; before a first attempt (ran is no) sign a new request",
    operator: "a repeat reached another replay memory than its first attempt: share one between replicas",
  },
  length_required: {
    meaning: "the request has no Content-Length",
    caller: "send a Content-Length: chunked bodies are refused",
    operator: "let the gateway buffer requests (nginx: proxy_request_buffering on), so that they have a length",
  },
  payload_too_large: {
    meaning: "the body is too large",
    caller: "send a smaller input",
    operator: `raise invoke_max_body_bytes in the configuration, ${Number(DEFAULT_INVOKE_MAX_BODY_BYTES) / 2 ** 20} MiB by default, or the limit of the gateway`,
  },
  unsupported_content_encoding: {
    meaning: "the body is compressed",
    caller: "send it without Content-Encoding",
    operator: "the gateway compresses requests: switch that off",
  },
  expectation_failed: {
    meaning: "the request expects something other than 100-continue",
    caller: "send it without Expect",
    operator: "the gateway adds an Expect header: switch that off",
    details: "Expect: only 100-continue",
  },
  input_integrity_error: {
    meaning: "the body is not the signed one",
    caller: "something on the way changed it: call the tool without the proxy in between",
    operator: "let the gateway pass bodies byte for byte: no rewriting, no transcoding",
  },
  input_deserialization_error: {
    meaning: "the input does not fit the contract",
    caller: "correct the input at the place that the details name",
    operator: "run svc-gen diff: it shows whether the tool's Input changed",
    details: "tags[1]: expected a string, got a number",
    isStored: true,
  },
  rate_limited: {
    meaning: "this leader calls more often than the server allows",
    caller: REPEAT,
    operator: "let the leader wait as long as Retry-After says, or raise its rate in bootstrap",
  },
  headers_too_large: {
    meaning: "the headers are too many or too large",
    caller: "send at most 64 headers, together 16 KiB; proxies may add some",
    operator: "the gateway adds headers: at most 64, together 16 KiB, are taken",
    details: "at most 64 headers",
  },
  tool_invocation_failed: {
    meaning: "the tool threw an error",
    caller: `${SAME_ANSWER}; only the log of the server has the exception`,
    operator: "read the line about the failed tool in the server's log: it has the error and its stack",
    isStored: true,
  },
  internal_error: {
    meaning: "the server failed",
    caller: "report it to the operator of the server",
    operator: "report it with its cause from the server's log",
    isStored: true,
  },
  output_serialization_error: {
    meaning: "the result of the tool does not fit its Output type",
    caller: `${SAME_ANSWER}; the details and the log of the server name the port`,
    operator: "correct what the tool returns, or its Output; the server's log names the port",
    details: `ok.tags: expected 1 to ${MAX_VALUES} values, got 0`,
    isStored: true,
  },
  replay_store_full: {
    meaning: "the replay memory is full",
    caller: REPEAT,
    operator:
      "raise SVC_REPLAY_MAX_BYTES and the memory limit, lower replay_cache_ttl_ms, or serve from more processes",
  },
  replay_store_unavailable: {
    meaning: "the replay store does not answer",
    caller: REPEAT,
    operator: "look at the replay store; the server's log has its error",
  },
  overloaded: {
    meaning: "the server is overloaded",
    caller: REPEAT,
    operator: "compare the load with the limits given to bootstrap; raise them, or serve from more processes",
  },
  shutting_down: {
    meaning: "the server is stopping",
    caller: `${REPEAT}, or at another address`,
    operator: "let the load balancer poll /readyz",
  },
  tool_invocation_interrupted: {
    meaning: "the server stopped while the tool ran",
    caller: "find out by the tool's effects whether it ran: a repeat never runs it again",
    operator: "give running calls a longer drain limit",
  },
  tool_invocation_timeout: {
    meaning: "the tool took longer than its timeout()",
    caller: SAME_ANSWER,
    operator: "read in the server's log what the tool did after its deadline",
    isStored: true,
  },
};

export const ERROR_ANSWERS: ReadonlyMap<string, ErrorAnswer> = new Map(
  Object.entries(WORDS).map(([code, words]) => [code, { ...ERROR_CODES[code as ErrorCode], ...words }]),
);

/** A part of a sentence as its beginning. */
export function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
