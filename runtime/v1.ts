/** svc-runtime/v1: the stable interface of generated code. No export may be removed or changed. */

import "./internal/node-version.js";

export type { Contract } from "svc-client/internal/wire/codec/contract";
export { provideContracts } from "./contracts.js";
export { bootstrapEntrypoint as bootstrap } from "./server/entrypoint.js";
