/**
 * svc-runtime/internal: the code that svc-gen and the other packages of svc-runtime share with it. Only for packages of the
 * same version; every export may change with any version.
 */

export { checkedInteger } from "./checked-integer.js";
export { type ConfigCheck, checkAllowListFile, checkConfigFile } from "./config/check.js";
export {
  DEFAULT_INVOKE_MAX_BODY_BYTES,
  DEFAULT_REPLAY_CACHE_TTL_MS,
  ENV_TOOLKIT_CONFIG_PATH,
  SignedHttpMode,
  type ToolkitRuntimeConfig,
} from "./config/config.js";
export {
  ENV_ADMIN_ADDR,
  ENV_BIND_ADDR,
  ENV_LOG_LEVEL,
  ENV_REDIS_CA_PATH,
  ENV_REDIS_CERT_PATH,
  ENV_REDIS_GRACE_MS,
  ENV_REDIS_KEY_PATH,
  ENV_REDIS_PASSWORD_FILE,
  ENV_REDIS_PREFIX,
  ENV_REDIS_TIMEOUT_MS,
  ENV_REDIS_URL,
  ENV_TLS_CERT_PATH,
  ENV_TLS_KEY_PATH,
} from "./config/environment.js";
export { readPublicKey, readSigningKey } from "./config/keys.js";
export { closest, didYouMean } from "./config/nearest.js";
export { isWorldReadable, readOperatorFile } from "./config/operator-file.js";
export { type StrayVariable, strayVariables } from "./config/stray-variables.js";
export type { ConfigError, DocumentNode } from "./config/strict-json.js";
export { fqnProblem, parseFqn } from "./fqn.js";
export { engine } from "./leader/engine.js";
export { laxEnvelope } from "./leader/lax-request.js";
export type { ReadBudget, ReadOptions, ResolvedValue } from "./leader/resolve.js";
export { isLoopback } from "./loopback.js";
export { StartupError } from "./server/errors/startup-error.js";
export type { ServerLogger } from "./server/log/safe-logger.js";
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
} from "./server/replay/store.js";
export { endsWithin } from "./time-limit.js";
export { decodeBase64url } from "./wire/base64.js";
export type { RawValue } from "./wire/bcs-shapes.js";
export type {
  Codec,
  Contract,
  ListConstraints,
  NumberBounds,
  Port,
  TextConstraints,
  Variant,
} from "./wire/contract.js";
export {
  type content,
  type DataReference,
  type Encoded,
  MAX_VALUES,
  NexusData,
  NexusValue,
  parseObjectId,
  type WalrusValue,
} from "./wire/data.js";
export { ValueDecoder } from "./wire/decoder.js";
export { ERROR_CODES, type ErrorCode } from "./wire/error-codes.js";
export { pathText, WireFault } from "./wire/fault.js";
export { FORMAT_NAMES, formats } from "./wire/formats.js";
export { sha256 } from "./wire/hash.js";
export { RESULT_CONTENT_TYPE, SignatureHeaders } from "./wire/http-names.js";
export { foldTape, itemsOf, membersByName, parseJson, quote, scalarOf, textOf } from "./wire/json.js";
export { JsonError } from "./wire/json-error.js";
export { prettyJson } from "./wire/json-value.js";
export { DEFAULT_TIMEOUT_MS, localUrl, MAX_TIMEOUT_MS, metadataListing, metadataText } from "./wire/metadata.js";
export { bigintRange } from "./wire/mismatch.js";
export {
  derivePorts,
  isPortName,
  MAX_INPUT_PORTS,
  MAX_VARIANT_PORTS,
  MAX_VARIANTS,
  PortError,
} from "./wire/ports.js";
export type { Repeat } from "./wire/repeat.js";
export { sharedBytes } from "./wire/shared-bytes.js";
export { exactValue as readExact, PlainValueError, plainText } from "./wire/untyped-json.js";
