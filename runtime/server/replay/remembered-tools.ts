/** Tools that this process serves with a replay memory of their registration (protocol.md section 8). */

import { StartupError } from "../errors/startup-error.js";

const remembered = new Set<string>();

/**
 * Claims tools for the replay memory of one registration: with a second memory one signed request could run twice.
 *
 * @param fqns names in shortest form
 * @returns a function that gives them back
 * @throws {@link StartupError} when another registration serves one of them
 */
export function rememberTools(fqns: readonly string[]): () => void {
  const twice = fqns.find((fqn) => remembered.has(fqn));
  if (twice !== undefined) {
    throw new StartupError(
      `${twice} is served twice by this process, each with its own replay memory, and a signed call could run twice: give both one replayStore, such as one new ReplayMemory() of svc-runtime`,
    );
  }
  for (const fqn of fqns) remembered.add(fqn);
  return () => {
    for (const fqn of fqns) remembered.delete(fqn);
  };
}
