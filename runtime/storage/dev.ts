/** svc-runtime-storage/dev: a local Walrus for development, and a store of a test. No server needs it. */

export { type DevFault, type DevRequest, DevStore, type DevStoreOptions } from "./dev-store.js";
export { TestStore } from "./test-store.js";
