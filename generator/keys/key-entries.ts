/** JSON entries of the configuration for the keys of a pair. */

import { type Json, JsonObject, object, printJson } from "../text/json.js";

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

/** Prints JSON on one line, with spaces after colons and commas and inside braces. */
export function oneLine(value: Json): string {
  if (value instanceof JsonObject) {
    const members = [...value.members].map(([name, member]) => `${JSON.stringify(name)}: ${oneLine(member)}`);
    return `{ ${members.join(", ")} }`;
  }
  return Array.isArray(value) ? `[${value.map(oneLine).join(", ")}]` : printJson(value);
}

/** Members of an object as text, without the braces. */
export function memberText(value: JsonObject): string {
  return oneLine(value).slice(2, -2);
}
