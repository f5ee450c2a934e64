/**
 * svc-runtime/internal/config: the checks of an operator's files that svc-gen shares with servers. Only for svc-gen of
 * the same version; every export may change with any version.
 */

export { type ConfigCheck, checkAllowListFile, checkConfigFile } from "../config/check.js";
export { ENV_TOOLKIT_CONFIG_PATH, SignedHttpMode, type ToolkitRuntimeConfig } from "../config/config.js";
export {
  ENV_ADMIN_ADDR,
  ENV_BIND_ADDR,
  ENV_LOG_LEVEL,
  ENV_TLS_CERT_PATH,
  ENV_TLS_KEY_PATH,
} from "../config/environment.js";
export { readPublicKey, readSigningKey } from "../config/keys.js";
export { isWorldReadable, readOperatorFile } from "../config/operator-file.js";
export { type StrayVariable, strayVariables } from "../config/stray-variables.js";
export type { ConfigError, DocumentNode } from "../config/strict-json.js";
