/**
 * Checks servers without signatures: they log a warning at start, and need explicit permission to listen on an address
 * that other machines can reach.
 */

import { isLoopback } from "svc-client/internal/loopback";
import { ENV_TOOLKIT_CONFIG_PATH, isUnsignedByName, type ToolkitRuntimeConfig } from "../config/config.js";
import { ENV_ALLOW_UNSIGNED, ENV_UNSIGNED_RESULTS } from "../config/environment.js";
import { authorityOf, type ListenAddress } from "../config/listen-address.js";
import type { StrayVariable } from "../config/stray-variables.js";
import { textKind } from "../described-text.js";
import type { UnsignedResults } from "./call/content-negotiation.js";
import { StartupError } from "./errors/startup-error.js";
import type { ServerLogger } from "./log/safe-logger.js";
import type { ToolOptions } from "./options.js";
import { refuseMisspelt, warnOfStrays } from "./stray-warnings.js";

const REQUIRE = "set SVC_TOOLKIT_CONFIG_PATH to a configuration that requires signatures";
const ASK = `allow unsigned calls explicitly: ${ENV_ALLOW_UNSIGNED}=1, allowUnsigned: true in code, or "mode": "disabled" in the configuration`;

interface UnsignedContext {
  /** Address of the listener; undefined if the application owns it. */
  readonly endpoint: ListenAddress | undefined;
  readonly strays: readonly StrayVariable[];
  readonly log: ServerLogger;
}

/**
 * Warns about environment variables that are probably misspelt, and checks whether tools may be served without
 * signatures.
 *
 * @throws {@link StartupError} if a server without signatures is probably unintended
 */
export function checkUnsigned(
  config: ToolkitRuntimeConfig,
  options: Pick<ToolOptions, "config" | "allowUnsigned">,
  { endpoint, strays, log }: UnsignedContext,
): void {
  const isAsked = isUnsignedByName(config) || (options.allowUnsigned ?? allowedByEnv());
  const hasNone = options.config === undefined && process.env[ENV_TOOLKIT_CONFIG_PATH] === undefined;
  const consequence = "without a configuration every caller would be served without signatures";
  if (hasNone && !isAsked) refuseMisspelt(strays, ENV_TOOLKIT_CONFIG_PATH, consequence, `, or ${ASK}`);
  warnOfStrays(strays, log);
  if (config.signedHttpIsRequired()) return;
  if (!isAsked && endpoint !== undefined && !isLoopback(endpoint.host)) {
    throw new StartupError(
      `signatures are not required, but ${authorityOf(endpoint)} is reachable from other machines, which could all call the tools; ${REQUIRE}, or ${ASK}`,
    );
  }
  const reached = endpoint === undefined ? "the application" : "this address";
  log.warn(
    { signed: false },
    `signatures are not required: any program that can reach ${reached} may call the tools${hasNone ? `; ${ENV_TOOLKIT_CONFIG_PATH} is not set` : ""}`,
  );
}

/** @throws {@link StartupError} for a value other than 0 and 1 */
function allowedByEnv(): boolean {
  const text = process.env[ENV_ALLOW_UNSIGNED];
  if (text === undefined || text === "0") return false;
  if (text === "1") return true;
  throw new StartupError(
    `${ENV_ALLOW_UNSIGNED}: expected 1 to serve calls without signatures, or 0, got ${textKind(text)}`,
  );
}

/**
 * Format of unsigned calls' results.
 *
 * @param given option set in code
 * @throws {@link StartupError} for a value other than `json` and `bcs`
 */
export function unsignedResultsOf(given: UnsignedResults | undefined): UnsignedResults {
  const word: string = given ?? process.env[ENV_UNSIGNED_RESULTS] ?? "json";
  if (word === "json" || word === "bcs") return word;
  const name = given === undefined ? ENV_UNSIGNED_RESULTS : "unsignedResults";
  throw new StartupError(`${name}: expected json or bcs, got ${textKind(String(word))}`);
}
