/** Registry of generated contracts. Uses a global symbol, so that all loaded copies of the runtime share it. */

import { parseFqn } from "svc-client/internal/fqn";
import type { Contract } from "svc-client/internal/wire/codec/contract";

const REGISTRY = Symbol.for("svc-runtime.contracts.v1");

function registry(): Map<string, Contract> {
  const holder = globalThis as { [REGISTRY]?: Map<string, Contract> };
  holder[REGISTRY] ??= new Map();
  return holder[REGISTRY];
}

/**
 * Registers the contracts that svc-gen derived. The generated entry point calls this function, because bundlers drop
 * imports that have only side effects.
 */
export function provideContracts(contracts: readonly Contract[]): void {
  for (const contract of contracts) registry().set(contract.fqn, contract);
}

/** Contract of a tool, by its FQN with any spelling of the version. */
export function contractOf(fqn: string): Contract | undefined {
  return registry().get(parseFqn(fqn)?.text ?? fqn);
}

/**
 * Registered contract of a tool.
 *
 * @throws TypeError if the tool has no contract
 */
export function requireContract(fqn: string): Contract {
  const contract = contractOf(fqn);
  if (contract === undefined)
    throw new TypeError(`${fqn} has no contract: run svc-gen and pass its contracts to provideContracts`);
  return contract;
}
