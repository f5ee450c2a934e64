/** Pre-signed calls of the sum tool: each with its own inputs, signature and nonce. */

import { createHash, randomBytes } from "node:crypto";
import { prepareSigningKey, publicKeyOf, selectEngine } from "#runtime/wire/ed25519.js";
import { InputHasher } from "#runtime/wire/signature.js";
import type { LoadRequest } from "./load.js";

const LEADER_SEED = Buffer.alloc(32, 7);
export const TOOL_SEED = Buffer.alloc(32, 9);
export const LEADER_KEY = publicKeyOf(LEADER_SEED);

/** The configuration that these calls need. */
export const SIGNED_CONFIG = {
  signed_http: {
    allowed_leaders: {
      version: 1,
      leaders: [{ leader_id: "leader", keys: [{ kid: 0, public_key: LEADER_KEY.toString("hex") }] }],
    },
    tools: { "xyz.demo.sum@1": { response_signing_key: TOOL_SEED.toString("hex") } },
  },
};

const PORTS = [
  { name: "a", many: false },
  { name: "b", many: false },
  { name: "label", many: false },
  { name: "tags", many: true },
  { name: "note", many: false },
];

let serial = 0;

/** The texts of a call's ports, different each time. */
function texts(): string[][] {
  const n = ++serial;
  return [[`${n}`], [`${n % 97}`], [`"call ${n}"`], ['"x"', '"y"', '"z"'], ["null"]];
}

/** Signed calls with fresh nonces. */
export function signedCalls(count: number): LoadRequest[] {
  const { engine } = selectEngine();
  const key = prepareSigningKey(LEADER_SEED);
  const hasher = new InputHasher(PORTS);
  const sha256 = (text: string) => createHash("sha256").update(text).digest();
  return Array.from({ length: count }, () => {
    const values = texts();
    const ports = PORTS.map(({ name, many }, i) => {
      const items = (values[i] as string[]).map((text) => `{"kind":"data","data":${text}}`);
      return `{"port_name":"${name}","value":${many ? `{"many":[${items.join()}]}` : `{"one":${items[0]}}`}}`;
    });
    const hash = hasher.hash(values.map((items) => items.map(sha256)));
    return {
      headers: {
        "content-type": "application/json",
        "X-Svc-Sig-V": "3",
        "X-Svc-Leader-Id": "leader",
        "X-Svc-Leader-Key-Id": "0",
        "X-Svc-Input-Hash": hash.toString("base64url"),
        "X-Svc-Leader-Signature": engine.sign(key, hash).toString("base64url"),
        "X-Svc-Nonce": randomBytes(32).toString("base64url"),
      },
      body: Buffer.from(`{"ports":[${ports.join()}]}`),
    };
  });
}

/** The same calls, unsigned. */
export function unsignedCalls(count: number): LoadRequest[] {
  return Array.from({ length: count }, () => {
    const [a, b, label, tags] = texts() as [string[], string[], string[], string[]];
    return {
      headers: { "content-type": "application/json" },
      body: Buffer.from(`{"a":${a},"b":${b},"label":${label},"tags":[${tags.join()}]}`),
    };
  });
}
