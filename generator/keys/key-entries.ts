/** Where the halves of a key pair belong: entries of the configuration, as JSON. */

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

/** In place of a private key that is not shown. */
export function textOf(file: string): string {
  return `the text in ${file}`;
}

/** JSON on one line, with a space after each colon and comma, braces inside. */
export function oneLine(value: Json): string {
  if (value instanceof JsonObject) {
    const members = [...value.members].map(([name, member]) => `${JSON.stringify(name)}: ${oneLine(member)}`);
    return `{ ${members.join(", ")} }`;
  }
  return Array.isArray(value) ? `[${value.map(oneLine).join(", ")}]` : printJson(value);
}

/** The members of an object, to be put into another one. */
export function memberText(value: JsonObject): string {
  return oneLine(value).slice(2, -2);
}
