/**
 * svc-runtime/internal/config: checks of an operator's files, shared by servers and svc-gen. Only for svc-gen of the
 * same version; any version may change the exports.
 */

export { readPublicKey } from "svc-client/internal/keys";
export { type ConfigCheck, checkAllowListFile, checkConfigFile } from "../config/check.js";
export { ENV_TOOLKIT_CONFIG_PATH, SignedHttpMode, type ToolkitRuntimeConfig } from "../config/config.js";
export { hiddenPath, isWorldReadable, readOperatorFile } from "../config/operator-file.js";
export type { ConfigError } from "../config/strict-json.js";
