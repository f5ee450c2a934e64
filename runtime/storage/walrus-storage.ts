/**
 * Uploads blobs to Walrus through a publisher and verifies them through an aggregator.
 *
 *     intent recorded → PUT → answer recorded → id checked against the encoder → content read back → recorded → returned
 *
 * With this order, the journal always contains everything that may have been paid for, even after a crash.
 */

import { type Encoded, parseObjectId } from "svc-client/internal/wire/bcs/data";
import { PlainValueError, plainText } from "svc-client/internal/wire/json/untyped-json";
import { OUTPUT_BUDGET } from "svc-client/internal/wire/protocol";
import { sha256 } from "svc-client/internal/wire/signature/hash";
import { BlobIdEncoder, DEFAULT_SHARDS } from "./blob-id.js";
import { type BlobSource, blobSourceOf, readStored } from "./blob-source.js";
import { Deadline, type Deadlines, type RetryOptions } from "./deadline.js";
import { Endpoint, type EndpointOptions } from "./http/endpoint.js";
import { exchange } from "./http/http-exchange.js";
import type { UploadEntry, UploadJournal } from "./journal/journal.js";
import { MAX_RESPONSE_BYTES, type PublisherResponse, parsePublisherResponse } from "./publisher-response.js";
import { isTransient, retry } from "./retry.js";
import { type Paid, requireInteger, StorageError, type StorageErrorFacts } from "./storage-error.js";
import { type BlobOrigin, StoredBlob } from "./stored-blob.js";

/** Maximum size of one upload, in bytes: the resolved output budget of a result (protocol.md section 1). */
export const MAX_UPLOAD_BYTES = OUTPUT_BUDGET;
/** Maximum number of epochs that Walrus sells ahead. */
const MAX_EPOCHS = 53;

/** Options set by the operator. They determine the price, payee and owner of blobs. */
export interface WalrusStorageOptions {
  /** Server that stores blobs. Its `headers` are sent only to this server. */
  readonly publisher: EndpointOptions;
  /** Server from which blobs are read back. Preferably not run by the publisher's operator. */
  readonly aggregator: EndpointOptions;
  /** Number of epochs to pay for: 1 to 53. */
  readonly epochs: number;
  /**
   * Sui address that receives the blob object: 1 to 64 hex digits, with or without `0x`. By default, the publisher
   * decides.
   */
  readonly sendObjectTo?: string;
  /** Whether the owner can delete the blob before its end epoch. By default, the publisher decides. */
  readonly deletable?: boolean;
  /** Maximum size of one upload, in bytes: 1 to 8 MiB, 8 MiB by default. */
  readonly maxBytes?: number;
  readonly deadlines?: Partial<Deadlines>;
  /** Applies to each request that can be retried. */
  readonly retries?: RetryOptions;
  /** Records uploads, so that they survive a crash. By default, nothing is recorded. */
  readonly journal?: UploadJournal;
  /**
   * Whether the blob id is computed locally. `auto` (the default) computes it if `@mysten/walrus-wasm` is installed;
   * `required` always computes it; `off` never does.
   */
  readonly encoder?: "auto" | "required" | "off";
  /** Number of shards of the network: 1,000 by default (Mainnet and Testnet). */
  readonly shards?: number;
}

/** Options of one upload. */
export interface UploadOptions {
  /** Aborts the upload: pass the signal of the call. `recover()` lists uploads that may already have been paid for. */
  readonly signal?: AbortSignal;
}

/** Journal entry of an unsettled upload that was, or may have been, paid for. Its `key` is the argument for `settle`. */
export interface UnreturnedUpload extends UploadEntry {
  /** `yes`: the publisher confirmed it. `maybe`: there was no answer. `no`: the blob was already stored. */
  readonly paid: Paid;
}

interface UploadJob {
  readonly key: string;
  readonly content: Uint8Array;
  readonly sha256: Buffer;
  readonly deadline: Deadline;
  /** Computes the blob id at the first call; returns undefined without an encoder. */
  readonly computed: () => Promise<string> | undefined;
}

