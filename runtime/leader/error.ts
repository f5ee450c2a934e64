/** Errors of a leader's call. */

/** Causes of failure on the leader's side. */
export type LeaderFault =
  /** The input does not fit the ports, or has no JSON form. */
  | "invalid_input"
  /** The metadata document is invalid, or describes another tool. */
  | "invalid_metadata"
  | "connection_failed"
  /** No complete answer within the timeout. */
  | "timeout"
  | "aborted"
  | "answer_too_large"
  /** The answer is neither a result of this tool nor an error of the protocol. */
  | "invalid_answer"
  /** The result is unsigned, but the tool's public key was given. */
  | "unsigned_result"
  /** The signature of the result is not valid for the tool's key. */
  | "wrong_signature";

/** Details of a failed call. */
export interface LeaderErrorFacts {
  readonly status?: number;
  readonly retryAfter?: number;
  readonly cause?: unknown;
}

/**
 * A call without a result. With a `status`, a server answered an error: `code` and `details` are the server's
 * (protocol.md section 7; errors are unsigned and prove nothing), or `code` is `invalid_answer` when they violate the
 * protocol. Without a `status`, `code` is a {@link LeaderFault}. No message contains a key, an input or a result.
 *
 * @example
 * ```ts
 * import { LeaderError, type LeaderClient } from "svc-runtime/leader";
 *
 * export async function callOnce(client: LeaderClient, input: object) {
 *   try {
 *     return await client.invoke(input);
 *   } catch (error) {
 *     if (error instanceof LeaderError && error.status === 503) return { retryAfter: error.retryAfter ?? 1 };
 *     throw error;
 *   }
 * }
 * ```
 */
export class LeaderError extends Error {
  override readonly name = "LeaderError";
  /** The HTTP status of an error answer. */
  readonly status: number | undefined;
  /** Seconds to wait before a retry, as asked by the server (503, 429). */
  readonly retryAfter: number | undefined;

  constructor(
    readonly code: LeaderFault | (string & {}),
    readonly details?: string,
    { status, retryAfter, cause }: LeaderErrorFacts = {},
  ) {
    const what = details === undefined ? code : `${code}: ${details}`;
    super(status === undefined ? what : `the tool answered ${status} ${what}`, cause === undefined ? {} : { cause });
    this.status = status;
    this.retryAfter = retryAfter;
  }
}
