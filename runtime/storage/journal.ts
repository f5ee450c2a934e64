/**
 * What the storage remembers of its uploads, so that a crash loses no blob that was paid for.
 * `FileJournal` keeps it in a file of this machine; a caller may bring a store of its own, for instance a table.
 */

/**
 * How far an upload came. `intent`: the content may have been sent. `stored`: the publisher answered. `verified`: the
 * content was read back and is what the reference promises. An entry stays until it is settled.
 */
export type UploadState = "intent" | "stored" | "verified";

/** One upload. Holds no credential and nothing of the content. Plain JSON. */
export interface UploadEntry {
  /** Derived from the content and from what is bought: 64 hex digits. */
  readonly key: string;
  readonly state: UploadState;
  /** Of the content, 64 hex digits. */
  readonly sha256: string;
  /** Bytes of the content. */
  readonly size: number;
  /** Epochs asked for. */
  readonly epochs: number;
  /** Milliseconds since 1970 at which the upload began. */
  readonly startedAt: number;
  /** The blob id as the publisher answered it. */
  readonly blobId?: string;
  /** The blob id as the official encoder computed it, recorded as soon as it is known. */
  readonly computedBlobId?: string;
  /** Whether the publisher said that it created, and so paid for, the blob. */
  readonly newlyCreated?: boolean;
  readonly objectId?: string;
  readonly owner?: string;
  readonly endEpoch?: number;
  readonly deletable?: boolean;
  /** Objects that earlier tries of this upload bought, and that are not the one above: under another id, or expired. */
  readonly earlierObjectIds?: readonly string[];
}

/** Where the entries are kept. One storage at a time uses a journal. */
export interface UploadJournal {
  get(key: string): Promise<UploadEntry | undefined>;
  /** Replaces the entry of that key. Resolves when it will survive a crash of the machine, rejects otherwise. */
  put(entry: UploadEntry): Promise<void>;
  /** Forgets the entry of that key; as durable as `put`. */
  remove(key: string): Promise<void>;
  /** All entries. */
  list(): Promise<readonly UploadEntry[]>;
}
