/** svc-runtime/internal/storage: code for svc-runtime-storage of the same version. */

export { checkedInteger } from "../checked-integer.js";
export type { ReadBudget, ReadOptions, ResolvedValue } from "../leader/result/resolve.js";
export { isLoopback } from "../loopback.js";
export type { RawValue } from "../wire/bcs/bcs-shapes.js";
export {
  type content,
  type DataReference,
  type Encoded,
  isBlobId,
  NexusData,
  NexusValue,
  parseObjectId,
  type WalrusValue,
} from "../wire/bcs/data.js";
export { sharedBytes } from "../wire/bytes.js";
export { sha256 } from "../wire/crypto/hash.js";
export { PlainValueError, plainText } from "../wire/json/untyped-json.js";
export { INPUT_BUDGET, MAX_TIMEOUT_MS, OUTPUT_BUDGET } from "../wire/protocol.js";
