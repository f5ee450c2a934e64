/** The error of the storage: a closed set of codes and fixed messages, without credentials or server content. */

import { checkedInteger } from "svc-runtime/internal/storage";

/** Cause of a failure. */
export type StorageFault =
  /** An invalid option: an endpoint, a limit, a deadline. */
  | "invalid_option"
  /** Content that is not bytes, empty or too large. */
  | "invalid_upload"
  /** The caller's signal fired; `cause` is its reason. */
  | "aborted"
  /** No connection (name, TCP and TLS) within `connectMs`. */
  | "connect_timeout"
  /** No progress of a body for `progressMs`. */
  | "progress_timeout"
  /** The whole operation, its retries included, took longer than `totalMs`. */
  | "total_timeout"
  /** The connection failed, or ended before the answer did. */
  | "connection_failed"
  /** A server answered with a redirect, which is never followed. */
  | "redirected"
  /** A server answered with a status other than 200; see `status`. */
  | "refused"
  /** The aggregator does not have the blob. */
  | "not_found"
  /** An answer that violates the HTTP interface. */
  | "answer_invalid"
  /** The publisher answered another blob id than the official encoder computes from the content. */
  | "blob_id_mismatch"
  /** The stored content differs from the upload, or from the digest of the reference. */
  | "content_mismatch"
  /** The values to resolve exceed the byte budget. */
  | "over_budget"
  /** The official encoder is required but missing, or returned no blob id. */
  | "encoder_failed"
  /** The journal cannot be read or written. */
  | "journal_failed";

/** Whether storage was paid for. `maybe`: the whole content was sent, but no answer confirms it. */
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

/** A failure of an upload or a read. */
export class StorageError extends Error {
  override readonly name = "StorageError";
  /** Whether this operation may have cost something. `WalrusStorage.recover()` lists its purchases. */
  readonly paid: Paid;
  /** The HTTP status of the answer. */
  readonly status: number | undefined;
  /** Milliseconds to wait before a retry, as asked by the server (429). */
  readonly retryAfterMs: number | undefined;
  /** The stored blob, where known. */
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

  /** The same failure with additional facts. */
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

/** The code of a system error in parentheses, for messages; empty when there is none. */
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