/**
 * Uploads blobs. Tools and calls can share it; uploads of equal content run one after another.
 *
 * @example
 * ```ts
 * import { FileJournal, WalrusStorage } from "svc-runtime-storage";
 *
 * export const openStorage = async () =>
 *   new WalrusStorage({
 *     publisher: { url: "https://publisher.example" },
 *     aggregator: { url: "https://aggregator.example" },
 *     epochs: 5,
 *     journal: await FileJournal.open("uploads"),
 *   });
 * ```
 */
export class WalrusStorage {
  readonly #publisher: Endpoint;
  readonly #source: BlobSource;
  readonly #query: Readonly<Record<string, string>>;
  readonly #epochs: number;
  readonly #owner: string | undefined;
  readonly #deletable: boolean | undefined;
  readonly #maxBytes: number;
  readonly #journal: UploadJournal | undefined;
  readonly #encoder: BlobIdEncoder | undefined;
  readonly #running = new Map<string, Promise<unknown>>();

  /** @throws {@link StorageError} `invalid_option`, `encoder_failed` */
  constructor(options: WalrusStorageOptions) {
    this.#publisher = new Endpoint("publisher", options.publisher);
    this.#source = blobSourceOf(options);
    this.#epochs = requireInteger("epochs", options.epochs, 1, MAX_EPOCHS);
    this.#owner = options.sendObjectTo === undefined ? undefined : addressOf(options.sendObjectTo);
    this.#deletable = options.deletable;
    this.#maxBytes = requireInteger("maxBytes", options.maxBytes ?? MAX_UPLOAD_BYTES, 1, MAX_UPLOAD_BYTES);
    this.#journal = options.journal;
    const { encoder = "auto", shards = DEFAULT_SHARDS } = options;
    this.#encoder = encoder === "off" ? undefined : BlobIdEncoder.find(shards);
    if (encoder === "required" && this.#encoder === undefined) {
      throw new StorageError(
        "encoder_failed",
        "encoder: @mysten/walrus-wasm is required and not installed: install it",
      );
    }
    this.#query = {
      epochs: String(this.#epochs),
      ...(this.#owner !== undefined && { send_object_to: this.#owner }),
      ...(this.#deletable !== undefined && { [this.#deletable ? "deletable" : "permanent"]: "true" }),
    };
  }

  /**
   * Stores the content and returns the verified reference. If there is an unsettled upload of the same content, uses it
   * instead of sending the content again, provided that the aggregator has the blob.
   *
   * The content must not change during the upload. The runtime settles the upload after it sent a result that refers to
   * the blob; call {@link settle} for an upload that is not used.
   *
   * @param content 1 byte to `maxBytes`: for a port, the JSON text of its value, created by `portJson` of svc-runtime
   * @throws {@link StorageError}; `paid` tells whether something may have been bought
   */
  async upload<T = unknown>(content: Encoded<T>, { signal }: UploadOptions = {}): Promise<StoredBlob<T>> {
    if (!(content instanceof Uint8Array)) throw new StorageError("invalid_upload", "upload: expected bytes");
    if (content.length < 1 || content.length > this.#maxBytes) {
      const expected = `expected 1 to ${this.#maxBytes} bytes`;
      throw new StorageError("invalid_upload", `upload: ${expected}, got ${content.length}`);
    }
    const deadline = new Deadline(this.#source.deadlines.totalMs, signal);
    const digest = sha256(content);
    const key = this.#keyOf(digest);
    let computing: Promise<string> | undefined;
    const job: UploadJob = {
      key,
      content,
      sha256: digest,
      deadline,
      computed: () => {
        if (computing === undefined && this.#encoder !== undefined) {
          computing = this.#encoder.compute(content, deadline.signal);
          computing.catch(() => undefined);
        }
        return computing;
      },
    };
    try {
      return await this.#exclusive(job, () => this.#store(job));
    } catch (error) {
      throw error instanceof StorageError ? error.with({ key }) : error;
    } finally {
      deadline.end();
    }
  }

  /**
   * Stores a value as JSON text: bigints as exact integers, a `Date` as RFC 3339 text, bytes as base64, members in the
   * order of the object. Use `portJson` of svc-runtime instead for the order of the schema and a check of the value.
   *
   * @throws {@link StorageError} like {@link upload}; `invalid_upload` for a value without JSON text
   */
  async uploadJson<T>(value: T, options: UploadOptions = {}): Promise<StoredBlob<T>> {
    let text: string;
    try {
      text = plainText(value);
    } catch (error) {
      if (error instanceof PlainValueError) throw new StorageError("invalid_upload", `upload: ${error.message}`);
      throw error;
    }
    return this.upload<T>(Buffer.from(text), options);
  }

  /**
   * Lists unsettled uploads that were paid for, or may have been, for example before a crash. Excludes running uploads.
   * Changes nothing: upload the same content again to get its reference, or {@link settle} an upload that is no longer
   * needed.
   */
  async recover(): Promise<readonly UnreturnedUpload[]> {
    const entries = (await this.#useJournal((journal) => journal.list())) ?? [];
    return entries
      .filter(({ key }) => !this.#running.has(key))
      .sort((a, b) => a.startedAt - b.startedAt)
      .map((entry) => ({
        ...(entry.computedBlobId !== undefined && { blobId: entry.computedBlobId }),
        ...entry,
        paid: paidOf(entry),
      }));
  }

  /**
   * Removes an upload, which was returned or is no longer needed, from the journal. The blob stays stored until its end
   * epoch and keeps its owner.
   */
  async settle({ key }: { readonly key: string }): Promise<void> {
    await this.#useJournal((journal) => journal.remove(key));
  }

  /** Key of an upload. Includes the terms: the same content with other epochs or another owner is another upload. */
  #keyOf(digest: Uint8Array): string {
    const bought = JSON.stringify([Buffer.from(digest).toString("hex"), this.#epochs, this.#owner, this.#deletable]);
    return sha256(Buffer.from(bought)).toString("hex");
  }

  /** Runs `work` after all earlier uploads with the same key have ended. Waits no longer than the deadline. */
  async #exclusive<T>({ key, deadline }: UploadJob, work: () => Promise<T>): Promise<T> {
    const before = this.#running.get(key);
    const own = deadline.race(Promise.resolve(before)).then(work);
    // If this upload stops waiting, later uploads of the content still wait for the earlier ones.
    const tail = Promise.allSettled([before, own]).finally(() => {
      if (this.#running.get(key) === tail) this.#running.delete(key);
    });
    this.#running.set(key, tail);
    return await own;
  }

  async #store(job: UploadJob): Promise<StoredBlob<never>> {
    // Detects a broken encoder before anything is paid.
    if (this.#encoder !== undefined) await job.deadline.race(this.#encoder.check());
    const known = await this.#useJournal((journal) => journal.get(job.key));
    if (known !== undefined) {
      const found = await this.#findEarlier(job, known);
      if (found !== undefined) return found;
    }
    // A purchase by an earlier attempt stays recorded until this attempt has an answer.
    const entry: UploadEntry = {
      key: job.key,
      sha256: job.sha256.toString("hex"),
      size: job.content.length,
      epochs: this.#epochs,
      startedAt: Date.now(),
      ...known,
      state: "intent",
    };
    await this.#record(entry);
    // The id is computed while the content is sent.
    void job.computed();
    let answer: PublisherResponse;
    try {
      answer = await this.#put(job);
    } catch (error) {
      return await this.#resolveUnanswered(job, entry, error, known);
    }
    const stored: UploadEntry = {
      ...withoutBlob(entry, answer.objectId),
      state: "stored",
      blobId: answer.blobId,
      newlyCreated: answer.newlyCreated,
      endEpoch: answer.endEpoch,
      ...(answer.objectId !== undefined && { objectId: answer.objectId }),
      ...(answer.newlyCreated && this.#owner !== undefined && { owner: this.#owner }),
      ...(answer.deletable !== undefined && { deletable: answer.deletable }),
    };
    await this.#record(stored);
    return await this.#verify(job, stored, answer.newlyCreated ? "created" : "certified");
  }

  /** Verifies everything that an answer claims. An upload that fails here was paid for and stays in the journal. */
  async #verify(job: UploadJob, stored: UploadEntry, origin: BlobOrigin): Promise<StoredBlob<never>> {
    const blobId = stored.blobId as string;
    const facts: StorageErrorFacts = { blobId, paid: stored.newlyCreated === false ? "no" : "yes" };
    try {
      const { length } = job.content;
      this.#checkKind(stored);
      const checked = this.#checkedId(job, stored);
      const readback = this.#readBack(job, blobId, true);
      // A wrong id says more than a failed readback, so it is reported even if the readback fails first.
      await Promise.all([checked, readback]).catch(async (error: unknown) => {
        await checked;
        throw error;
      });
      const computed = await checked;
      const verified: UploadEntry = { ...stored, state: "verified", ...(computed && { computedBlobId: computed }) };
      await this.#record(verified);
      return this.#blobOf(verified, job.sha256, length, origin);
    } catch (error) {
      throw error instanceof StorageError ? error.with(facts) : error;
    }
  }

  #checkKind({ deletable }: UploadEntry): void {
    if (this.#deletable === undefined || deletable === undefined || deletable === this.#deletable) return;
    const got = deletable ? "a deletable" : "a permanent";
    throw new StorageError("answer_invalid", `publisher: expected the requested kind of blob, got ${got} one`);
  }

  /** Computed id, which must equal the id in the answer; undefined without an encoder. */
  async #checkedId(job: UploadJob, stored: UploadEntry): Promise<string | undefined> {
    const computed = stored.computedBlobId ?? (await job.computed());
    if (computed === undefined || computed === stored.blobId) return computed;
    await this.#record({ ...stored, computedBlobId: computed });
    throw new StorageError(
      "blob_id_mismatch",
      "publisher: the answered blob id differs from the one that the official encoder computes: check the publisher, and `shards`",
    );
  }

  /** Reads the blob back and compares it with the content. */
  async #readBack(
    { deadline, sha256: digest, content }: UploadJob,
    blobId: string,
    isFresh: boolean,
    source = this.#source,
  ) {
    await readStored(source, deadline, { blobId, sha256: digest, size: content.length }, content.length, isFresh);
  }

  /** Blob of an earlier upload of the same content, if the aggregator has it. */
  async #findEarlier(job: UploadJob, known: UploadEntry): Promise<StoredBlob<never> | undefined> {
    const blobId = known.computedBlobId ?? (await job.computed()) ?? known.blobId;
    if (blobId === undefined) return undefined;
    try {
      await this.#readBack(job, blobId, known.state !== "verified");
      return await this.#adopt(job, known, blobId);
    } catch (error) {
      if (error instanceof StorageError && error.code === "not_found") return undefined;
      throw error instanceof StorageError ? error.with({ blobId: known.blobId, paid: paidOf(known) }) : error;
    }
  }

  /**
   * Uses a blob that is already stored. Drops facts from an answer with another id.
   *
   * @throws {@link StorageError} `answer_invalid` for an answer that was rejected before, until the upload is settled
   */
  async #adopt(job: UploadJob, known: UploadEntry, blobId: string): Promise<StoredBlob<never>> {
    const answered = known.blobId === blobId ? known : { ...withoutBlob(known), blobId };
    this.#checkKind(answered);
    const computed = this.#encoder === undefined ? known.computedBlobId : blobId;
    const verified: UploadEntry = { ...answered, state: "verified", ...(computed && { computedBlobId: computed }) };
    await this.#record(verified);
    return this.#blobOf(verified, job.sha256, known.size, "recovered");
  }

  /** Sends the content. Retries only if the publisher cannot have stored it. */
  #put(job: UploadJob): Promise<PublisherResponse> {
    const { deadlines, retries } = this.#source;
    const { content, deadline } = job;
    const total = content.length;
    return retry(
      retries,
      deadline,
      async () => {
        const body = await exchange({
          endpoint: this.#publisher,
          method: "PUT",
          path: "/v1/blobs",
          query: this.#query,
          body: content,
          maxBytes: MAX_RESPONSE_BYTES,
          deadlines,
          deadline,
        });
        const answer = parsePublisherResponse(body);
        if (answer.size !== undefined && answer.size !== total) {
          const { blobId } = answer;
          const message = `publisher: expected the answer to name ${total} bytes, got another size`;
          throw new StorageError("answer_invalid", message, { blobId, paid: "yes" });
        }
        return answer;
      },
      (error) => error.paid === "no" && isTransient(error),
    );
  }

  /** Handles a PUT without a usable answer: asks the aggregator whether the content was stored anyway. */
  async #resolveUnanswered(
    job: UploadJob,
    entry: UploadEntry,
    error: unknown,
    known: UploadEntry | undefined,
  ): Promise<StoredBlob<never>> {
    if (!(error instanceof StorageError)) throw error;
    if (error.paid === "no") {
      // This attempt stored nothing, so the previous record is restored.
      if (known !== undefined) await this.#record(known);
      else await this.#useJournal((journal) => journal.remove(job.key));
      throw error;
    }
    let current = entry;
    if (error.paid === "yes") {
      const named = error.blobId === undefined ? {} : { blobId: error.blobId };
      current = { ...withoutBlob(entry), ...named, state: "stored", newlyCreated: true };
      await this.#record(current);
    }
    if (job.deadline.signal.aborted) throw error;
    try {
      const blobId = entry.computedBlobId ?? (await job.computed());
      if (blobId === undefined) throw error;
      const named: UploadEntry = { ...current, computedBlobId: blobId };
      if (error.paid === "maybe") await this.#record(named);
      await this.#readBack(job, blobId, false, { ...this.#source, retries: { attempts: 1, backoffMs: 0 } });
      return await this.#adopt(job, named, blobId);
    } catch {
      throw error;
    }
  }

