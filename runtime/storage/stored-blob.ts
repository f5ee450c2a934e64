/** A blob that is stored, and the reference that a result carries in its place. */

import { timingSafeEqual } from "node:crypto";
import { type content, type DataReference, NexusData, NexusValue, type WalrusValue } from "../wire/data.js";
import { sha256 } from "../wire/hash.js";
import { StorageError } from "./storage-error.js";

/** What is known of a stored blob. */
export interface StoredBlobFacts {
  readonly key: string;
  readonly blobId: string;
  readonly sha256: Uint8Array;
  readonly size: number;
  readonly objectId?: string | undefined;
  readonly owner?: string | undefined;
  readonly endEpoch?: number | undefined;
  readonly deletable?: boolean | undefined;
  readonly origin: BlobOrigin;
  readonly encoderChecked: boolean;
  /** Called once a result that refers to the blob has left. */
  readonly returned?: (() => Promise<void>) | undefined;
}

/**
 * How the blob came to be stored: made and paid for by this upload; there already, says the publisher; uploaded before
 * and found again by the journal.
 */
export type BlobOrigin = "created" | "certified" | "recovered";

/**
 * A stored and verified blob whose content is the JSON text of a T: return it where the output has a `DataRef<T>`. Its
 * content was read back byte for byte; its id was computed by the official encoder too when `encoderChecked` is set.
 */
export class StoredBlob<out T = unknown> implements DataReference<T> {
  /** The upload's key in the journal. */
  readonly key: string;
  /** 43 characters of base64url. */
  readonly blobId: string;
  /** 32 bytes: the SHA-256 of the content. */
  readonly sha256: Uint8Array;
  /** Bytes of the content. */
  readonly size: number;
  /** The Sui object that owns the storage: `0x` and 64 hex digits, where the publisher named one. */
  readonly objectId: string | undefined;
  /** The address that the object was sent to (`sendObjectTo`); without one it is the publisher's, kept or burnt. */
  readonly owner: string | undefined;
  /** The first epoch in which the blob is no longer stored; unknown for a blob found again without the publisher's answer. */
  readonly endEpoch: number | undefined;
  /** Whether its owner can delete it before that; unknown unless it was newly created. */
  readonly deletable: boolean | undefined;
  readonly origin: BlobOrigin;
  readonly encoderChecked: boolean;
  /** For the compiler only: what the content stands for. */
  declare readonly [content]?: T;
  readonly #returned: (() => Promise<void>) | undefined;

  constructor(facts: StoredBlobFacts) {
    this.key = facts.key;
    this.blobId = facts.blobId;
    this.sha256 = facts.sha256;
    this.size = facts.size;
    this.objectId = facts.objectId;
    this.owner = facts.owner;
    this.endEpoch = facts.endEpoch;
    this.deletable = facts.deletable;
    this.origin = facts.origin;
    this.encoderChecked = facts.encoderChecked;
    this.#returned = facts.returned;
  }

  /** The reference as one value, its size known to the output budget; the upload is settled once a result with it has left. */
  nexusValue(): WalrusValue {
    return NexusValue.walrus(this.blobId, this.sha256, this.size, this.#returned);
  }

  /** The reference as the whole content of a `one` port. */
  nexusData(): NexusData {
    return NexusData.one(this.nexusValue());
  }

  /** @throws {@link StorageError} `content_mismatch` when these are not the bytes of the blob */
  verifyBytes(bytes: Uint8Array): void {
    if (bytes.length !== this.size || !timingSafeEqual(sha256(bytes), this.sha256)) {
      throw new StorageError("content_mismatch", `stored blob: expected its ${this.size} bytes, got others`, {
        blobId: this.blobId,
        key: this.key,
      });
    }
  }
}
