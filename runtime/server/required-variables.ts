import type { Contract } from "svc-client/internal/wire/codec/contract";
import { StartupError } from "./errors/startup-error.js";

/**
 * Requires the variables that the tools declare and do not mark as optional. An empty variable is a missing one.
 *
 * @throws {@link StartupError} that lists all missing variables with their descriptions
 */
export function requireVariables(
  contracts: readonly Pick<Contract, "fqn" | "variables">[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): void {
  const missing = new Map<string, string>();
  for (const { fqn, variables = [] } of contracts) {
    for (const [name, about] of variables) {
      if (!name.endsWith("?") && !env[name] && !missing.has(name)) missing.set(name, `${name} of ${fqn}: ${about}`);
    }
  }
  if (missing.size === 0) return;
  const what = missing.size === 1 ? "an environment variable is" : `${missing.size} environment variables are`;
  const list = [...missing.values()].map((line) => `  ${line}`).join("\n");
  const remedy = 'set each one where the server runs; "svc-gen env > .env" writes a file for node --env-file=.env';
  throw new StartupError(`${what} not set:\n${list}\n${remedy}`);
}
