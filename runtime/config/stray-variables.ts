/** Finds environment variables that are set but not read: misspelt names, and names of the Rust toolkit. */

import { closest } from "svc-client/internal/did-you-mean";
import { ENV_TOOLKIT_CONFIG_PATH } from "./config.js";
import * as environment from "./environment.js";

/** All environment variables that a server reads. */
export const KNOWN: readonly string[] = [
  ...new Set([
    // Listed first, because the suggestion is the first of equally near names.
    environment.ENV_BIND_ADDR,
    ENV_TOOLKIT_CONFIG_PATH,
    ...Object.values(environment).filter((each) => typeof each === "string"),
    ...environment.REDIS_SETTINGS,
    ...environment.NUMBER_VARIABLES,
  ]),
];

/** Prefix of the Rust toolkit, which uses it instead of `SVC_`. */
const FOREIGN = /^NEXUS_/;
/** Variables that Kubernetes sets in each container for a service whose name begins with `svc-`. */
const OF_KUBERNETES = /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT(?:_\d+_\w+)?$/;
/** Suffix of a variable that Kubernetes sets for every service. */
const HOST_OF_KUBERNETES = "_SERVICE_HOST";
/**
 * Names that consist only of these words refer to the tool configuration. `SVC_ORDERS_CONFIG` belongs to an
 * application.
 */
const OF_CONFIG = /^SVC(?:_(?:TOOL|TOOLS|TOOLKIT|RUNTIME|SERVER|CONFIG|CONFIGURATION|PATH|FILE|JSON))+$/;
/** Names that can only mean the address of the shared replay store. */
const OF_STORE = /^SVC_(?:REPLAY_|STORE_|REPLAY_STORE_)?(?:REDIS|VALKEY)_(?:URL|URI|ADDR|ADDRESS|HOST)$/;
/** Maximum edit distance of a misspelt `SVC_TOOLKIT_CONFIG_PATH`. */
const MAX_STEPS_TO_CONFIG = 4;
/** Maximum edit distance to other settings, for a name that begins with `SVC_`. */
const MAX_STEPS = 5;

/** A variable with a name similar to a setting. */
export interface StrayVariable {
  readonly name: string;
  /** Variable that was probably meant. */
  readonly nearest: string | undefined;
}

/** Finds variables that resemble settings but are not read. */
export function strayVariables(env: Readonly<Record<string, string | undefined>>): StrayVariable[] {
  return Object.keys(env).flatMap((name) => (isOfService(name, env) ? [] : (strayVariable(name) ?? [])));
}

/** Whether Kubernetes set the variable: then it also set the host variable of the same service. */
function isOfService(name: string, env: Readonly<Record<string, string | undefined>>): boolean {
  return OF_KUBERNETES.test(name) && env[`${name.replace(OF_KUBERNETES, "")}${HOST_OF_KUBERNETES}`] !== undefined;
}

function strayVariable(name: string): StrayVariable | undefined {
  // Windows ignores case in variable names.
  const read = process.platform === "win32" ? name.toUpperCase() : name;
  if (KNOWN.includes(read)) return undefined;
  const upper = name.toUpperCase();
  const ours = upper.replace(FOREIGN, "SVC_");
  if (ours !== upper) return KNOWN.includes(ours) ? { name, nearest: ours } : undefined;
  if (KNOWN.includes(upper)) return { name, nearest: upper };
  const isNearConfig = closest(upper, [ENV_TOOLKIT_CONFIG_PATH], MAX_STEPS_TO_CONFIG).length > 0;
  if (!isNearConfig && (!upper.startsWith("SVC_") || OF_KUBERNETES.test(upper))) return undefined;
  if (isNearConfig || (OF_CONFIG.test(upper) && upper.includes("CONFIG")))
    return { name, nearest: ENV_TOOLKIT_CONFIG_PATH };
  return { name, nearest: OF_STORE.test(upper) ? environment.ENV_REDIS_URL : closest(upper, KNOWN, MAX_STEPS)[0] };
}

/** Makes a variable's name safe for a message; a name may contain any character except `=`. */
export function displayVariable(name: string): string {
  return /^\w{1,100}$/.test(name) ? name : JSON.stringify(name.slice(0, 100));
}
