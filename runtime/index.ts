/** svc-runtime: the public API for tool authors. */

import "./internal/node-version.js";

export type { Dispatcher } from "svc-client/internal/leader/transport/dispatcher";
export {
  type DataRef,
  type DataReference,
  type Encoded,
  NexusData,
  NexusDataError,
  NexusValue,
  OffchainToolOutput,
} from "svc-client/internal/wire/bcs/data";
export type { Codec } from "svc-client/internal/wire/codec/contract";
export { WithSerdeErrorPath } from "svc-client/internal/wire/codec/with-error-path";
export type { ErrorCode } from "svc-client/internal/wire/error-codes";
export { WireFault } from "svc-client/internal/wire/fault";
export { JsonError } from "svc-client/internal/wire/json/error";
export { DEFAULT_TIMEOUT_MS } from "svc-client/internal/wire/protocol";
export type { Repeat } from "svc-client/internal/wire/replay-memory-header";
export { ConfigError, ENV_TOOLKIT_CONFIG_PATH, SignedHttpMode, ToolkitRuntimeConfig } from "./config/config.js";
export type { ReloadStats, Reloads } from "./config/reload-stats.js";
export { type ExactJson, readJson, writeJson } from "./exact-json.js";
export type { HttpAnswer } from "./http/http-answer.js";
export { HttpError, type HttpErrorKind } from "./http/http-error.js";
export { type HttpOptions, http } from "./http/request.js";
export { portJson } from "./port-json.js";
export { bootstrap, type RunningServer, serve } from "./server/bootstrap.js";
export { StartupError } from "./server/errors/startup-error.js";
export type { Address } from "./server/http/address.js";
export type { ShutdownOptions, ShutdownSummary } from "./server/http/shutdown.js";
export type {
  ConcurrencyLimits,
  LoadOptions,
  LoadReason,
  LoadStats,
  RateLimit,
} from "./server/load/load-options.js";
export { debug, initLogger } from "./server/log/log.js";
export type { ServerLogger } from "./server/log/safe-logger.js";
export type { BootstrapOptions, ToolOptions } from "./server/options.js";
export { ReplayMemory, type ReplayMemoryOptions } from "./server/replay/memory.js";
export {
  type CachedAnswer,
  type Claim,
  type ReplayCaller,
  type ReplayContext,
  type ReplayLease,
  type ReplayRequest,
  type ReplayStats,
  type ReplayStore,
  ReplayStoreUnavailable,
  type ReplayUnavailability,
} from "./server/replay/store.js";
export { StatusCode } from "./status.js";
export {
  type Around,
  type AroundCall,
  type AuthContext,
  type CallEnd,
  type ClassContext,
  errEval,
  InvalidInput,
  InvocationAborted,
  type InvokeContext,
  type Logger,
  type MetricAttributes,
  type MetricOptions,
  type MetricRegistry,
  PermissionDenied,
  RateLimited,
  SvcTool,
  type SvcToolClass,
  type ToolMeter,
} from "./tool.js";

/** A value or a promise of it: the return type of hooks such as `health` and `authorize`, which throw on failure. */
export type AnyResult<T = void> = T | Promise<T>;
