/** JSON entries of the configuration for the keys of a pair. */

import { type JsonObject, object } from "../text/json.js";

export interface LeaderName {
  readonly id: string;
  readonly kid: bigint;
}

export function leaderEntry({ id, kid }: LeaderName, publicKey: string): JsonObject {
  return object(["leader_id", id], ["keys", [object(["kid", kid], ["public_key", publicKey])]]);
}

export function toolEntry(fqn: string, privateKey: string): JsonObject {
  return object([fqn, object(["response_signing_key", privateKey])]);
}
