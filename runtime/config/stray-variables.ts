/** Environment variables that are set and not read: misspelt ones, and those of the Rust toolkit. */

import { ENV_TOOLKIT_CONFIG_PATH } from "./config.js";
import {
  ENV_ADMIN_ADDR,
  ENV_ALLOW_UNSIGNED,
  ENV_BIND_ADDR,
  ENV_LOG_LEVEL,
  ENV_TLS_CERT_PATH,
  ENV_TLS_KEY_PATH,
  ENV_UNSIGNED_RESULTS,
  NUMBER_SETTINGS,
  REDIS_SETTINGS,
} from "./environment.js";
import { closest } from "./nearest.js";

const KNOWN: readonly string[] = [
  ENV_BIND_ADDR,
  ENV_TOOLKIT_CONFIG_PATH,
  ENV_TLS_CERT_PATH,
  ENV_TLS_KEY_PATH,
  ENV_LOG_LEVEL,
  ENV_ADMIN_ADDR,
  ENV_ALLOW_UNSIGNED,
  ENV_UNSIGNED_RESULTS,
  ...NUMBER_SETTINGS,
  ...REDIS_SETTINGS,
];

/** The Rust toolkit has this prefix where this one has `SVC_`. */
const FOREIGN = /^NEXUS_/;
/** What Kubernetes sets in each container for a service whose name begins with `svc-`. */
const OF_KUBERNETES = /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT(?:_\d+_\w+)?$/;
/** It sets this one for each service. */
const HOST_OF_KUBERNETES = "_SERVICE_HOST";
/** A name of these words alone speaks of the configuration of tools; `SVC_ORDERS_CONFIG` is of an application. */
const OF_CONFIG = /^SVC(?:_(?:TOOL|TOOLS|TOOLKIT|RUNTIME|SERVER|CONFIG|CONFIGURATION|PATH|FILE|JSON))+$/;
/** Edit steps from the name of the configuration's path within which a name can hardly mean anything else. */
const MAX_STEPS_TO_CONFIG = 4;
/** The same for the other settings, of a name that begins with `SVC_`. */
const MAX_STEPS = 5;

/** A variable that no setting has. */
export interface StrayVariable {
  readonly name: string;
  /** The variable that was probably meant. */
  readonly nearest: string | undefined;
  /** Whether it can only be a misspelling of the variable that names the configuration. */
  readonly meansConfig: boolean;
}

/** Variables of the environment that are named like settings and are none. */
export function strayVariables(env: Readonly<Record<string, string | undefined>>): StrayVariable[] {
  return Object.keys(env).flatMap((name) => (isOfService(name, env) ? [] : (strayVariable(name) ?? [])));
}

/** Whether Kubernetes set the variable, by the host of its service, which is set beside it. */
function isOfService(name: string, env: Readonly<Record<string, string | undefined>>): boolean {
  return OF_KUBERNETES.test(name) && env[`${name.replace(OF_KUBERNETES, "")}${HOST_OF_KUBERNETES}`] !== undefined;
}

function strayVariable(name: string): StrayVariable | undefined {
  // Windows compares names of variables without their case.
  const read = process.platform === "win32" ? name.toUpperCase() : name;
  if (KNOWN.includes(read)) return undefined;
  const upper = name.toUpperCase();
  const ours = upper.replace(FOREIGN, "SVC_");
  if (ours !== upper) return KNOWN.includes(ours) ? stray(name, ours) : undefined;
  if (KNOWN.includes(upper)) return stray(name, upper);
  if (closest(upper, [ENV_TOOLKIT_CONFIG_PATH], MAX_STEPS_TO_CONFIG).length > 0)
    return stray(name, ENV_TOOLKIT_CONFIG_PATH);
  if (!upper.startsWith("SVC_") || OF_KUBERNETES.test(upper)) return undefined;
  if (OF_CONFIG.test(upper) && upper.includes("CONFIG")) return stray(name, ENV_TOOLKIT_CONFIG_PATH);
  return stray(name, closest(upper, KNOWN, MAX_STEPS)[0]);
}

function stray(name: string, nearest: string | undefined): StrayVariable {
  return { name, nearest, meansConfig: nearest === ENV_TOOLKIT_CONFIG_PATH };
}

/** A variable's name in a message: a name may hold anything but `=`. */
export function displayVariable(name: string): string {
  return /^\w{1,100}$/.test(name) ? name : JSON.stringify(name.slice(0, 100));
}
