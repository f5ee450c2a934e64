/** Encoders of results by FQN, for code of a tool that encodes outside the server. */

import { requireContract } from "./contracts.js";
import type { Contract } from "./wire/contract.js";
import { OutputEncoder } from "./wire/output.js";

const encoders = new WeakMap<Contract, OutputEncoder>();

/**
 * The encoder of a tool's results, made once for each contract.
 *
 * @throws TypeError for a tool without a contract
 */
export function outputEncoderOf(fqn: string): OutputEncoder {
  const contract = requireContract(fqn);
  let encoder = encoders.get(contract);
  if (encoder === undefined) {
    encoder = new OutputEncoder(contract);
    encoders.set(contract, encoder);
  }
  return encoder;
}
