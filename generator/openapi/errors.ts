/**
 * The answers of a server that are no results (protocol.md section 7): for each code when it comes, for each status its
 * codes, as the runtime's table has them.
 */

import { ERROR_CODES, type ErrorCode } from "svc-runtime/internal/generator";
import { type JsonObject, object } from "../json.js";

/** When a code is answered, and its details as a server writes them; absent for a code without. */
interface Refusal {
  readonly when: string;
  readonly details?: string;
}

const REFUSALS: Readonly<Record<ErrorCode, Refusal>> = {
  bad_request: { when: "HTTP that cannot be read, no `Host` or two, an unknown method" },
  host_header_required: {
    when: "`meta`: the host is missing or malformed",
    details: "Host: expected a host name or address with an optional port",
  },
  invalid_scheme: {
    when: "`meta`: the forwarded scheme is neither http nor https",
    details: "X-Forwarded-Proto: expected http or https",
  },
  auth_failed: {
    when: "a signature header is missing, malformed or repeated, the leader or its key is not in the allow-list, or the signature does not verify",
    details: "X-Svc-Sig-V: missing",
  },
  permission_denied: {
    when: "signed mode: the tool's `authorize` refused the leader; unsigned mode: the request comes from a web page whose origin is not allowed",
    details: "Origin: requests of web pages are refused unless their origin is allowed by name",
  },
  not_found: { when: "the path is unknown" },
  method_not_allowed: { when: "the method is not the one of the path" },
  request_timeout: {
    when: "headers, body or the whole request took too long",
    details: "headers within 10000 ms, the whole request within 30000 ms",
  },
  request_in_flight: {
    when: "an earlier request with the nonce has not ended; repeat the same request later to get its result",
  },
  replay_memory_lost: {
    when: "the request is a repeat, and whether its first attempt ran is not known here; it did not run now",
  },
  length_required: { when: "`Content-Length` is missing" },
  payload_too_large: { when: "`Content-Length` is over the limit, 12 MiB by default" },
  unsupported_content_encoding: { when: "`Content-Encoding` is not `identity`" },
  expectation_failed: { when: "an unknown `Expect`", details: "Expect: only 100-continue" },
  input_integrity_error: { when: "signed mode: the values are not those whose hash was signed" },
  input_deserialization_error: {
    when: "the body, or a value in it, is not what the input declares; `details` has the path",
    details: "tags[1]: expected a string, got a number",
  },
  rate_limited: { when: "the leader's rate is over its limit" },
  headers_too_large: { when: "too many headers or bytes of them", details: "at most 64 headers" },
  tool_invocation_failed: { when: "code of the tool threw" },
  internal_error: { when: "a fault of the server" },
  output_serialization_error: {
    when: "the result of the tool does not fit its output",
    details: "ok.tags: expected 1 to 256 values, got 0",
  },
  replay_store_full: { when: "signed mode: the replay memory is full" },
  replay_store_unavailable: { when: "signed mode: the shared replay store does not answer" },
  overloaded: { when: "a limit of load is reached" },
  shutting_down: { when: "the server is stopping" },
  tool_invocation_interrupted: { when: "the server stopped before the tool ended; the tool may have had effects" },
  tool_invocation_timeout: { when: "the time limit of the call passed" },
};

interface ErrorStatus {
  readonly summary: string;
  /** A header of the answer, by its name in `components.headers`. */
  readonly header?: "Allow" | "RetryAfter";
}

type Status = (typeof ERROR_CODES)[ErrorCode]["status"];

const STATUSES: Readonly<Record<Status, ErrorStatus>> = {
  400: { summary: "The request is malformed." },
  401: { summary: "Signed mode: the caller is not verified." },
  403: { summary: "The caller may not call this tool." },
  404: { summary: "Nothing is served at this path. Paths match byte for byte, without a trailing slash." },
  405: { summary: "The path has other methods.", header: "Allow" },
  408: { summary: "The request did not arrive in time." },
  409: { summary: "Signed mode: an earlier request with this nonce may have run." },
  411: { summary: "The request has no `Content-Length`; chunked bodies are not accepted." },
  413: { summary: "The body is too long." },
  415: { summary: "The body is compressed. `Content-Type` is not looked at." },
  417: { summary: "The request expects something else than `100-continue`." },
  422: { summary: "The input does not fit." },
  429: {
    summary: "Too many calls of this leader. Only where a rate limit is configured.",
    header: "RetryAfter",
  },
  431: { summary: "The headers are too large or too many." },
  500: { summary: "The call failed. The body never has the text of an exception; the log of the server does." },
  503: {
    summary: "The server cannot take or finish the call now. Repeat it after `Retry-After` seconds.",
    header: "RetryAfter",
  },
  504: { summary: "The tool took longer than its time limit." },
};

/** Each status with its codes. */
const CODES_BY_STATUS = new Map(
  Object.keys(STATUSES).map((status) => [
    Number(status) as Status,
    (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => ERROR_CODES[code].status === Number(status)),
  ]),
);

/** Schemas of the error bodies: `Error400` and so on. */
export function errorSchemas(): [name: string, schema: JsonObject][] {
  return [...CODES_BY_STATUS].map(([status, codes]) => [
    `Error${status}`,
    object(
      ["type", "object"],
      [
        "properties",
        object(
          ["error", object(["type", "string"], ["enum", codes])],
          ["details", object(["type", "string"], ["description", "What is wrong, for people. Not of every error."])],
        ),
      ],
      ["required", ["error"]],
    ),
  ]);
}

/**
 * Responses with these schemas, under the same names.
 *
 * @param prefix of the protocol's headers
 */
export function errorResponses(prefix: string): [name: string, response: JsonObject][] {
  return [...CODES_BY_STATUS].map(([status, codes]) => {
    const { summary, header } = STATUSES[status];
    const response = object(
      ["description", `${summary}\n\n${codes.map(lineOf).join("\n")}`],
      header !== undefined && ["headers", object(headerEntry(header))],
      [
        "content",
        object([
          "application/json",
          object(
            ["schema", reference("schemas", `Error${status}`)],
            ["examples", object(...codes.map((code) => [code, exampleOf(code, prefix)] as const))],
          ),
        ]),
      ],
    );
    return [`Error${status}`, response];
  });
}

/** The entries of `responses` for some statuses. */
export function errorReferences(statuses: readonly number[]): [status: string, response: JsonObject][] {
  return statuses.map((status) => [`${status}`, reference("responses", `Error${status}`)]);
}

export function reference(kind: string, name: string): JsonObject {
  return object(["$ref", `#/components/${kind}/${name}`]);
}

function headerEntry(header: "Allow" | "RetryAfter"): readonly [string, JsonObject] {
  return [header === "Allow" ? "Allow" : "Retry-After", reference("headers", header)];
}

function lineOf(code: ErrorCode): string {
  return `- \`${code}\`: ${REFUSALS[code].when}${ERROR_CODES[code].ran === "no" ? ". The tool did not run" : ""}`;
}

function exampleOf(code: ErrorCode, prefix: string): JsonObject {
  const text = REFUSALS[code].details?.replace("X-Svc-", prefix);
  return object(["value", object(["error", code], text !== undefined && ["details", text])]);
}
