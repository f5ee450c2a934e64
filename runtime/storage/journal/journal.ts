/**
 * Journal of uploads, so that a crash loses no blob that was paid for. `FileJournal` is a local file; a caller may
 * implement another journal, for example with a database table.
 */

/**
 * Progress of an upload. `intent`: the content may have been sent. `stored`: the publisher answered. `verified`: the
 * content was read back and matches the reference. An entry stays until the upload is settled.
 */
export type UploadState = "intent" | "stored" | "verified";

/** One upload, as plain JSON. Contains no credentials and no content. */
export interface UploadEntry {
  /** Derived from the content and the terms of the purchase: 64 hex digits. */
  readonly key: string;
  readonly state: UploadState;
  /** Digest of the content: 64 hex digits. */
  readonly sha256: string;
  /** Size of the content, in bytes. */
  readonly size: number;
  /** Number of epochs that were requested. */
  readonly epochs: number;
  /** Start of the upload, in milliseconds since 1970. */
  readonly startedAt: number;
  /** Blob id in the publisher's answer. */
  readonly blobId?: string;
  /** Blob id computed by the official encoder. */
  readonly computedBlobId?: string;
  /** Whether the publisher created the blob, and so paid for it. */
  readonly newlyCreated?: boolean;
  readonly objectId?: string;
  readonly owner?: string;
  readonly endEpoch?: number;
  readonly deletable?: boolean;
  /** Other objects that earlier attempts of this upload bought: with another id, or expired. */
  readonly earlierObjectIds?: readonly string[];
}

/** Storage of the entries. Only one `WalrusStorage` uses it at a time. */
export interface UploadJournal {
  get(key: string): Promise<UploadEntry | undefined>;
  /**
   * Replaces the entry with this key. Resolves when the entry would survive a crash of the machine; rejects otherwise.
   */
  put(entry: UploadEntry): Promise<void>;
  /** Removes the entry with this key, as durably as `put`. */
  remove(key: string): Promise<void>;
  list(): Promise<readonly UploadEntry[]>;
}
