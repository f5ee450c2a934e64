/**
 * Journal of uploads, so that a crash loses no paid blob. `FileJournal` keeps it in a local file; a caller may
 * implement another store, for instance a database table.
 */

/**
 * Progress of an upload. `intent`: the content may have been sent. `stored`: the publisher answered. `verified`: the
 * content was read back and matches the reference. An entry stays until it is settled.
 */
export type UploadState = "intent" | "stored" | "verified";

/** One upload, as plain JSON. Contains no credentials and no content. */
export interface UploadEntry {
  /** Derived from the content and the terms of the purchase: 64 hex digits. */
  readonly key: string;
  readonly state: UploadState;
  /** Of the content, 64 hex digits. */
  readonly sha256: string;
  /** Bytes of the content. */
  readonly size: number;
  /** Requested epochs. */
  readonly epochs: number;
  /** Start of the upload, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The blob id in the publisher's answer. */
  readonly blobId?: string;
  /** The blob id computed by the official encoder, recorded as soon as it is known. */
  readonly computedBlobId?: string;
  /** Whether the publisher created, and so paid for, the blob. */
  readonly newlyCreated?: boolean;
  readonly objectId?: string;
  readonly owner?: string;
  readonly endEpoch?: number;
  readonly deletable?: boolean;
  /** Other objects bought by earlier tries of this upload: under another id, or expired. */
  readonly earlierObjectIds?: readonly string[];
}

/** Store of the entries. Used by one storage at a time. */
export interface UploadJournal {
  get(key: string): Promise<UploadEntry | undefined>;
  /** Replaces the entry of that key. Resolves when the entry survives a crash of the machine, rejects otherwise. */
  put(entry: UploadEntry): Promise<void>;
  /** Removes the entry of that key, as durably as `put`. */
  remove(key: string): Promise<void>;
  /** All entries. */
  list(): Promise<readonly UploadEntry[]>;
}
