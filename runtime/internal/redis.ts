/** svc-runtime/internal/redis: code for svc-runtime-redis of the same version. */

export { checkedInteger } from "svc-client/internal/checked-integer";
export { isLoopback } from "svc-client/internal/loopback";
export { exactBytes } from "svc-client/internal/wire/bcs/bcs-writer";
export { asciiText } from "svc-client/internal/wire/printable";
export type { Repeat } from "svc-client/internal/wire/replay-memory-header";
export { sha256 } from "svc-client/internal/wire/signature/hash";
export { REDIS_VARIABLES } from "../config/environment.js";
export { authorityOf } from "../config/listen-address.js";
export { hiddenPath } from "../config/operator-file.js";
export { textKind } from "../described-text.js";
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
