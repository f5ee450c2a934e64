/** Pre-signed calls: each with its own inputs, signature and nonce. */

import { randomBytes } from "node:crypto";
import { prepareSigningKey } from "#client/wire/signature/ed25519.js";
import { sha256 } from "#client/wire/signature/hash.js";
import { InputHasher, type PortShape, publicKeyOf, signRequest } from "#runtime/leader.js";
import type { LoadRequest } from "./load.js";

export const LEADER_SEED = Buffer.alloc(32, 7);
const LEADER = { id: "leader", keyId: 0n, key: prepareSigningKey(LEADER_SEED) };
export const TOOL_SEED = Buffer.alloc(32, 9);
export const LEADER_KEY = publicKeyOf(LEADER_SEED);

/** Leaders of an allow-list that never call, each with a key of its own. */
export function strangersOf(count: number): object[] {
  return Array.from({ length: count }, (_, i) => ({
    leader_id: `stranger-${i}`,
    keys: [{ kid: 0, public_key: Buffer.from(publicKeyOf(randomBytes(32))).toString("hex") }],
  }));
}

/** The configuration that signed calls of some tools need. */
export function signedConfig(
  fqns: readonly string[],
  replay_cache_ttl_ms = 300_000,
  strangers: readonly object[] = [],
): object {
  const tool = { response_signing_key: TOOL_SEED.toString("hex"), replay_cache_ttl_ms };
  return {
    signed_http: {
      allowed_leaders: {
        version: 1,
        leaders: [
          ...strangers,
          { leader_id: "leader", keys: [{ kid: 0, public_key: Buffer.from(LEADER_KEY).toString("hex") }] },
        ],
      },
      tools: Object.fromEntries(fqns.map((fqn) => [fqn, tool])),
    },
  };
}

/** Signs calls of one tool. */
export class CallSigner {
  readonly #hasher: InputHasher;

  readonly #ports: readonly PortShape[];

  constructor(ports: readonly PortShape[]) {
    this.#ports = ports;
    this.#hasher = new InputHasher(ports);
  }

  /**
   * A call with a nonce of its own.
   *
   * @param texts the canonical JSON text of each value, port by port
   */
  sign(texts: readonly (readonly string[])[]): LoadRequest {
    const item = (text: string) => `{"kind":"data","data":${text}}`;
    const ports = this.#ports.map(({ name, many }, i) => {
      const items = (texts[i] as string[]).map(item);
      return `{"port_name":"${name}","value":${many ? `{"many":[${items.join()}]}` : `{"one":${items[0]}}`}}`;
    });
    const inputHash = this.#hasher.hash(texts.map((items) => items.map((text) => sha256(Buffer.from(text)))));
    const body = Buffer.from(`{"ports":[${ports.join()}]}`);
    const { headers } = signRequest({ body, inputHash }, LEADER);
    return { headers, body };
  }
}

let serial = 0;

/** A number that no other call has. */
export function nextSerial(): number {
  return ++serial;
}

/** A text of exactly some characters that no other call has: the serial number first. */
export function uniqueText(length: number): string {
  return `${nextSerial()} ${randomBytes(8).toString("hex")} `
    .padEnd(length, "abcdefghijklmnopqrstuvwxyz ")
    .slice(0, length);
}

/** The tool that most calls go to: `examples/sum`. */
export const SUM = { fqn: "xyz.demo.sum@1", path: "/sum/invoke" } as const;

const SUM_PORTS: readonly PortShape[] = [
  { name: "a", many: false },
  { name: "b", many: false },
  { name: "label", many: false },
  { name: "tags", many: true },
  { name: "note", many: false },
];
const SUM_CALLS = new CallSigner(SUM_PORTS);

/** The texts of the ports of a call of sum, different each time. */
function sumTexts(): string[][] {
  const n = nextSerial();
  return [[`${n}`], [`${n % 97}`], [`"call ${n}"`], ['"x"', '"y"', '"z"'], ["null"]];
}

/** Signed calls of sum with fresh nonces. */
export function signedCalls(count: number): LoadRequest[] {
  return Array.from({ length: count }, () => SUM_CALLS.sign(sumTexts()));
}

/** An input of sum, different each time. */
export function sumInput() {
  const n = nextSerial();
  return { a: n, b: n % 97, label: `call ${n}`, tags: ["x", "y", "z"], note: null };
}

/** Unsigned JSON calls of sum. */
export function unsignedCalls(count: number): LoadRequest[] {
  return Array.from({ length: count }, () => ({
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify(sumInput())),
  }));
}

/** A signed call of sum with this note, which is no part of the result, and this label, which is. */
export function signedCall(note: string, label = "label"): LoadRequest {
  return SUM_CALLS.sign([["1"], ["2"], [JSON.stringify(label)], ['"x"'], [JSON.stringify(note)]]);
}
