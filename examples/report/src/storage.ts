/** The operator's store, configured only by the environment and never by an input. */

import { FileJournal, WalrusStorage } from "svc-runtime-storage";

let opened: Promise<WalrusStorage> | undefined;

/** The storage of this process. It is opened at first use, so that `--meta` needs no settings. */
export function storage(): Promise<WalrusStorage> {
  if (opened === undefined) {
    opened = open();
    opened.catch(() => {
      opened = undefined;
    });
  }
  return opened;
}

async function open(): Promise<WalrusStorage> {
  const token = process.env.WALRUS_TOKEN;
  const shards = process.env.WALRUS_SHARDS;
  const storage = new WalrusStorage({
    publisher: {
      url: setting("WALRUS_PUBLISHER"),
      ...(token !== undefined && { headers: { Authorization: `Bearer ${token}` } }),
    },
    aggregator: { url: setting("WALRUS_AGGREGATOR") },
    epochs: Number(process.env.WALRUS_EPOCHS ?? "5"),
    deletable: false,
    // Shorter than the tool's timeout, so that a slow store is a tool error instead of a 504.
    deadlines: { totalMs: 45_000 },
    journal: await FileJournal.open(setting("REPORT_JOURNAL")),
    ...(shards !== undefined && { shards: Number(shards) }),
  });
  for (const { blobId, size, paid } of await storage.recover()) {
    console.warn(`stored and not returned: ${blobId ?? "an unknown blob"}, ${size} bytes, paid: ${paid}`);
  }
  return storage;
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") throw new Error(`${name} is not set`);
  return value;
}
