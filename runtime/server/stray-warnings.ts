/** Reports environment variables whose names resemble settings. */

import { displayVariable, type StrayVariable } from "../config/stray-variables.js";
import { StartupError } from "./errors/startup-error.js";
import type { ServerLogger } from "./log/safe-logger.js";

/**
 * Maximum number of log lines about single variables: an application may have hundreds of its own with the same prefix.
 */
const MAX_LINES = 5;

/** Logs environment variables that resemble settings but are none, the most similar first. */
export function warnOfStrays(strays: readonly StrayVariable[], log: ServerLogger): void {
  const near = strays.filter(({ nearest }) => nearest !== undefined);
  const others = strays.filter(({ nearest }) => nearest === undefined);
  for (const { name, nearest } of [...near, ...others].slice(0, MAX_LINES)) {
    const remedy = nearest === undefined ? "unset it, or see docs/settings.md" : `did you mean ${nearest}?`;
    log.warn(
      { variable: name },
      `the environment variable ${displayVariable(name)} is not a setting and is ignored; ${remedy}`,
    );
  }
  const more = strays.length - MAX_LINES;
  if (more > 0) log.warn({ variables: more }, "more environment variables are not settings and are ignored");
}

/**
 * Refuses a misspelt name of a setting that is not set.
 *
 * @param consequence of starting without the setting, for the message
 * @param more remedies
 * @throws {@link StartupError}
 */
export function refuseMisspelt(
  strays: readonly StrayVariable[],
  setting: string,
  consequence: string,
  more = "",
): void {
  const misspelt = strays.find(({ nearest }) => nearest === setting);
  if (misspelt === undefined) return;
  throw new StartupError(
    `${displayVariable(misspelt.name)} is set but ${setting} is not: ${consequence}; rename the variable to ${setting}, or unset it${more}`,
  );
}
