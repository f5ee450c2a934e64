/**
 * `svc-runtime/generator`: the pure code that svc-gen shares with the servers that it generates, so that both mean the same.
 * For svc-gen of the same version alone; anything here may change with any version.
 */

export type {
  Codec,
  Contract,
  ListConstraints,
  NumberBounds,
  Port,
  TextConstraints,
  Variant,
} from "./wire/contract.js";
export { ValueDecoder } from "./wire/decoder.js";
export { WireFault } from "./wire/fault.js";
