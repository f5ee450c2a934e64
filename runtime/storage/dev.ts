/** svc-runtime-storage/dev: a local Walrus for development and tests. */

export { type DevAnswer, type DevFault, type DevRequest, DevStore, type DevStoreOptions } from "./dev/dev-store.js";
export { TestStore } from "./dev/test-store.js";
