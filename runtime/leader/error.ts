/** How a call fails, as a leader sees it. */

/** What can go wrong on this side of the wire. */
export type LeaderFault =
  /** The input does not fit the ports, or has no JSON form. */
  | "invalid_input"
  /** The metadata document cannot be read, or is that of another tool. */
  | "invalid_metadata"
  | "connection_failed"
  /** No whole answer within the time given. */
  | "timeout"
  | "aborted"
  | "answer_too_large"
  /** An answer that is neither a result of this tool nor one of the protocol's errors. */
  | "invalid_answer"
  /** A result without a signature, where the tool's public key was given. */
  | "unsigned_result"
  /** A result whose signature is not the tool's signature of it. */
  | "wrong_signature";

/** What else is known of a failed call. */
export interface LeaderErrorFacts {
  readonly status?: number;
  readonly retryAfter?: number;
  readonly cause?: unknown;
}

/**
 * A call that gave no result. With a `status` a server answered so, and `code` and `details` are its words (protocol.md
 * section 7; errors are never signed, so they prove nothing), or `invalid_answer` when they are not of the protocol's
 * form. Without, `code` is a {@link LeaderFault}. No message holds a key, an input or a result.
 */
export class LeaderError extends Error {
  override readonly name = "LeaderError";
  /** The HTTP status of a refusal. */
  readonly status: number | undefined;
  /** Seconds after which the server wants to be asked again (503, 429). */
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
