/**
 * Table of error answers (protocol.md section 7) with explanations, for OpenAPI, invoke, the page and doctor. Tests
 * compare docs/error-codes.md with it.
 */

import {
  DEFAULT_HEADER_PREFIX,
  DEFAULT_INVOKE_MAX_BODY_BYTES,
  ERROR_CODES,
  type ErrorCode,
  MAX_VALUES,
  type Ran,
} from "svc-runtime/internal/generator";
import { sentences } from "./sentences.js";

/** The texts are sentence fragments: lower case, without a period. */
interface ErrorAnswer {
  readonly status: number;
  readonly ran: Ran;
  readonly meaning: string;
  /** What the caller should do next. */
  readonly caller: string;
  /** What the server's operator should do next. */
  readonly operator: string;
  /** Sample details, with the default header prefix; undefined for codes without details. */
  readonly details?: string;
  /** Whether retries get the stored answer (section 8). */
  readonly isStored?: true;
}

type Words = Omit<ErrorAnswer, "status" | "ran">;

const REPEAT = "send the same request again after Retry-After seconds";
const SAME_ANSWER = "a retry gets the same answer";

const WORDS: Readonly<Record<ErrorCode, Words>> = {
  bad_request: {
    meaning: "the request is not valid HTTP, has no Host header or several, or has an unknown method",
    caller: "check the proxies: one of them damages requests",
    operator: "check the log of the gateway: it sends invalid HTTP, or uses https on a port without TLS",
  },
  host_header_required: {
    meaning: "the host of a request to /meta is missing or malformed",
    caller: "check the proxies: /meta needs exactly one host name",
    operator: "configure the gateway to send X-Forwarded-Host with one host name, or not at all",
    details: "Host: expected a host name or address with an optional port",
  },
  invalid_scheme: {
    meaning: "the forwarded scheme of a request to /meta is neither http nor https",
    caller: "check the proxies: X-Forwarded-Proto must be http or https",
    operator: "configure the gateway to set X-Forwarded-Proto to http or https",
    details: "X-Forwarded-Proto: expected http or https",
  },
  auth_failed: {
    meaning: "the signature is missing or was refused",
    caller: "compare the leader's ID, key ID and key with the server's allow-list",
    operator: "check the header named in the details; a gateway must pass every signature header once, unchanged",
    details: `${DEFAULT_HEADER_PREFIX}Sig-V: missing; this server accepts only signed calls`,
  },
  permission_denied: {
    meaning: "the tool refused this leader, or a web page's origin is not allowed",
    caller: "ask the operator for access: a retry is refused too",
    operator:
      "check which calls the tool's authorize and the server's around refuse; on an unsigned server, add the page's origin to allowedOrigins",
    details: "Origin: requests of web pages are refused unless their origin is allowed by name",
    isStored: true,
  },
  not_found: {
    meaning: "no tool is at this address",
    caller: "use an address listed by GET /tools",
    operator: "correct the address: GET /tools lists all tools",
    details: "no tool endpoint is at this path: GET /tools lists the tools, each with /invoke, /meta and /health",
  },
  method_not_allowed: {
    meaning: "the path does not support this method",
    caller: "use a method listed in the Allow header",
    operator: "configure the gateway to pass the method of requests unchanged",
    details: "this path allows POST",
  },
  request_timeout: {
    meaning: "the request arrived too slowly",
    caller: "retry: the whole request must arrive within 30 s, and its body at 16 KiB a second or faster",
    operator: "check the network between the caller and the server",
    details: "headers within 10000 ms, the whole request within 30000 ms",
  },
  request_in_flight: {
    meaning: "a call with this nonce is still running",
    caller: "send the same request again later to get its result",
    operator:
      "wait until the call has ended or, if its replica died, until the replica's claim on the call expires (340 s by default)",
  },
  replay_memory_lost: {
    meaning: "the server cannot know whether an earlier attempt of this request ran",
    caller:
      "check the tool's effects to find out whether an earlier attempt ran; if none did, or if the client reports ran: no, sign a new request",
    operator: "use a shared replay store, which survives restarts and serves all processes",
  },
  length_required: {
    meaning: "the request has no Content-Length",
    caller: "send a Content-Length: chunked bodies are refused",
    operator:
      "configure the gateway to buffer requests, so that they have a length (nginx: proxy_request_buffering on)",
  },
  payload_too_large: {
    meaning: "the body is too large",
    caller: "send a smaller input, or ask for a larger invoke_max_body_bytes",
    operator: `raise invoke_max_body_bytes in the configuration (${Number(DEFAULT_INVOKE_MAX_BODY_BYTES) / 2 ** 20} MiB by default), or the body limit of the gateway`,
  },
  unsupported_content_encoding: {
    meaning: "the body is compressed",
    caller: "send the body without Content-Encoding",
    operator: "disable compression of requests in the gateway",
  },
  expectation_failed: {
    meaning: "the request expects something other than 100-continue",
    caller: "send the request without Expect",
    operator: "stop the gateway from adding an Expect header",
    details: "Expect: only 100-continue",
  },
  input_integrity_error: {
    meaning: "the body is not the one that was signed",
    caller: "a proxy changed the body: call the tool without the proxy",
    operator: "configure the gateway to pass bodies unchanged, byte for byte",
  },
  input_deserialization_error: {
    meaning: "the input does not match the contract",
    caller: "correct the input at the position named in the details",
    operator: "run svc-gen diff to see whether the tool's Input changed",
    details: "tags[1]: expected a string, got a number",
    isStored: true,
  },
  rate_limited: {
    meaning: "the server allows no further call of this leader now",
    caller: REPEAT,
    operator:
      "let the leader wait for Retry-After, or raise load.rateLimit.calls of the server; with details, the server's around refused the call",
  },
  headers_too_large: {
    meaning: "the headers are too many or too large",
    caller: "send at most 64 headers, with 16 KiB in total; proxies may add headers of their own",
    operator: "reduce the headers that the gateway adds: at most 64 headers with 16 KiB in total are accepted",
    details: "at most 64 headers",
  },
  tool_invocation_failed: {
    meaning: "the tool threw an error",
    caller: `${SAME_ANSWER}; the exception is only in the server's log`,
    operator: "find the error and its stack in the server's log",
    isStored: true,
  },
  internal_error: {
    meaning: "the server has an internal fault",
    caller: "report the error to the operator of the server",
    operator: "report the bug; the server's log contains its cause",
    isStored: true,
  },
  output_serialization_error: {
    meaning: "the result of the tool does not match its Output type",
    caller: `${SAME_ANSWER}; the details and the server's log name the port`,
    operator: "correct the returned value or the Output type; the server's log names the port",
    details: `ok.tags: expected 1 to ${MAX_VALUES} values, got 0`,
    isStored: true,
  },
  replay_store_full: {
    meaning: "the replay memory is full",
    caller: REPEAT,
    operator:
      "raise SVC_REPLAY_MAX_BYTES and the memory limit of the process, lower replay_cache_ttl_ms, or run more processes",
  },
  replay_store_unavailable: {
    meaning: "the replay store does not answer",
    caller: REPEAT,
    operator: "check the replay store; its error is in the server's log",
  },
  overloaded: {
    meaning: "the server is overloaded",
    caller: REPEAT,
    operator: "raise the limits given to bootstrap, or run more processes",
  },
  shutting_down: {
    meaning: "the server is stopping",
    caller: `${REPEAT}, or to another address of the tool`,
    operator: "let the load balancer poll /readyz, which fails before the server stops",
  },
  tool_invocation_interrupted: {
    meaning: "the server stopped while the tool ran",
    caller: "check the tool's effects to find out whether it ran: a retry of LeaderClient does not run it again",
    operator: "raise shutdown.drainMs, the time that running calls get at shutdown",
  },
  tool_invocation_timeout: {
    meaning: "the tool took longer than its timeout()",
    caller: SAME_ANSWER,
    operator: "check the server's log for what the tool did after its deadline",
    isStored: true,
  },
};

