/** svc-runtime/v1: the stable interface of generated code. No export may be removed or changed. */

export { provideContracts } from "./contracts.js";
export { bootstrapEntrypoint as bootstrap } from "./server/entrypoint.js";
export type { Codec, Contract, Member, Port, Variant } from "./wire/contract.js";
export { JsonError } from "./wire/json-error.js";
export { JsonDouble, JsonObject, type JsonValue, prettyJson, readJson } from "./wire/json-value.js";
export { derivePorts, PortError } from "./wire/ports.js";