  /** The content has the type `never`, which is assignable to the type that the caller claims. */
  #blobOf(entry: UploadEntry, digest: Uint8Array, size: number, origin: BlobOrigin): StoredBlob<never> {
    return new StoredBlob({
      key: entry.key,
      blobId: entry.blobId as string,
      sha256: Uint8Array.from(digest),
      size,
      objectId: entry.objectId,
      owner: entry.owner,
      endEpoch: entry.endEpoch,
      deletable: entry.deletable,
      origin,
      encoderChecked: entry.computedBlobId !== undefined && entry.computedBlobId === entry.blobId,
      returned: this.#journal && (() => this.settle(entry)),
    });
  }

  async #record(entry: UploadEntry): Promise<void> {
    try {
      await this.#useJournal((journal) => journal.put(entry));
    } catch (error) {
      throw (error as StorageError).with({ paid: paidOf(entry), blobId: entry.blobId });
    }
  }

  /** Runs a journal operation, if there is a journal. A custom journal may throw anything. */
  async #useJournal<T>(ask: (journal: UploadJournal) => Promise<T>): Promise<T | undefined> {
    try {
      return this.#journal && (await ask(this.#journal));
    } catch (cause) {
      if (cause instanceof StorageError) throw cause;
      throw new StorageError("journal_failed", "upload journal: reading or writing the journal failed", { cause });
    }
  }
}

function addressOf(text: string): string {
  try {
    return `0x${Buffer.from(parseObjectId(text)).toString("hex")}`;
  } catch {
    throw new StorageError("invalid_option", "sendObjectTo: expected a Sui address: 1 to 64 hex digits, `0x` optional");
  }
}

/** Entry without the facts about its blob; keeps an object that was bought. */
function withoutBlob(entry: UploadEntry, next?: string): UploadEntry {
  const { blobId: _, objectId, owner: _owner, endEpoch: _end, deletable: _kind, newlyCreated, ...rest } = entry;
  const bought = newlyCreated === true && objectId !== undefined && objectId !== next;
  return {
    ...rest,
    ...(newlyCreated !== undefined && { newlyCreated }),
    ...(bought && { earlierObjectIds: [...(entry.earlierObjectIds ?? []), objectId] }),
  };
}

function paidOf({ newlyCreated, earlierObjectIds }: UploadEntry): Paid {
  if (earlierObjectIds !== undefined) return "yes";
  if (newlyCreated === undefined) return "maybe";
  return newlyCreated ? "yes" : "no";
}
