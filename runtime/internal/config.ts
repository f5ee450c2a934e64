/**
 * svc-runtime/internal/config: checks of an operator's files, shared by servers and svc-gen. Only for svc-gen of the
 * same version; any version may change the exports.
 */

export { readPublicKey, readSigningKey } from "svc-client/internal/keys";
export { type ConfigCheck, checkAllowListFile, checkConfigFile } from "../config/check.js";
export { ENV_TOOLKIT_CONFIG_PATH, SignedHttpMode, type ToolkitRuntimeConfig } from "../config/config.js";
export {
  ENV_ADMIN_ADDR,
  ENV_BIND_ADDR,
  ENV_LOG_LEVEL,
  ENV_TLS_CERT_PATH,
  ENV_TLS_KEY_PATH,
  LOG_LEVELS,
} from "../config/environment.js";
export { parseListenAddress } from "../config/listen-address.js";
export { hiddenPath, isWorldReadable, readOperatorFile } from "../config/operator-file.js";
export { strayVariables } from "../config/stray-variables.js";
export type { ConfigError } from "../config/strict-json.js";
