/** Result encoders by FQN, for tool code that encodes outside the server. */

import { requireContract } from "./contracts.js";
import type { Contract } from "./wire/contract.js";
import { OutputEncoder } from "./wire/output.js";

const encoders = new WeakMap<Contract, OutputEncoder>();

/**
 * The result encoder of a tool, created once for each contract.
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
