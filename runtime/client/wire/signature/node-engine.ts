import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import type { Ed25519Engine } from "./ed25519-engine.js";
import {
  assertBytes,
  PUBLIC_KEY_BYTES,
  SEED_BYTES,
  type SigningKey,
  secretOf,
  VerifyKey,
  verifiableKey,
} from "./ed25519-keys.js";
import { isReducedScalar, isStrictEncoding } from "./strict-encoding.js";

const privateKeyObjects = new WeakMap<SigningKey, KeyObject>();
const publicKeyObjects = new WeakMap<VerifyKey, KeyObject>();

/** OpenSSL through node:crypto, with additional checks. */
export const nodeEngine: Ed25519Engine = {
  name: "node:crypto",
  verify(publicKey, message, signature) {
    const bytes = verifiableKey(publicKey, message, signature);
    if (bytes === undefined) return false;
    if (!isStrictEncoding(bytes) || !isStrictEncoding(signature) || !isReducedScalar(signature)) return false;
    return verify(null, message, publicKeyObject(publicKey, bytes), signature);
  },
  sign(key, message) {
    const privateKey = privateKeyObject(key);
    assertBytes(message, "message");
    return sign(null, message, privateKey);
  },
};

const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

function importPrivateKey(seed: Uint8Array): KeyObject {
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  der.fill(0);
  return privateKey;
}

function privateKeyObject(key: SigningKey): KeyObject {
  const known = privateKeyObjects.get(key);
  if (known !== undefined) return known;
  const privateKey = importPrivateKey(secretOf(key).subarray(0, SEED_BYTES));
  privateKeyObjects.set(key, privateKey);
  return privateKey;
}

/** The 32-byte public key of a 32-byte private key. */
export function derivePublicKey(seed: Uint8Array): Buffer {
  return createPublicKey(importPrivateKey(seed)).export({ format: "der", type: "spki" }).subarray(-PUBLIC_KEY_BYTES);
}

function publicKeyObject(publicKey: VerifyKey | Uint8Array, bytes: Uint8Array): KeyObject {
  const known = publicKey instanceof VerifyKey ? publicKeyObjects.get(publicKey) : undefined;
  if (known !== undefined) return known;
  const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, bytes]), format: "der", type: "spki" });
  if (publicKey instanceof VerifyKey) publicKeyObjects.set(publicKey, key);
  return key;
}
