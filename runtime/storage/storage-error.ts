import { checkedInteger } from "svc-client/internal/checked-integer";

/** Cause of a failure: a fixed set of codes. */
export type StorageFault =
  /** An invalid option: an endpoint, a limit, a deadline. */
  | "invalid_option"
  /** The content is not bytes, is empty or is too large. */
  | "invalid_upload"
  /** The caller's signal fired; `cause` is its reason. */
  | "aborted"
  /** No connection (name, TCP and TLS) within `connectMs`. */
  | "connect_timeout"
  /** No bytes of an answer were received for `progressMs`. */
  | "progress_timeout"
  /** The whole operation including retries took longer than `totalMs`. */
  | "total_timeout"
  /** The connection failed, or ended before the answer was complete. */
  | "connection_failed"
  /** A server answered with a redirect, which is never followed. */
  | "redirected"
  /** A server answered with a status other than 200; see `status`. */
  | "refused"
  /** The aggregator does not have the blob. */
  | "not_found"
  /** An answer violates the HTTP interface. */
  | "answer_invalid"
  /** The publisher's blob id differs from the one that the official encoder computes from the content. */
  | "blob_id_mismatch"
  /** The stored content differs from the upload, or from the digest of the reference. */
  | "content_mismatch"
  /** The values to resolve exceed the byte budget. */
  | "over_budget"
  /** The official encoder is required but missing, or returned no blob id. */
  | "encoder_failed"
  /** The journal cannot be read or written. */
  | "journal_failed";

/** Whether storage was paid for. `maybe`: the whole content was sent, but no answer confirms that it was stored. */
export type Paid = "no" | "maybe" | "yes";

/** Details of a failure. */
export interface StorageErrorFacts {
  readonly paid?: Paid;
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly blobId?: string | undefined;
  readonly key?: string | undefined;
  readonly cause?: unknown;
}

/** A failed upload or read. Messages contain no credentials and no text from a server. */
export class StorageError extends Error {
  override readonly name = "StorageError";
  /** Whether this operation may have cost something. `WalrusStorage.recover()` lists purchases. */
  readonly paid: Paid;
  /** The HTTP status of the answer. */
  readonly status: number | undefined;
  /** Milliseconds to wait before a retry, from the server's answer (429). */
  readonly retryAfterMs: number | undefined;
  /** Id of the stored blob, if known. */
  readonly blobId: string | undefined;
  /** Key of the upload in the journal. */
  readonly key: string | undefined;

  constructor(
    readonly code: StorageFault,
    message: string,
    facts: StorageErrorFacts = {},
  ) {
    super(message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.paid = facts.paid ?? "no";
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
    this.blobId = facts.blobId;
    this.key = facts.key;
  }

  /** Copy of this error with additional facts. */
  with(facts: StorageErrorFacts): StorageError {
    return new StorageError(this.code, this.message, { ...this, cause: this.cause, ...facts });
  }
}

/** Code of a system error in parentheses, for messages; empty if there is none. */
export function systemCode(error: unknown): string {
  const code: unknown = (error as NodeJS.ErrnoException | undefined)?.code;
  return typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code) ? ` (${code})` : "";
}

/**
 * Checks an integer option.
 *
 * @throws {@link StorageError} `invalid_option`
 */
export function requireInteger(name: string, value: number, min: number, max: number): number {
  try {
    return checkedInteger(name, value, min, max);
  } catch (error) {
    throw new StorageError("invalid_option", (error as RangeError).message);
  }
}
