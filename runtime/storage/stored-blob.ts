import {
  type content,
  type DataReference,
  NexusData,
  NexusValue,
  type WalrusValue,
} from "svc-client/internal/wire/bcs/data";

export interface StoredBlobFacts extends Omit<StoredBlob, "nexusValue" | "nexusData" | typeof content> {
  /** Called after a result that refers to the blob was sent. */
  readonly returned?: (() => Promise<void>) | undefined;
}

/**
 * Origin of the blob. `created`: this upload created and paid for it. `certified`: it was already stored, according to
 * the publisher. `recovered`: an earlier upload stored it, according to the journal.
 */
export type BlobOrigin = "created" | "certified" | "recovered";

/**
 * A stored and verified blob with the JSON text of a T. Return it where the output has a `DataRef<T>`. The content was
 * read back and compared byte by byte; if `encoderChecked` is set, the official encoder also confirmed the id.
 */
export class StoredBlob<out T = unknown> implements DataReference<T> {
  /** Key of the upload in the journal. */
  readonly key!: string;
  /** 43 characters of base64url. */
  readonly blobId!: string;
  /** 32 bytes: the SHA-256 of the content. */
  readonly sha256!: Uint8Array;
  /** Size of the content, in bytes. */
  readonly size!: number;
  /** Sui object of the blob, `0x` and 64 hex digits, if the publisher returned it. */
  readonly objectId!: string | undefined;
  /** Address that received the object (`sendObjectTo`). If undefined, the publisher keeps or burns the object. */
  readonly owner!: string | undefined;
  /** First epoch in which the blob is no longer stored; unknown for a blob recovered without the publisher's answer. */
  readonly endEpoch!: number | undefined;
  /** Whether the owner can delete the blob earlier; known only for a newly created blob. */
  readonly deletable!: boolean | undefined;
  readonly origin!: BlobOrigin;
  readonly encoderChecked!: boolean;
  /** Type of the content, for the compiler only. */
  declare readonly [content]?: T;
  readonly #returned: (() => Promise<void>) | undefined;

  constructor({ returned, ...facts }: StoredBlobFacts) {
    Object.assign(this, facts);
    this.#returned = returned;
  }

  /**
   * The reference as one value. The size of the blob counts towards the output budget. When a result with the reference
   * has been sent, the upload is settled: removed from the journal.
   */
  nexusValue(): WalrusValue {
    return NexusValue.walrus(this.blobId, this.sha256, this.size, this.#returned);
  }

  /** The reference as the whole content of a `one` port. */
  nexusData(): NexusData {
    return NexusData.one(this.nexusValue());
  }
}
