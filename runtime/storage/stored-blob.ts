/** A stored blob, and its reference in a result. */

import {
  type content,
  type DataReference,
  NexusData,
  NexusValue,
  type WalrusValue,
} from "svc-runtime/internal/storage";

/** Facts about a stored blob. */
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
  /** Called after a result that refers to the blob was sent. */
  readonly returned?: (() => Promise<void>) | undefined;
}

/**
 * Origin of the blob. `created`: created and paid for by this upload. `certified`: stored already, according to the
 * publisher. `recovered`: uploaded before and found by the journal.
 */
export type BlobOrigin = "created" | "certified" | "recovered";

/**
 * A stored and verified blob with the JSON text of a T: return it where the output has a `DataRef<T>`. The content was
 * read back and compared byte by byte; with `encoderChecked` the official encoder also confirmed the id.
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
  /** The Sui object of the blob: `0x` and 64 hex digits, where the publisher named it. */
  readonly objectId: string | undefined;
  /** The address that received the object (`sendObjectTo`); without one the publisher keeps or burns the object. */
  readonly owner: string | undefined;
  /** First epoch in which the blob is no longer stored; unknown for a blob recovered without the publisher's answer. */
  readonly endEpoch: number | undefined;
  /** Whether the owner can delete it earlier; known only for a newly created blob. */
  readonly deletable: boolean | undefined;
  readonly origin: BlobOrigin;
  readonly encoderChecked: boolean;
  /** Type of the content, for the compiler only. */
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

  /**
   * The reference as one value. The output budget counts its size; the upload is settled after a result with it was
   * sent.
   */
  nexusValue(): WalrusValue {
    return NexusValue.walrus(this.blobId, this.sha256, this.size, this.#returned);
  }

  /** The reference as the whole content of a `one` port. */
  nexusData(): NexusData {
    return NexusData.one(this.nexusValue());
  }
}
