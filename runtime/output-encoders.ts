/** Encoders of results by FQN, for tool code that encodes outside the server. */

import type { Contract } from "svc-client/internal/wire/codec/contract";
import { requireContract } from "./contracts.js";
import { OutputEncoder } from "./server/wire/output.js";

const encoders = new WeakMap<Contract, OutputEncoder>();

/**
 * Encoder of a tool's results, created once for each contract.
 *
 * @throws TypeError if the tool has no contract
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
