/** Generated contracts by FQN, under a global symbol that two copies of the runtime share. */

import { parseFqn } from "./fqn.js";
import type { Contract } from "./wire/contract.js";

const REGISTRY = Symbol.for("svc-runtime.contracts.v1");

function registry(): Map<string, Contract> {
  const holder = globalThis as { [REGISTRY]?: Map<string, Contract> };
  holder[REGISTRY] ??= new Map();
  return holder[REGISTRY];
}

/**
 * Registers the contracts that svc-gen derived. Called by the generated entrypoint, because bundlers drop imports for
 * side effects.
 */
export function provideContracts(contracts: readonly Contract[]): void {
  for (const contract of contracts) registry().set(contract.fqn, contract);
}

/** The contract of a tool, by its FQN with any spelling of the version. */
export function contractOf(fqn: string): Contract | undefined {
  return registry().get(parseFqn(fqn)?.text ?? fqn);
}

/**
 * The contract of a tool that cannot do without one.
 *
 * @throws TypeError for a tool without a contract
 */
export function requireContract(fqn: string): Contract {
  const contract = contractOf(fqn);
  if (contract === undefined) throw new TypeError(`${fqn} has no contract: run svc-gen and provide what it wrote`);
  return contract;
}
