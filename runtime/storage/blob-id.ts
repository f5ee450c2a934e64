/**
 * Computes Walrus blob ids with the official encoder (`@mysten/walrus-wasm`). For the 1,000 shards of Mainnet and
 * Testnet, an id takes seconds of CPU time, whatever the size of the blob.
 *
 * Each id is computed by a separate process, which returns its memory and can be killed. A thread would not do: Node 20
 * crashes if a thread ends while V8 compiles WebAssembly in the background.
 */

import { execFile } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { createRequire } from "node:module";
import os from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { requireInteger, StorageError } from "./storage-error.js";

const require = createRequire(import.meta.url);
const SCRIPT = fileURLToPath(new URL("./blob-id-process.js", import.meta.url));

/** Number of shards of Mainnet and Testnet, on which the blob id depends. */
export const DEFAULT_SHARDS = 1_000;

/** Maximum number of encoder processes at the same time. One core is left for calls. */
const MAX_PROCESSES = Math.max(1, os.availableParallelism() - 1);

let running = 0;
/** Emits `end` for each process that has ended. */
const processes = new EventEmitter().setMaxListeners(0);

export class BlobIdEncoder {
  #checked: Promise<unknown> | undefined;

  readonly #module: string;
  readonly #shards: number;

  private constructor(module: string, shards: number) {
    this.#module = module;
    this.#shards = shards;
  }

  /**
   * Returns the encoder; undefined unless `@mysten/walrus-wasm` is installed.
   *
   * @param shards 1 to 65,535: a constant of the network
   * @throws {@link StorageError} `invalid_option`, and `encoder_failed` in a bundle
   */
  static find(shards: number = DEFAULT_SHARDS): BlobIdEncoder | undefined {
    requireInteger("shards", shards, 1, 65_535);
    let module: string;
    try {
      module = require.resolve("@mysten/walrus-wasm");
    } catch {
      return undefined;
    }
    try {
      require.resolve(SCRIPT);
    } catch (cause) {
      const message =
        "encoder: expected blob-id-process.js in the folder of the code, got no file; exclude svc-runtime-storage from the bundle";
      throw new StorageError("encoder_failed", message, { cause });
    }
    return new BlobIdEncoder(module, shards);
  }

  /**
   * Checks once, with few shards, that the process starts and answers.
   *
   * @throws {@link StorageError} `encoder_failed`
   */
  async check(): Promise<void> {
    this.#checked ??= this.#encode(Uint8Array.of(0), 7);
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
   * @param signal kills the process
   * @throws {@link StorageError} `encoder_failed`; the signal's reason
   */
  async compute(content: Uint8Array, signal: AbortSignal): Promise<string> {
    await this.#acquireProcess(signal);
    try {
      return await this.#encode(content, this.#shards, signal);
    } finally {
      running--;
      processes.emit("end");
    }
  }

  async #acquireProcess(signal: AbortSignal): Promise<void> {
    while (running >= MAX_PROCESSES) await once(processes, "end", { signal }).catch(() => signal.throwIfAborted());
    signal.throwIfAborted();
    running++;
  }

  async #encode(content: Uint8Array, shards: number, signal?: AbortSignal): Promise<string> {
    let cause: unknown;
    try {
      const encoding = promisify(execFile)(process.execPath, [SCRIPT, this.#module, `${shards}`], {
        // The encoder needs nothing from the application's environment.
        env: process.platform === "win32" ? { SystemRoot: process.env.SystemRoot } : {},
        killSignal: "SIGKILL",
        ...(signal && { signal }),
      });
      // The process may end before it has read everything.
      encoding.child.stdin?.on("error", () => {}).end(content);
      const { stdout } = await encoding;
      if (stdout.length === 43) return stdout;
    } catch (error) {
      signal?.throwIfAborted();
      cause = error;
    }
    const { code, signal: killedBy } = (cause ?? {}) as { readonly code?: unknown; readonly signal?: unknown };
    const end = killedBy ?? code;
    const reason = end === undefined ? "" : `: its process ended with ${String(end)}`;
    throw new StorageError("encoder_failed", `encoder: no blob id for ${content.length} bytes${reason}`, { cause });
  }
}
