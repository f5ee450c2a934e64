/**
 * Computes Walrus blob ids with the official encoder (`@mysten/walrus-wasm`), on threads: for the 1,000 shards of
 * Mainnet and Testnet an id takes seconds of one core, independent of the size.
 */

import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { requireInteger, StorageError } from "./storage-error.js";

const require = createRequire(import.meta.url);

/** Number of shards of Mainnet and Testnet. The blob id depends on it. */
export const DEFAULT_SHARDS = 1_000;

/** Limit of concurrent encoder threads, which leaves one core for calls. */
const MAX_THREADS = Math.max(1, availableParallelism() - 1);

let running = 0;
const waiting: (() => void)[] = [];

/** Computes blob ids. */
export class BlobIdEncoder {
  #checked: Promise<unknown> | undefined;

  private constructor(
    private readonly module: string,
    private readonly shards: number,
  ) {}

  /**
   * The encoder; undefined unless `@mysten/walrus-wasm` is installed.
   *
   * @param shards 1 to 65,535: a constant of the network
   * @throws {@link StorageError} `invalid_option`
   */
  static find(shards: number = DEFAULT_SHARDS): BlobIdEncoder | undefined {
    requireInteger("shards", shards, 1, 65_535);
    try {
      return new BlobIdEncoder(require.resolve("@mysten/walrus-wasm"), shards);
    } catch {
      return undefined;
    }
  }

  /**
   * Checks once, with few shards, that the thread starts and answers.
   *
   * @throws {@link StorageError} `encoder_failed`
   */
  async check(): Promise<void> {
    this.#checked ??= this.encode(Uint8Array.of(0), 7, new AbortController().signal);
    try {
      await this.#checked;
    } catch (error) {
      this.#checked = undefined;
      throw error;
    }
  }

  /**
   * Computes the blob id of the content: 43 characters of base64url.
   *
   * @param signal terminates the thread
   * @throws {@link StorageError} `encoder_failed`; the signal's reason
   */
  async compute(content: Uint8Array, signal: AbortSignal): Promise<string> {
    await this.acquireThread(signal);
    try {
      return await this.encode(content, this.shards, signal);
    } finally {
      running--;
      waiting.shift()?.();
    }
  }

  private async acquireThread(signal: AbortSignal): Promise<void> {
    while (running >= MAX_THREADS) {
      await new Promise<void>((resolve) => {
        const proceed = () => {
          signal.removeEventListener("abort", proceed);
          const at = waiting.indexOf(proceed);
          if (at !== -1) waiting.splice(at, 1);
          resolve();
        };
        waiting.push(proceed);
        signal.addEventListener("abort", proceed, { once: true });
      });
      signal.throwIfAborted();
    }
    signal.throwIfAborted();
    running++;
  }

  private encode(content: Uint8Array, shards: number, signal: AbortSignal): Promise<string> {
    // Shared memory is read in place; other bytes are copied, because transferring them would detach the caller's
    // buffer.
    const shared = content.buffer instanceof SharedArrayBuffer;
    const given = shared ? content : Uint8Array.from(content);
    const worker = new Worker(new URL("./blob-id-thread.js", import.meta.url), {
      workerData: { module: this.module, shards, content: given },
      transferList: shared ? [] : [given.buffer as ArrayBuffer],
      // Without the loaders of the process, which the thread does not need.
      execArgv: [],
      // The data is in WebAssembly memory, outside the JavaScript heap.
      resourceLimits: { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 32 },
    });
    let onAbort: (() => void) | undefined;
    return new Promise<string>((resolve, reject) => {
      onAbort = () => reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      const fail = () => reject(new StorageError("encoder_failed", `encoder: no blob id for ${content.length} bytes`));
      worker.once("message", (answer: unknown) => {
        const { blobId } = answer as { blobId: unknown };
        if (blobId instanceof Uint8Array && blobId.length === 32) resolve(Buffer.from(blobId).toString("base64url"));
        else fail();
      });
      worker.once("error", fail);
      worker.once("exit", fail);
    }).finally(() => {
      if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
      void worker.terminate();
    });
  }
}
