/** Local Walrus for tests: publisher and aggregator with a directory that is removed at the end. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WalrusReader } from "../walrus-reader.js";
import { WalrusStorage, type WalrusStorageOptions } from "../walrus-storage.js";
import { DevStore } from "./dev-store.js";

/** A running store. */
export class TestStore {
  /** Reads references. Pass the store to a harness as `store` to resolve every result. */
  readonly reader: WalrusReader;

  readonly #directory: string;

  private constructor(
    /** Underlying store with received requests, simulated faults and the epoch. */
    readonly walrus: DevStore,
    directory: string,
  ) {
    this.#directory = directory;
    this.reader = new WalrusReader({ aggregator: { url: walrus.url } });
  }

  /** Starts a store on a free port of 127.0.0.1. */
  static async start(): Promise<TestStore> {
    const directory = await mkdtemp(join(tmpdir(), "svc-test-store-"));
    return new TestStore(await DevStore.start({ directory, blobIds: "substitute" }), directory);
  }

  /** URL of publisher and aggregator, for a tool that reads it from its environment. */
  get url(): string {
    return this.walrus.url;
  }

  /** Creates a storage that writes to this store, for a tool whose storage is injected. */
  storage(options: Partial<WalrusStorageOptions> = {}): WalrusStorage {
    return new WalrusStorage({ ...this.walrus.connection(), epochs: 1, ...options });
  }

  /** Stops the store and removes its directory. */
  async close(): Promise<void> {
    await this.walrus.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
