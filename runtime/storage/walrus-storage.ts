/**
 * Uploads to Walrus through a publisher, verified through an aggregator.
 *
 *     intent recorded → PUT → answer recorded → id checked against the encoder → content read back → recorded → returned
 *
 * The order is what makes a crash harmless: at every point the journal holds what may have been paid for.
 */

import { type Encoded, parseObjectId } from "../wire/data.js";
import { sha256 } from "../wire/hash.js";
import { sharedBytes } from "../wire/shared-bytes.js";
import { PlainValueError, plainText } from "../wire/untyped-json.js";
import { BlobIdEncoder, DEFAULT_SHARDS } from "./blob-id.js";
import { type Expected, isPassing, repeat, type Source, verifyStored } from "./blob-source.js";
import { Deadline, type Deadlines, deadlinesOf, type RetryOptions, retriesOf } from "./deadline.js";
import { Endpoint, type EndpointOptions } from "./endpoint.js";
import { exchange } from "./exchange.js";
import type { UploadEntry, UploadJournal, UploadState } from "./journal.js";
import { MAX_ANSWER_BYTES, type PublisherAnswer, parsePublisherAnswer } from "./publisher-response.js";
import { type Paid, requireInteger, StorageError, type StorageErrorFacts } from "./storage-error.js";
import { type BlobOrigin, StoredBlob } from "./stored-blob.js";

/** Bytes of one upload: a result may refer to no more (protocol.md section 1, resolved output budget). */
export const MAX_UPLOAD_BYTES = 8 * 1024 * 1024;
/** Epochs that Walrus sells ahead. */
export const MAX_EPOCHS = 53;

/** How a storage is set up. All of it is the operator's: what is paid, to whom, and who owns it. */
export interface WalrusStorageOptions {
  /** Where blobs are stored; its `headers` go nowhere else. */
  readonly publisher: EndpointOptions;
  /** Where they are read back; better run by another than the publisher. */
  readonly aggregator: EndpointOptions;
  /** For how many epochs to pay: 1 to 53. */
  readonly epochs: number;
  /** The Sui address that gets the blob object: 1 to 64 hex digits, `0x` optional. Without it the publisher decides. */
  readonly sendObjectTo?: string;
  /** `true`: its owner can delete it early; `false`: nobody can. Without it the publisher decides. */
  readonly deletable?: boolean;
  /** Bytes of one upload: 1 to 8 MiB, which is the default. */
  readonly maxBytes?: number;
  readonly deadlines?: Partial<Deadlines>;
  /** For each request that can be repeated. */
  readonly retries?: RetryOptions;
  /** Remembers uploads over a crash. Without it nothing is remembered. */
  readonly journal?: UploadJournal;
  /**
   * Whether the blob id is computed here too: `auto` (the default) where `@mysten/walrus-wasm` is installed, `required`,
   * or `off`.
   */
  readonly encoder?: "auto" | "required" | "off";
  /** Shards of the network: 1,000 (Mainnet and Testnet) by default. */
  readonly shards?: number;
}

/** What one upload may be told. */
export interface UploadOptions {
  /** Ends the upload: pass the invocation's. What was sent by then is listed by `recover()`. */
  readonly signal?: AbortSignal;
  /** Told how many bytes of the content the system took. What it throws ends the upload. */
  readonly onProgress?: (progress: UploadProgress) => void;
}

/** Bytes of the content, sent and altogether. A second try starts from 0. */
export interface UploadProgress {
  readonly sent: number;
  readonly total: number;
}

/** An upload that is paid for, or may be, and was not settled. */
export interface UnreturnedUpload {
  /** For `settle`. */
  readonly key: string;
  readonly state: UploadState;
  /** `yes`: the publisher said so. `maybe`: no answer tells. `no`: the blob was there already. */
  readonly paid: Paid;
  /** As the publisher answered it, else as the encoder computed it. */
  readonly blobId: string | undefined;
  /** Set when the two differ: the publisher's answer was not accepted. */
  readonly computedBlobId: string | undefined;
  /** Of the content, 64 hex digits. */
  readonly sha256: string;
  readonly size: number;
  readonly epochs: number;
  readonly objectId: string | undefined;
  /** Objects that earlier tries of this upload bought besides. */
  readonly earlierObjectIds: readonly string[];
  readonly owner: string | undefined;
  readonly endEpoch: number | undefined;
  readonly startedAt: Date;
}

