/**
 * Resolves references to the bytes they stand for, within one byte budget: one blob after another, each
 * verified by its digest before the next is begun.
 */

import type { RawValue } from "../wire/bcs-shapes.js";
import { NexusValue } from "../wire/data.js";
import { readStored, type Source } from "./blob-source.js";
import { Deadline, type Deadlines, deadlinesOf, type RetryOptions, retriesOf } from "./deadline.js";
import { Endpoint, type EndpointOptions } from "./endpoint.js";
import { requireInteger, StorageError } from "./storage-error.js";

/** Bytes that a call's values may have together, resolved (protocol.md section 1). */
export const MAX_BUDGET_BYTES = 8 * 1024 * 1024;
/** Bytes that an object id counts. */
const OBJECT_BYTES = 32;

/** What is left of a number of bytes. */
export class ByteBudget {
  #left: number;

  /**
   * @param bytes 1 to 8 MiB, which is the default
   * @throws {@link StorageError} `invalid_option`
   */
  constructor(readonly bytes: number = MAX_BUDGET_BYTES) {
    this.#left = requireInteger("budget", bytes, 1, MAX_BUDGET_BYTES);
  }

  get left(): number {
    return this.#left;
  }

  /** @throws {@link StorageError} `over_budget`; nothing is taken then */
  take(bytes: number): void {
    if (bytes > this.#left) {
      const left = this.#left === this.bytes ? "" : `, of which ${this.#left} are left`;
      throw new StorageError("over_budget", `values: expected at most ${this.bytes} bytes over all ports${left}`);
    }
    this.#left -= bytes;
  }
}

/** How a reader is set up, by the operator. */
export interface WalrusReaderOptions {
  readonly aggregator: EndpointOptions;
  /** Bytes of one `resolve` over all its values: 1 to 8 MiB, which is the default. */
  readonly budgetBytes?: number;
  /** `totalMs` is for all blobs of one `resolve`. */
  readonly deadlines?: Partial<Deadlines>;
  /** For each blob. */
  readonly retries?: RetryOptions;
}

/** What one call may be told. */
export interface ReadOptions {
  readonly signal?: AbortSignal;
  /** Shared by several calls; by default each has its own of `budgetBytes`. */
  readonly budget?: ByteBudget;
}

/** A value with nothing left to fetch. */
export type ResolvedValue =
  | { readonly kind: "object"; readonly id: Uint8Array }
  /** `stored`: the bytes came from the blob store, and are exactly those of the digest: send them as `bytes`. */
  | { readonly kind: "data"; readonly bytes: Uint8Array; readonly stored: boolean };

/** The reader. Holds no state between calls. */
export class WalrusReader {
  readonly #source: Source;
  readonly #budgetBytes: number;

  /** @throws {@link StorageError} `invalid_option` */
  constructor({ aggregator, budgetBytes = MAX_BUDGET_BYTES, deadlines, retries }: WalrusReaderOptions) {
    this.#source = {
      aggregator: new Endpoint("aggregator", aggregator),
      deadlines: deadlinesOf(deadlines),
      retries: retriesOf(retries),
    };
    this.#budgetBytes = new ByteBudget(budgetBytes).bytes;
  }

  /**
   * Resolves values in their order. Inline bytes, object ids (32 each) and downloaded bytes count into the budget; what is
   * known to be too much fails before anything is fetched.
   *
   * @param values of one port or of many: `NexusData.values`, or what a result was decoded to
   * @throws {@link StorageError} `over_budget`, `content_mismatch`, `not_found` and the faults of the exchange;
   * `NexusDataError` for a reference that the protocol refuses
   */
  async resolve(values: readonly RawValue[], options: ReadOptions = {}): Promise<ResolvedValue[]> {
    const budget = options.budget ?? new ByteBudget(this.#budgetBytes);
    // All references are valid, and what needs no download fits, before the first request.
    const references = values.map((value) => (value.kind === "walrus" ? referenceOf(value) : undefined));
    const known = references.reduce((sum, reference) => sum + (reference?.size ?? 0), 0);
    let here = 0;
    for (const value of values) {
      if (value.kind === "object") here += OBJECT_BYTES;
      else if (value.kind === "inline") here += value.bytes.length;
    }
    if (here + known > budget.left) budget.take(here + known);
    budget.take(here);
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

  /** Reads what one reference stands for; see {@link resolve}. */
  async read(reference: Extract<RawValue, { kind: "walrus" }>, options: ReadOptions = {}): Promise<Uint8Array> {
    const [value] = await this.resolve([reference], options);
    return (value as Extract<ResolvedValue, { kind: "data" }>).bytes;
  }

  async #read(reference: Reference, budget: ByteBudget, deadline: Deadline): Promise<Uint8Array> {
    try {
      const bytes = await readStored(this.#source, deadline, reference, budget.left);
      budget.take(bytes.length);
      return bytes;
    } catch (error) {
      throw error instanceof StorageError ? error.with({ blobId: reference.blobId }) : error;
    }
  }
}

interface Reference {
  readonly blobId: string;
  readonly sha256: Uint8Array;
  readonly size: number | undefined;
}

function referenceOf(value: Extract<RawValue, { kind: "walrus" }> & { readonly size?: number | undefined }): Reference {
  const { blobId, contentDigest } = NexusValue.walrus(value.blobId, value.contentDigest);
  return { blobId: Buffer.from(blobId).toString("latin1"), sha256: contentDigest, size: value.size };
}
