/** Records the tools that this process serves with a replay memory (protocol.md section 8). */

import { StartupError } from "../errors/startup-error.js";

const remembered = new Set<string>();

/**
 * Reserves tools for the replay memory of one registration. With a second memory, a signed request could run twice.
 *
 * @param fqns names in shortest form
 * @returns a function that ends the reservation
 * @throws {@link StartupError} if another registration serves one of them
 */
export function rememberTools(fqns: readonly string[]): () => void {
  const twice = fqns.find((fqn) => remembered.has(fqn));
  if (twice !== undefined) {
    throw new StartupError(
      `${twice} is served twice in this process, each time with its own replay memory, so a signed call could run twice: pass the same replayStore to both, such as one new ReplayMemory() of svc-runtime`,
    );
  }
  for (const fqn of fqns) remembered.add(fqn);
  return () => {
    for (const fqn of fqns) remembered.delete(fqn);
  };
}