/** One upload on its way. */
interface Job {
  readonly key: string;
  readonly content: Uint8Array;
  readonly sha256: Buffer;
  readonly deadline: Deadline;
  readonly onProgress: UploadOptions["onProgress"];
  /** Starts the encoder when first called; undefined without one. */
  readonly computed: () => Promise<string> | undefined;
}

/** The writer. Safe to share between tools and calls; uploads of equal content wait for each other. */
export class WalrusStorage {
  readonly #publisher: Endpoint;
  readonly #source: Source;
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
    this.#source = {
      aggregator: new Endpoint("aggregator", options.aggregator),
      deadlines: deadlinesOf(options.deadlines),
      retries: retriesOf(options.retries),
    };
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

  /** Whether blob ids are computed here. */
  get computesBlobIds(): boolean {
    return this.#encoder !== undefined;
  }

  /**
   * Stores the content and gives the reference, once everything about it was verified. An upload of the same content
   * that was not settled is found again and not sent a second time, as long as the aggregator has it.
   *
   * The content must not change while it is uploaded. The upload is settled by the runtime once a result that refers to
   * the blob has left; call {@link settle} for one that is given up.
   *
   * @param content what the reference stands for, 1 byte to `maxBytes`: for a port, the JSON text of its value, as
   * `portJson` of svc-runtime gives it
   * @throws {@link StorageError}; its `paid` tells whether something may have been bought
   */
  async upload<T = unknown>(content: Encoded<T>, { signal, onProgress }: UploadOptions = {}): Promise<StoredBlob<T>> {
    if (!(content instanceof Uint8Array)) throw new StorageError("invalid_upload", "upload: expected bytes");
    if (content.length < 1 || content.length > this.#maxBytes) {
      const expected = `expected 1 to ${this.#maxBytes} bytes`;
      throw new StorageError("invalid_upload", `upload: ${expected}, got ${content.length}`);
    }
    const deadline = new Deadline(this.#source.deadlines.totalMs, signal);
    const digest = sha256(content);
    const key = this.#keyOf(digest);
    let computing: Promise<string> | undefined;
    const job: Job = {
      key,
      content,
      sha256: digest,
      deadline,
      onProgress,
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
   * order of the object. `portJson` of svc-runtime writes them in the order of the schema and checks the value first.
   *
   * @throws {@link StorageError} as {@link upload} does; `invalid_upload` for a value without JSON text
   */
  async uploadJson<T>(value: T, options: UploadOptions = {}): Promise<StoredBlob<T>> {
    let text: string;
    try {
      text = plainText(value);
    } catch (error) {
      if (error instanceof PlainValueError) throw new StorageError("invalid_upload", `upload: ${error.message}`);
      throw error;
    }
    return this.upload<T>(sharedBytes(text), options);
  }

  /**
   * What is paid for, or may be, and was not settled: after a crash, what was lost on the way to the caller. Uploads that
   * are under way are not listed. Nothing is changed: upload the same content again to get its reference, or
   * {@link settle} what nobody needs any more.
   */
  async recover(): Promise<readonly UnreturnedUpload[]> {
    const entries = (await this.#recall((journal) => journal.list())) ?? [];
    return entries
      .filter(({ key }) => !this.#running.has(key))
      .sort((a, b) => a.startedAt - b.startedAt)
      .map(unreturned);
  }

  /**
   * Says that an upload has been returned, or is given up: the journal forgets it. The blob stays what it is: stored until
   * its end epoch and its owner's.
   */
  async settle({ key }: { readonly key: string }): Promise<void> {
    await this.#recall((journal) => journal.remove(key));
  }

  /** What is bought is part of the key: the same content for longer, or for another owner, is another upload. */
  #keyOf(digest: Uint8Array): string {
    const bought = JSON.stringify([Buffer.from(digest).toString("hex"), this.#epochs, this.#owner, this.#deletable]);
    return sha256(Buffer.from(bought)).toString("hex");
  }

  async #exclusive<T>({ key, deadline }: Job, work: () => Promise<T>): Promise<T> {
    const before = this.#running.get(key);
    let waiting = before !== undefined;
    const own = (async () => {
      if (before !== undefined) await deadline.race(before);
      waiting = false;
      deadline.check();
      return await work();
    })();
    const tail = Promise.allSettled([before, own]);
    const leave = () => {
      if (this.#running.get(key) === tail) this.#running.delete(key);
    };
    this.#running.set(key, tail);
    try {
      return await own;
    } finally {
      // One that gave up waiting leaves the turn to those before it.
      if (waiting) void tail.then(leave);
      else leave();
    }
  }

  async #store(job: Job): Promise<StoredBlob<never>> {
    // An encoder that cannot work is found out before anything is paid.
    if (this.#encoder !== undefined) await job.deadline.race(this.#encoder.check());
    const known = await this.#recall((journal) => journal.get(job.key));
    if (known !== undefined) {
      const found = await this.#findAgain(job, known);
      if (found !== undefined) return found;
    }
    // What an earlier try is known to have bought stays on record until there is an answer to this one.
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
    const noting = this.#noteComputed(job, entry);
    let answer: PublisherAnswer;
    try {
      answer = await this.#put(job);
    } catch (error) {
      await noting.stop();
      return await this.#unanswered(job, entry, error, known);
    }
    await noting.stop();
    const stored: UploadEntry = {
      ...withoutBlob({ ...entry, ...noting.entry() }, answer.objectId),
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

  /** Checks all that an answer claims; what fails here is paid for and stays in the journal. */
  async #verify(job: Job, stored: UploadEntry, origin: BlobOrigin): Promise<StoredBlob<never>> {
    const blobId = stored.blobId as string;
    const facts: StorageErrorFacts = { blobId, paid: stored.newlyCreated === false ? "no" : "yes" };
    try {
      const { length } = job.content;
      if (this.#deletable !== undefined && stored.deletable !== undefined && stored.deletable !== this.#deletable) {
        const got = stored.deletable ? "a deletable" : "a permanent";
        throw new StorageError("answer_invalid", `publisher: asked for the other kind of blob, got ${got} one`);
      }
      const [computed] = await Promise.all([
        this.#checkedId(job, stored),
        verifyStored(this.#source, job.deadline, this.#expected(job, blobId), true),
      ]);
      const verified: UploadEntry = { ...stored, state: "verified", ...(computed && { computedBlobId: computed }) };
      await this.#record(verified);
      return this.#blobOf(verified, job.sha256, length, origin);
    } catch (error) {
      throw error instanceof StorageError ? error.with(facts) : error;
    }
  }

  /** The computed id, which must be the answered one; undefined without an encoder. */
  async #checkedId(job: Job, stored: UploadEntry): Promise<string | undefined> {
    const computed = stored.computedBlobId ?? (await job.computed());
    if (computed === undefined || computed === stored.blobId) return computed;
    await this.#record({ ...stored, computedBlobId: computed });
    throw new StorageError(
      "blob_id_mismatch",
      "publisher: answered another blob id than the official encoder computes: check the publisher, and `shards`",
    );
  }

  #expected(job: Job, blobId: string): Expected {
    return { blobId, sha256: job.sha256, size: job.content.length, content: job.content };
  }

  /** An earlier upload of the same, when the aggregator has it. */
  async #findAgain(job: Job, known: UploadEntry): Promise<StoredBlob<never> | undefined> {
    const blobId = known.computedBlobId ?? (await job.computed()) ?? known.blobId;
    if (blobId === undefined) return undefined;
    try {
      await verifyStored(this.#source, job.deadline, this.#expected(job, blobId), known.state !== "verified");
    } catch (error) {
      if (error instanceof StorageError && error.code === "not_found") return undefined;
      throw error instanceof StorageError ? error.with({ blobId: known.blobId, paid: paidOf(known) }) : error;
    }
    return await this.#adopt(job, known, blobId);
  }

  /** Takes over a blob that is there. What a publisher answered with another id is no fact about it. */
  async #adopt(job: Job, known: UploadEntry, blobId: string): Promise<StoredBlob<never>> {
    const answered = known.blobId === blobId ? known : { ...withoutBlob(known), blobId };
    const computed = this.#encoder === undefined ? known.computedBlobId : blobId;
    const verified: UploadEntry = { ...answered, state: "verified", ...(computed && { computedBlobId: computed }) };
    await this.#record(verified);
    return this.#blobOf(verified, job.sha256, known.size, "recovered");
  }

  /** Sends the content. Repeated only where the publisher cannot have carried it out. */
  #put(job: Job): Promise<PublisherAnswer> {
    const { deadlines, retries } = this.#source;
    const { content, deadline, onProgress } = job;
    const total = content.length;
    return repeat(
      retries,
      deadline,
      async () => {
        const { chunks } = await exchange({
          endpoint: this.#publisher,
          method: "PUT",
          path: "/v1/blobs",
          query: this.#query,
          body: content,
          deadlines,
          deadline,
          onSent: onProgress && ((sent) => onProgress({ sent, total })),
        });
        const body: Buffer[] = [];
        let size = 0;
        for await (const chunk of chunks) {
          size += chunk.length;
          if (size > MAX_ANSWER_BYTES) {
            const message = `publisher: expected an answer of at most ${MAX_ANSWER_BYTES} bytes, got more`;
            throw new StorageError("answer_invalid", message, { paid: "maybe" });
          }
          body.push(chunk);
        }
        const answer = parsePublisherAnswer(Buffer.concat(body, size));
        if (answer.size !== undefined && answer.size !== total) {
          const { blobId } = answer;
          const message = `publisher: expected the answer to name ${total} bytes, got another size`;
          throw new StorageError("answer_invalid", message, { blobId, paid: "yes" });
        }
        return answer;
      },
      (error) => error.paid === "no" && isPassing(error),
    );
  }

  /** After a PUT without a usable answer: it may still have done its work, which the aggregator can tell. */
  async #unanswered(
    job: Job,
    entry: UploadEntry,
    error: unknown,
    known: UploadEntry | undefined,
  ): Promise<StoredBlob<never>> {
    if (!(error instanceof StorageError)) throw error;
    if (error.paid === "no") {
      // Certainly not stored by this try: the record is again what it was.
      if (known !== undefined) await this.#record(known);
      else await this.#recall((journal) => journal.remove(job.key));
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
      const once = { ...this.#source, retries: { attempts: 1, backoffMs: 0 } };
      await verifyStored(once, job.deadline, this.#expected(job, blobId), false);
      return await this.#adopt(job, named, blobId);
    } catch {
      throw error;
    }
  }

  /** Records the computed blob id while the content is under way, so that even an unanswered upload is known by name. */
  #noteComputed(job: Job, entry: UploadEntry): { stop(): Promise<void>; entry(): Partial<UploadEntry> } {
    let stopped = false;
    let noted: Partial<UploadEntry> = {};
    let recording: Promise<void> = Promise.resolve();
    if (entry.computedBlobId === undefined) {
      job.computed()?.then(
        (computedBlobId) => {
          if (stopped) return;
          noted = { computedBlobId };
          recording = this.#record({ ...entry, computedBlobId });
          recording.catch(() => undefined);
        },
        () => undefined,
      );
    }
    return {
      stop: async () => {
        stopped = true;
        await recording.catch(() => undefined);
      },
      entry: () => noted,
    };
  }

  /** What it stands for is what the caller said. */
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
      await this.#recall((journal) => journal.put(entry));
    } catch (error) {
      throw (error as StorageError).with({ paid: paidOf(entry), blobId: entry.blobId });
    }
  }

  /** Asks the journal, if there is one. A store of the caller's may fail with anything. */
  async #recall<T>(ask: (journal: UploadJournal) => Promise<T>): Promise<T | undefined> {
    try {
      return this.#journal && (await ask(this.#journal));
    } catch (cause) {
      if (cause instanceof StorageError) throw cause;
      throw new StorageError("journal_failed", "upload journal: the store failed", { cause });
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

/** The entry without what an answer said of one blob; an object that was bought stays listed. */
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

function unreturned(entry: UploadEntry): UnreturnedUpload {
  const { blobId, computedBlobId } = entry;
  return {
    key: entry.key,
    state: entry.state,
    paid: paidOf(entry),
    blobId: blobId ?? computedBlobId,
    computedBlobId: blobId !== undefined && computedBlobId !== blobId ? computedBlobId : undefined,
    sha256: entry.sha256,
    size: entry.size,
    epochs: entry.epochs,
    objectId: entry.objectId,
    earlierObjectIds: entry.earlierObjectIds ?? [],
    owner: entry.owner,
    endEpoch: entry.endEpoch,
    startedAt: new Date(entry.startedAt),
  };
}
