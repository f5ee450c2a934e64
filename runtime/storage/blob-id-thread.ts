/** Worker thread of blob-id.ts: loads the official encoder and computes one blob id. */

import { createRequire } from "node:module";
import { parentPort, workerData } from "node:worker_threads";

/** The used part of `@mysten/walrus-wasm`. The metadata is (blob id, root hash, length, encoding). */
interface WalrusWasm {
  readonly BlobEncoder: new (shards: number) => { compute_metadata(content: Uint8Array): unknown };
}

const { module, shards, content } = workerData as { module: string; shards: number; content: Uint8Array };
const { BlobEncoder } = createRequire(import.meta.url)(module) as WalrusWasm;
const metadata = new BlobEncoder(shards).compute_metadata(content);
const blobId: unknown = Array.isArray(metadata) ? metadata[0] : undefined;
parentPort?.postMessage({ blobId: Array.isArray(blobId) ? Uint8Array.from(blobId) : blobId });