export const ERROR_ANSWERS: ReadonlyMap<string, ErrorAnswer> = new Map(
  Object.entries(WORDS).map(([code, words]) => [code, { ...ERROR_CODES[code as ErrorCode], ...words }]),
);

/** Sentence fragments that tell whether the tool ran. */
export const RAN_TEXTS: Readonly<Record<Ran, string>> = {
  no: "the tool did not run",
  maybe: "the tool may have run",
  yes: "the tool ran",
};

/** Explanation of an error answer; the details say which of its two causes a 403 has. */
export function explainAnswer(code: string, details = ""): ErrorAnswer | undefined {
  const answer = ERROR_ANSWERS.get(code);
  if (code !== "permission_denied" || answer === undefined) return answer;
  if (!/^(?:Origin|Sec-Fetch-Site)\b/.test(details)) return { ...answer, meaning: "the tool refused this leader" };
  const caller = "ask the operator to add the page's origin to allowedOrigins";
  return { ...answer, meaning: "the origin of this web page is not allowed", caller };
}

/** Sentences: what the caller should do next, and that the tool did not run, if that is certain. */
export function callerAdvice({ caller, ran }: ErrorAnswer): string {
  return sentences(caller, ...(ran === "no" ? [RAN_TEXTS.no] : []));
}

/** Part of a signed request because of which a server refused it. */
type AuthReason = "prefix" | "leader" | "key" | "twice" | "header";

/**
 * Explains a refused signature, by the details of the answer.
 *
 * @param sent prefix of the signature headers that were sent
 */
export function authReason(details: string, sent: string): { readonly reason: AuthReason; readonly advice: string } {
  const [, prefix = sent] = /^([A-Za-z][A-Za-z0-9-]{0,40}-)Sig-V: missing(?:;|$)/.exec(details) ?? [];
  if (prefix.toLowerCase() !== sent.toLowerCase()) {
    return { reason: "prefix", advice: `this server expects another header prefix: pass --header-prefix ${prefix}` };
  }
  const [, reason = "header"] = AUTH_DETAILS.find(([words]) => words.test(details)) ?? [];
  return { reason, advice: reason === "header" ? `${DROPPED} ${sent}` : AUTH_ADVICE[reason] };
}

const AUTH_DETAILS = [
  [/no such leader and key in the allow-list$/, "leader"],
  [/does not verify(?: with .*)?$/, "key"],
  [/given twice$/, "twice"],
] as const;

const AUTH_ADVICE: Readonly<Record<Exclude<AuthReason, "prefix" | "header">, string>> = {
  leader:
    "add this leader ID and key ID with the leader's public key to the server's allow-list, which a running server reads again",
  key: "compare the public key of this leader ID and key ID in the server's allow-list with the key that signed",
  twice: "a gateway duplicates the header: let it pass each header once",
};

const DROPPED = "a gateway drops or changes the header: let it pass all headers that start with";

/** The code and details of an error answer; undefined if the body is no error of the protocol. */
export function readErrorAnswer(
  body: Buffer,
): { readonly code: string; readonly details: string | undefined } | undefined {
  try {
    const { error: code, details } = Object(JSON.parse(body.toString()));
    if (typeof code !== "string" || !/^[a-z_]{1,64}$/.test(code)) return undefined;
    return { code, details: typeof details === "string" ? details : undefined };
  } catch {
    return undefined;
  }
}
