// Uploads once and says what it sees, one JSON text a line; the tests of the storage kill it in between.
import { FileJournal, WalrusReader, WalrusStorage } from "#runtime/storage/index.js";

const { path, content, size, shared, connection, deadlines, settle, read } = JSON.parse(process.env.UPLOAD);
const say = (event, facts) => process.stdout.write(`${JSON.stringify({ event, ...facts })}\n`);

const journal = await FileJournal.open(path);
const storage = new WalrusStorage({ ...connection, epochs: 3, deletable: false, journal, deadlines });
say("begins", { recovered: await storage.recover() });
// Loaded by the first request.
await import("undici");
// In KiB, before the content is there; the code is.
const before = process.resourceUsage().maxRSS;
const bytes =
  size === undefined ? Buffer.from(content) : Buffer.from(new (shared ? SharedArrayBuffer : ArrayBuffer)(size));
if (size !== undefined) bytes.fill("0123456789abcdef");
const blob = await storage.upload(bytes);
const { blobId, objectId, endEpoch, origin } = blob;
say("uploaded", { blobId, objectId, endEpoch, origin });
if (read) {
  const got = await new WalrusReader({ aggregator: connection.aggregator }).read(blob.nexusValue());
  if (!bytes.equals(got)) throw new Error("other bytes were read");
  say("read", { grown: (process.resourceUsage().maxRSS - before) * 1024 });
}
if (settle) {
  await storage.settle(blob);
} else {
  // Stands for a tool that has not answered yet.
  setInterval(() => undefined, 60_000);
}
