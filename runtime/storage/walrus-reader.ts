/**
 * Resolves references to bytes within a byte budget. Reads one blob after another, and verifies the digest of each
 * before the next.
 */

import type { ReadBudget, ReadOptions, ResolvedValue } from "svc-client/internal/leader/result/resolve";
import type { RawValue } from "svc-client/internal/wire/bcs/bcs-shapes";
import { NexusValue } from "svc-client/internal/wire/bcs/data";
import { INPUT_BUDGET } from "svc-client/internal/wire/protocol";
import { type BlobSource, blobSourceOf, type ExpectedBlob, readStored } from "./blob-source.js";
import { Deadline, type Deadlines, type RetryOptions } from "./deadline.js";
import type { EndpointOptions } from "./http/endpoint.js";
import { requireInteger, StorageError } from "./storage-error.js";

/** Number of bytes for which an object id counts in the budget. */
const OBJECT_BYTES = 32;

/** Byte budget, which reads can share. */
export class ByteBudget {
  #left: number;

  /**
   * @param bytes 1 to 8 MiB, 8 MiB by default
   * @throws {@link StorageError} `invalid_option`
   */
  constructor(readonly bytes: number = INPUT_BUDGET) {
    this.#left = requireInteger("budget", bytes, 1, INPUT_BUDGET);
  }

  get left(): number {
    return this.#left;
  }

  /** @throws {@link StorageError} `over_budget`; the budget is unchanged then */
  take(bytes: number): void {
    if (bytes > this.#left) {
      const left = this.#left === this.bytes ? "" : `, of which ${this.#left} are left`;
      throw new StorageError("over_budget", `values: expected at most ${this.bytes} bytes over all ports${left}`);
    }
    this.#left -= bytes;
  }
}

export interface WalrusReaderOptions {
  readonly aggregator: EndpointOptions;
  /** Maximum size of the values of one `resolve`, in bytes: 1 to 8 MiB, 8 MiB by default. */
  readonly budgetBytes?: number;
  /** Time limits; `totalMs` covers all blobs of one `resolve`. */
  readonly deadlines?: Partial<Deadlines>;
  /** Applies to each blob. */
  readonly retries?: RetryOptions;
}

export class WalrusReader {
  readonly #source: BlobSource;
  readonly #budgetBytes: number;

  /** @throws {@link StorageError} `invalid_option` */
  constructor({ aggregator, budgetBytes = INPUT_BUDGET, deadlines, retries }: WalrusReaderOptions) {
    this.#source = blobSourceOf({ aggregator, deadlines, retries });
    this.#budgetBytes = new ByteBudget(budgetBytes).bytes;
  }

  /**
   * Resolves values in order. Inline bytes, object ids (32 bytes each) and downloaded bytes count towards the budget.
   * If the known sizes exceed the budget, fails before anything is fetched.
   *
   * @param values values of one or several ports: `NexusData.values`, or the values of a decoded result
   * @throws {@link StorageError} `over_budget`, `content_mismatch`, `not_found` and errors of the HTTP exchange;
   * `NexusDataError` for a reference that violates the protocol
   */
  async resolve(values: readonly RawValue[], options: ReadOptions = {}): Promise<ResolvedValue[]> {
    const budget = options.budget ?? new ByteBudget(this.#budgetBytes);
    // Checks references and known sizes before the first request.
    const references = values.map((value) => (value.kind === "walrus" ? referenceOf(value) : undefined));
    const storedBytes = references.reduce((sum, reference) => sum + (reference?.size ?? 0), 0);
    let inlineBytes = 0;
    for (const value of values) {
      if (value.kind === "object") inlineBytes += OBJECT_BYTES;
      else if (value.kind === "inline") inlineBytes += value.bytes.length;
    }
    if (inlineBytes + storedBytes > budget.left) budget.take(inlineBytes + storedBytes);
    budget.take(inlineBytes);
    const deadline = new Deadline(this.#source.deadlines.totalMs, options.signal);
    try {
      const resolved: ResolvedValue[] = [];
      for (const [at, value] of values.entries()) {
        const reference = references[at];
        if (value.kind === "object") resolved.push({ kind: "object", id: value.id });
        else if (value.kind === "inline") resolved.push({ kind: "data", bytes: value.bytes, stored: false });
        else if (reference !== undefined) {
          const bytes = await this.#read(reference, budget, deadline);
          resolved.push({ kind: "data", bytes, stored: true });
        }
      }
      return resolved;
    } finally {
      deadline.end();
    }
  }

  /** Reads the bytes of one reference; see {@link resolve}. */
  async read(reference: Extract<RawValue, { kind: "walrus" }>, options: ReadOptions = {}): Promise<Uint8Array> {
    const [value] = await this.resolve([reference], options);
    return (value as Extract<ResolvedValue, { kind: "data" }>).bytes;
  }

  async #read(reference: ExpectedBlob, budget: ReadBudget, deadline: Deadline): Promise<Uint8Array> {
    try {
      const bytes = await readStored(this.#source, deadline, reference, budget.left);
      budget.take(bytes.length);
      return bytes;
    } catch (error) {
      throw error instanceof StorageError ? error.with({ blobId: reference.blobId }) : error;
    }
  }
}

function referenceOf(
  value: Extract<RawValue, { kind: "walrus" }> & { readonly size?: number | undefined },
): ExpectedBlob {
  const { blobId, contentDigest } = NexusValue.walrus(value.blobId, value.contentDigest);
  return { blobId: Buffer.from(blobId).toString("latin1"), sha256: contentDigest, size: value.size };
}
