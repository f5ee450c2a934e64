/** svc-runtime/internal/redis: code for svc-runtime-redis of the same version. */

export { checkedInteger } from "../checked-integer.js";
export { REDIS_VARIABLES } from "../config/environment.js";
export { authorityOf } from "../config/listen-address.js";
export { hiddenPath } from "../config/operator-file.js";
export { isLoopback } from "../loopback.js";
export { StartupError } from "../server/errors/startup-error.js";
export type { ServerLogger } from "../server/log/safe-logger.js";
export { MAX_SEAL_BYTES } from "../server/replay/cached-signature.js";
export {
  type CachedAnswer,
  type Claim,
  INTERRUPTED_STATUS,
  type ReplayCaller,
  type ReplayContext,
  type ReplayLease,
  type ReplayRequest,
  type ReplayStore,
  ReplayStoreUnavailable,
  type ReplayUnavailability,
  type SharedReplayStats,
} from "../server/replay/store.js";
export { endsWithin } from "../time-limit.js";
export { exactBytes } from "../wire/bcs/bcs-writer.js";
export { sha256 } from "../wire/crypto/hash.js";
export { textKind } from "../wire/described-text.js";
export { asciiText } from "../wire/printable.js";
export type { Repeat } from "../wire/replay-memory-header.js";
