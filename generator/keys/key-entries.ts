/** Entries of the configuration for the halves of a key pair, as JSON. */

import { type Json, JsonObject, object, printJson } from "../json.js";

export interface LeaderName {
  readonly id: string;
  readonly kid: bigint;
}

/** The entry of a leader in the allow-list. */
export function leaderEntry({ id, kid }: LeaderName, publicKey: string): JsonObject {
  return object(["leader_id", id], ["keys", [keyEntry(kid, publicKey)]]);
}

/** One key of a leader. */
export function keyEntry(kid: bigint, publicKey: string): JsonObject {
  return object(["kid", kid], ["public_key", publicKey]);
}

/** The entry of a tool in `signed_http.tools`. */
export function toolEntry(fqn: string, privateKey: string): JsonObject {
  return object([fqn, object(["response_signing_key", privateKey])]);
}

/** Placeholder for a private key that is not shown. */
export function textOf(file: string): string {
  return `the text in ${file}`;
}

/** JSON on one line, with spaces after colons and commas and inside braces. */
export function oneLine(value: Json): string {
  if (value instanceof JsonObject) {
    const members = [...value.members].map(([name, member]) => `${JSON.stringify(name)}: ${oneLine(member)}`);
    return `{ ${members.join(", ")} }`;
  }
  return Array.isArray(value) ? `[${value.map(oneLine).join(", ")}]` : printJson(value);
}

/** The members of an object as text, without the braces. */
export function memberText(value: JsonObject): string {
  return oneLine(value).slice(2, -2);
}
