import { shareBrand } from "../wire/brand.js";
import { ERROR_CODES, type ErrorCode, isErrorCode, type Ran } from "../wire/error-codes.js";
import type { SignedRequest } from "./request/signed-request.js";

/** Failures that the client itself reports, each with the default for whether the tool ran. */
export const LEADER_FAULTS = {
  /** The input does not match the ports, or has no JSON form. */
  invalid_input: "no",
  /** The metadata document is invalid, or describes another tool. */
  invalid_metadata: "no",
  /** The client was closed before the call. */
  client_closed: "no",
  /** DNS, connection or TLS handshake failed (`ran` is `no`), or the connection broke later. */
  connection_failed: "maybe",
  /** No complete answer within the timeout or before the deadline. */
  timeout: "maybe",
  aborted: "maybe",
  answer_too_large: "maybe",
  /** 502, 503 or 504 from a gateway: the answer has no error of the protocol. */
  gateway_error: "maybe",
  /** An error with a code that this version of the client does not know. */
  unknown_error: "maybe",
  /** The answer is neither a result of this tool nor an error of the protocol. */
  invalid_answer: "maybe",
  /** The result is unsigned, although `toolKey` is set. */
  unsigned_result: "maybe",
  /** The result's signature is not valid for any key of the tool. */
  wrong_signature: "maybe",
  /** The function `toolKey` threw or returned no valid key. */
  tool_key_unavailable: "maybe",
  /** The result is verified, but the function `receipts` threw or took too long. */
  receipt_not_kept: "yes",
} as const satisfies Readonly<Record<string, Ran>>;

export type LeaderFault = keyof typeof LEADER_FAULTS;

/** Code of a {@link LeaderError}: from a server (protocol.md section 7) or from the client. */
export type LeaderErrorCode = ErrorCode | LeaderFault;

export interface LeaderErrorFacts {
  readonly status?: number | undefined;
  readonly retryAfter?: number | undefined;
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
  /** By default, determined by the code. */
  readonly ran?: Ran | undefined;
  readonly request?: SignedRequest | undefined;
}

/**
 * A call without a result. With a `status`, a server answered with an error: `code` and `details` are the server's
 * (protocol.md section 7; errors are unsigned and prove nothing), or `code` is a {@link LeaderFault} if the answer is
 * not an error of the protocol. Messages contain no keys, inputs or results.
 *
 * @example
 * ```ts
 * import { LeaderError, type LeaderClient } from "svc-runtime/leader";
 *
 * export async function callOnce(client: LeaderClient, input: object) {
 *   try {
 *     return await client.invoke(input);
 *   } catch (error) {
 *     if (!(error instanceof LeaderError)) throw error;
 *     return { ran: error.ran, repeatable: error.request, waitSeconds: error.retryAfter ?? 1 };
 *   }
 * }
 * ```
 */
export class LeaderError extends Error {
  override readonly name = "LeaderError";
  /**
   * Whether the tool ran because of this request, including all attempts to send it.
   *
   * - `no`: certain. The client rejected the call, no byte of the request was sent, or the server answered with a code
   * that means that nothing ran. Errors are unsigned, so the last case relies on the server
   * - `maybe`: unknown. Repeat the same {@link request}, which never runs twice
   * - `yes`: the tool ran
   */
  readonly ran: Ran;
  /** HTTP status of an error answer. */
  readonly status: number | undefined;
  /** Seconds to wait before a repeat, from the `Retry-After` of the server or a gateway (429, 503). */
  readonly retryAfter: number | undefined;
  /** `X-Request-Id` of an error answer, which the server's log lines about the request contain. */
  readonly requestId: string | undefined;
  /**
   * Signed request, to repeat it; undefined for unsigned calls and inputs that could not be signed. Not enumerable, so
   * that logs do not print the input.
   */
  declare readonly request: SignedRequest | undefined;

  constructor(
    readonly code: LeaderErrorCode,
    readonly details?: string,
    { status, retryAfter, requestId, cause, ran, request }: LeaderErrorFacts = {},
  ) {
    const what = details === undefined ? code : `${code}: ${details}`;
    super(
      status === undefined ? what : `${answerer(code)} answered ${status} ${what}`,
      cause === undefined ? {} : { cause },
    );
    this.ran = ran ?? ranOf(code);
    this.status = status;
    this.retryAfter = retryAfter;
    this.requestId = requestId;
    Object.defineProperty(this, "request", { value: request });
  }

  /** The same error with other facts. */
  with(facts: LeaderErrorFacts & { readonly details?: string }): LeaderError {
    return new LeaderError(this.code, facts.details ?? this.details, {
      ...this,
      cause: this.cause,
      request: this.request,
      ...facts,
    });
  }
}

shareBrand(LeaderError, "LeaderError");

function ranOf(code: LeaderErrorCode): Ran {
  return isErrorCode(code) ? ERROR_CODES[code].ran : LEADER_FAULTS[code];
}

/** Sender of an error answer, for the message: only errors of the protocol certainly come from the tool. */
function answerer(code: LeaderErrorCode): string {
  return isErrorCode(code) || code === "unknown_error" ? "the tool" : "a gateway or another server";
}
