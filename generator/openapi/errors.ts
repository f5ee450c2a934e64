/** The answers of a server that are no results (protocol.md section 7): for each status its codes, and when each comes. */

import { type JsonObject, object } from "../json.js";

/** One error code. */
interface Refusal {
  readonly code: string;
  readonly when: string;
  /** Details as a server writes them; absent for a code without. */
  readonly details?: string;
}

interface ErrorStatus {
  readonly summary: string;
  readonly refusals: readonly Refusal[];
  /** A header of the answer, by its name in `components.headers`. */
  readonly header?: "Allow" | "RetryAfter";
}

/** All statuses with their codes. The test compares them with the runtime's. */
const ERROR_STATUSES: Readonly<Record<string, ErrorStatus>> = {
  400: {
    summary: "The request is malformed.",
    refusals: [
      { code: "bad_request", when: "HTTP that cannot be read, no `Host` or two, an unknown method" },
      {
        code: "host_header_required",
        when: "`meta`: the host is missing or malformed",
        details: "Host: expected a host name or address with an optional port",
      },
      {
        code: "invalid_scheme",
        when: "`meta`: the forwarded scheme is neither http nor https",
        details: "X-Forwarded-Proto: expected http or https",
      },
    ],
  },
  401: {
    summary: "Signed mode: the caller is not verified. The tool did not run.",
    refusals: [
      {
        code: "auth_failed",
        when: "a signature header is missing, malformed or repeated, the leader or its key is not in the allow-list, or the signature does not verify",
        details: "X-Svc-Sig-V: missing",
      },
    ],
  },
  403: {
    summary: "The caller may not call this tool.",
    refusals: [
      {
        code: "permission_denied",
        when: "signed mode: the tool's `authorize` refused the leader; unsigned mode: the request comes from a web page whose origin is not allowed",
        details: "Origin: requests of web pages are refused unless their origin is allowed by name",
      },
    ],
  },
  404: {
    summary: "Nothing is served at this path. Paths match byte for byte, without a trailing slash.",
    refusals: [{ code: "not_found", when: "the path is unknown" }],
  },
  405: {
    summary: "The path has other methods.",
    refusals: [{ code: "method_not_allowed", when: "the method is not the one of the path" }],
    header: "Allow",
  },
  408: {
    summary: "The request did not arrive in time.",
    refusals: [
      {
        code: "request_timeout",
        when: "headers, body or the whole request took too long",
        details: "headers within 10000 ms, the whole request within 30000 ms",
      },
    ],
  },
  409: {
    summary: "Signed mode: a request with this nonce is running. Repeat the same request later to get its result.",
    refusals: [{ code: "request_in_flight", when: "an earlier request with the nonce has not ended" }],
  },
  411: {
    summary: "The request has no `Content-Length`; chunked bodies are not accepted.",
    refusals: [{ code: "length_required", when: "`Content-Length` is missing" }],
  },
  413: {
    summary: "The body is too long.",
    refusals: [{ code: "payload_too_large", when: "`Content-Length` is over the limit, 12 MiB by default" }],
  },
  415: {
    summary: "The body is compressed. `Content-Type` is not looked at.",
    refusals: [{ code: "unsupported_content_encoding", when: "`Content-Encoding` is not `identity`" }],
  },
  417: {
    summary: "The request expects something else than `100-continue`.",
    refusals: [{ code: "expectation_failed", when: "an unknown `Expect`", details: "Expect: only 100-continue" }],
  },
  422: {
    summary: "The input does not fit. The tool did not run.",
    refusals: [
      {
        code: "input_deserialization_error",
        when: "the body, or a value in it, is not what the input declares; `details` has the path",
        details: "tags[1]: expected a string, got a number",
      },
      {
        code: "input_integrity_error",
        when: "signed mode: the values are not those whose hash was signed",
      },
    ],
  },
  429: {
    summary: "Too many calls of this leader. Only where a rate limit is configured.",
    refusals: [{ code: "rate_limited", when: "the leader's rate is over its limit" }],
    header: "RetryAfter",
  },
  431: {
    summary: "The headers are too large or too many.",
    refusals: [{ code: "headers_too_large", when: "too many headers or bytes of them", details: "at most 64 headers" }],
  },
  500: {
    summary: "The call failed. The body never has the text of an exception; the log of the server does.",
    refusals: [
      { code: "tool_invocation_failed", when: "code of the tool threw" },
      {
        code: "output_serialization_error",
        when: "the result of the tool does not fit its output",
        details: "ok.tags: expected 1 to 256 values, got 0",
      },
      { code: "internal_error", when: "a fault of the server" },
    ],
  },
  503: {
    summary: "The server cannot take the call now. Nothing ran; repeat it after `Retry-After` seconds.",
    refusals: [
      { code: "overloaded", when: "a limit of load is reached" },
      { code: "replay_store_full", when: "signed mode: the replay memory is full" },
      { code: "replay_store_unavailable", when: "signed mode: the shared replay store does not answer" },
      { code: "shutting_down", when: "the server is stopping" },
    ],
    header: "RetryAfter",
  },
  504: {
    summary: "The tool took longer than its time limit.",
    refusals: [{ code: "tool_invocation_timeout", when: "the time limit of the call passed" }],
  },
};

/** Schemas of the error bodies: `Error400` and so on. */
export function errorSchemas(): [name: string, schema: JsonObject][] {
  return Object.entries(ERROR_STATUSES).map(([status, { refusals }]) => [
    `Error${status}`,
    object(
      ["type", "object"],
      [
        "properties",
        object(
          ["error", object(["type", "string"], ["enum", refusals.map(({ code }) => code)])],
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
  return Object.entries(ERROR_STATUSES).map(([status, { summary, refusals, header }]) => [
    `Error${status}`,
    object(
      ["description", `${summary}\n\n${refusals.map(({ code, when }) => `- \`${code}\`: ${when}`).join("\n")}`],
      header !== undefined && ["headers", object(headerEntry(header))],
      [
        "content",
        object([
          "application/json",
          object(
            ["schema", reference("schemas", `Error${status}`)],
            ["examples", object(...refusals.map((refusal) => [refusal.code, exampleOf(refusal, prefix)] as const))],
          ),
        ]),
      ],
    ),
  ]);
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

function exampleOf({ code, details }: Refusal, prefix: string): JsonObject {
  const text = details?.replace("X-Svc-", prefix);
  return object(["value", object(["error", code], text !== undefined && ["details", text])]);
}
