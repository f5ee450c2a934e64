/**
 * Process of blob-id.ts: reads content from standard input and writes its blob id, computed by the official encoder.
 */

import { createRequire } from "node:module";
import { buffer } from "node:stream/consumers";

/** Members of `@mysten/walrus-wasm` that this file uses. */
interface WalrusWasm {
  readonly BlobEncoder: new (
    shards: number,
  ) => {
    compute_metadata(content: Uint8Array): readonly [blobId: readonly number[], ...unknown[]];
  };
}

// A supervisor may send signals to all processes of the server. This process ignores them, because the server ends only
// after its uploads.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});

const [, , module = "", shards] = process.argv;
const { BlobEncoder } = createRequire(import.meta.url)(module) as WalrusWasm;
const [blobId] = new BlobEncoder(Number(shards)).compute_metadata(await buffer(process.stdin));
process.stdout.write(Buffer.from(blobId).toString("base64url"));
