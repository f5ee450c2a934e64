/** The one error of the storage: a closed set of codes, fixed words, nothing of a credential or of what a server sent. */

/** What went wrong. */
export type StorageFault =
  /** An option that cannot be used: an endpoint, a limit, a deadline. */
  | "invalid_option"
  /** Content that is not bytes, empty or too large. */
  | "invalid_upload"
  /** The caller's signal fired; `cause` is its reason. */
  | "aborted"
  /** No connection (name, TCP and TLS) within `connectMs`. */
  | "connect_timeout"
  /** A body stood still for `progressMs`. */
  | "progress_timeout"
  /** The whole operation, its retries included, took longer than `totalMs`. */
  | "total_timeout"
  /** The connection could not be made, or ended before the answer did. */
  | "connection_failed"
  /** A server answered with a redirect; none is followed. */
  | "redirected"
  /** A server answered with another status than 200; see `status`. */
  | "refused"
  /** The aggregator does not have the blob. */
  | "not_found"
  /** An answer that is not what the interface promises. */
  | "answer_invalid"
  /** The publisher names another blob id than the official encoder computes from the content. */
  | "blob_id_mismatch"
  /** What is stored is not what was uploaded, or not what the reference promises. */
  | "content_mismatch"
  /** The values to resolve are larger than the byte budget. */
  | "over_budget"
  /** The official encoder is missing although it is required, or did not give a blob id. */
  | "encoder_failed"
  /** The journal cannot be read or written. */
  | "journal_failed";

/** Whether storage was paid for: certainly not, perhaps (the whole content was sent and no answer tells), certainly. */
export type Paid = "no" | "maybe" | "yes";

/** What else is known of a failure. */
export interface StorageErrorFacts {
  readonly paid?: Paid;
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly blobId?: string | undefined;
  readonly key?: string | undefined;
  readonly cause?: unknown;
}

/** A failure of an upload or a read. */
export class StorageError extends Error {
  override readonly name = "StorageError";
  /** Whether this operation may have cost something; what it bought is listed by `WalrusStorage.recover()`. */
  readonly paid: Paid;
  /** The HTTP status that a server answered. */
  readonly status: number | undefined;
  /** Milliseconds after which the server wants to be asked again (429). */
  readonly retryAfterMs: number | undefined;
  /** The blob that was stored, where one is known. */
  readonly blobId: string | undefined;
  /** The upload's key in the journal. */
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

  /** The same failure with more facts. */
  with(facts: StorageErrorFacts): StorageError {
    return new StorageError(this.code, this.message, {
      paid: this.paid,
      status: this.status,
      retryAfterMs: this.retryAfterMs,
      blobId: this.blobId,
      key: this.key,
      cause: this.cause,
      ...facts,
    });
  }
}

/** An integer option within its range. */
export function requireInteger(name: string, value: number, least: number, most: number): number {
  if (!Number.isSafeInteger(value) || value < least || value > most) {
    throw new StorageError("invalid_option", `${name}: expected an integer from ${least} to ${most}`);
  }
  return value;
}
