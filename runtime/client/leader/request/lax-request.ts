/**
 * Builds request bodies from any input, even if the tool rejects it, to see the server's answer. The leader's client
 * rejects such input before sending it.
 */

import { Buffer } from "#platform/bytes";
import { sha256 } from "#platform/hash";
import type { PortShape } from "../../wire/bcs/bcs-shapes.js";
import { MAX_VALUES } from "../../wire/protocol.js";
import { InputHasher } from "../../wire/signature/input-hash.js";
import { envelopeBody, envelopePort, valueText } from "./request.js";
import type { Envelope } from "./signed-request.js";

/**
 * Body of a signed request. Missing ports are sent as null, unknown members as additional ports, and lists with any
 * number of values.
 *
 * @throws LeaderError `invalid_input` for a value that has no JSON form
 */
export function laxEnvelope(ports: readonly PortShape[], input: object): Envelope {
  const given = new Map<string, unknown>(Object.entries(input).filter(([, value]) => value !== undefined));
  const hashes: Buffer[][] = [];
  let fits = true;
  const member = (name: string, value: unknown, many: boolean) => {
    const isList = many && Array.isArray(value);
    const texts = isList
      ? Array.from(value, (item: unknown, i) => valueText(item, [name, i]))
      : [valueText(value, [name])];
    if (many && (!isList || texts.length < 1 || texts.length > MAX_VALUES)) fits = false;
    hashes.push(texts.map(sha256));
    return envelopePort(name, isList, texts);
  };
  const members = ports.map(({ name, many }) => member(name, given.get(name) ?? null, many));
  for (const [name, value] of given) {
    if (ports.some((port) => port.name === name)) continue;
    fits = false;
    members.push(member(name, value, Array.isArray(value)));
  }
  const body = envelopeBody(members);
  // Servers check the structure of the body before its hash, so a body with another structure needs no hash.
  return { body, inputHash: fits ? new InputHasher(ports).hash(hashes) : Buffer.alloc(32) };
}

/**
 * Body of an unsigned request: the input as plain JSON.
 *
 * @throws LeaderError `invalid_input` for a value that has no JSON form
 */
export function laxBody(input: object): Uint8Array {
  return valueText(input, []);
}
