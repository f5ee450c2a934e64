/**
 * Moving 8 MiB: `WalrusStorage.upload` and `WalrusReader.read` beside plain `fetch` doing as much, through the development
 * store in this process. Blob ids are not computed: that is seconds of a core for 1,000 shards, whatever moves the bytes.
 */

import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DevStore } from "#runtime/storage/dev-store.js";
import { FileJournal, WalrusReader, WalrusStorage } from "#runtime/storage/index.js";
import { NexusValue } from "#runtime/wire/data.js";

const SIZE = 8 * 1024 * 1024;

/** MiB of content a second, one figure for each repeat. */
export async function benchStorage(repeats: number): Promise<Record<string, number[]>> {
  console.log("\n8 MiB stored and read back, and read alone; MiB/s, median");
  const directory = await mkdtemp(join(tmpdir(), "svc-bench-storage-"));
  const store = await DevStore.start({ directory: join(directory, "blobs"), blobIds: "substitute" });
  const journal = await FileJournal.open(join(directory, "journal"));
  const storage = new WalrusStorage({ ...store.connection(), epochs: 1, journal });
  const reader = new WalrusReader({ aggregator: { url: store.url } });
  const get = async (blobId: string) =>
    Buffer.from(await (await fetch(`${store.url}/v1/blobs/${blobId}`)).arrayBuffer());
  let blobId = "";
  let digest = Buffer.alloc(0);
  const sides: Record<string, (content: Buffer) => Promise<unknown>> = {
    "fetch: PUT, GET, compare": async (content) => {
      const answer = await fetch(`${store.url}/v1/blobs?epochs=1`, { method: "PUT", body: content });
      const { newlyCreated } = (await answer.json()) as { newlyCreated: { blobObject: { blobId: string } } };
      blobId = newlyCreated.blobObject.blobId;
      if (!(await get(blobId)).equals(content)) throw new Error("other bytes");
    },
    "WalrusStorage.upload": async (content) => storage.settle(await storage.upload(content)),
    "fetch: GET, SHA-256": async () =>
      createHash("sha256")
        .update(await get(blobId))
        .digest(),
    "WalrusReader.read": () => reader.read(NexusValue.walrus(blobId, digest)),
  };
  const figures = Object.fromEntries(Object.keys(sides).map((name): [string, number[]] => [name, []]));
  try {
    // The first round is not counted: until the code is compiled.
    for (let repeat = -1; repeat < repeats; repeat++) {
      const stored = randomBytes(SIZE);
      digest = createHash("sha256").update(stored).digest();
      for (const [name, run] of Object.entries(sides)) {
        const content = name === "WalrusStorage.upload" ? randomBytes(SIZE) : stored;
        const start = performance.now();
        await run(content);
        if (repeat >= 0) figures[name]?.push((8 * 1000) / (performance.now() - start));
      }
    }
  } finally {
    await journal.close();
    await store.stop();
    await rm(directory, { recursive: true, force: true });
  }
  for (const [name, rates] of Object.entries(figures)) {
    const median = rates.toSorted((a, b) => a - b)[rates.length >> 1] ?? 0;
    console.log(`  ${name.padEnd(26)} ${median.toFixed(0).padStart(4)} MiB/s`);
  }
  return figures;
}
