/** Where generated contracts meet tool classes: by FQN, under one symbol, so that two copies of the runtime agree. */

import { parseFqn } from "./fqn.js";
import type { Contract } from "./wire/contract.js";

const REGISTRY = Symbol.for("svc-runtime.contracts.v1");

function registry(): Map<string, Contract> {
  const holder = globalThis as { [REGISTRY]?: Map<string, Contract> };
  holder[REGISTRY] ??= new Map();
  return holder[REGISTRY];
}

/**
 * Makes the contracts that svc-gen derived known to this process. Called by the generated entrypoint with a value, since
 * bundlers drop imports for side effects.
 */
export function provideContracts(contracts: readonly Contract[]): void {
  for (const contract of contracts) registry().set(contract.fqn, contract);
}

/** The contract of a tool, by its FQN in any spelling of the version. */
export function contractOf(fqn: string): Contract | undefined {
  return registry().get(parseFqn(fqn)?.text ?? fqn);
}
