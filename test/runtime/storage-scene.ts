/** What tests of the storage share: stores for development, what a publisher answers, and faults without secrets. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { inspect } from "node:util";
import { DevStore, type DevStoreOptions, substituteBlobId } from "#runtime/storage/dev/dev-store.js";
import { StorageError, type StorageFault } from "#runtime/storage/index.js";
import { scratchFolder } from "../scratch-folder.js";
import { atEnd } from "../teardown.js";

const directory = scratchFolder();
let folders = 0;
/** A path in a folder that is removed at the end. */
export const freshPath = () => join(directory, `${folders++}`);

/** A store that is stopped at the end of the test file. Its ids are substitutes by default: real ones take a core some time. */
export async function startStore(options: Partial<DevStoreOptions> = {}): Promise<DevStore> {
  const store = await DevStore.start({ directory: freshPath(), blobIds: "substitute", ...options });
  atEnd(() => store.stop());
  return store;
}

/** Makes a store forget its faults, requests and counts. */
export function reset(store: DevStore): void {
  store.clearFaults();
  store.requests.length = 0;
  store.created = 0;
}

/** What a publisher answers when it has created a blob. */
export const createdAnswer = (content: Uint8Array, change: object = {}) => {
  const id = `0x${"1".repeat(64)}`;
  const blob = {
    id,
    blobId: substituteBlobId(content),
    size: content.length,
    storage: { endEpoch: 6 },
    deletable: true,
  };
  return { newlyCreated: { blobObject: { ...blob, ...change } } };
};

/** Whether an error is a {@link StorageError} of a code, without a secret anywhere in it. */
export const isFault =
  (code: StorageFault, message = /^/) =>
  (error: unknown) => {
    assert.ok(error instanceof StorageError, `expected ${code}, got ${inspect(error)}`);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /canary/);
    assert.doesNotMatch(JSON.stringify(error), /canary/);
    return true;
  };

/** The fault of a call that must fail. */
export async function fault(call: Promise<unknown>, code: StorageFault, message?: RegExp): Promise<StorageError> {
  const error = await call.then(
    () => assert.fail(`expected ${code}`),
    (reason: unknown) => reason,
  );
  isFault(code, message)(error);
  return error as StorageError;
}
