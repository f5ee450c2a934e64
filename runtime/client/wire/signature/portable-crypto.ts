/**
 * Ed25519 and SHA-256 in plain JavaScript, from @noble/ed25519 and @noble/hashes. Imports nothing from Node, so it also
 * runs in browsers and edge runtimes.
 */

import { etc, hashes, Point, sign } from "@noble/ed25519";
import { sha512 } from "@noble/hashes/sha2.js";
import { asBuffer } from "../bytes.js";
import type { Ed25519Engine } from "./ed25519-engine.js";
import { assertBytes, PUBLIC_KEY_BYTES, SEED_BYTES, secretOf, verifiableKey } from "./ed25519-keys.js";

export { sha256 } from "@noble/hashes/sha2.js";

// The synchronous functions of @noble/ed25519 require this assignment.
hashes.sha512 = sha512;

/** L, the order of the prime subgroup: 2^252 + 27742317777372353535851937790883648493. */
const ORDER = Point.CURVE().n;

/**
 * Strict verification implemented with the arithmetic of @noble/ed25519, whose own `verify` multiplies the equation by
 * the cofactor and so accepts points of mixed order. About thirty times slower than libsodium.
 */
export const nobleEngine: Ed25519Engine = {
  name: "noble",
  verify(publicKey, message, signature) {
    const bytes = verifiableKey(publicKey, message, signature);
    if (bytes === undefined) return false;
    const encodedR = signature.subarray(0, 32);
    const s = littleEndian(signature.subarray(32));
    const a = strictPoint(bytes);
    if (a === undefined || s >= ORDER || strictPoint(encodedR) === undefined) return false;
    const k = littleEndian(sha512.create().update(encodedR).update(bytes).update(message).digest()) % ORDER;
    const r = Point.BASE.multiplyUnsafe(s).subtract(a.multiplyUnsafe(k)).toBytes();
    return r.every((byte, i) => byte === encodedR[i]);
  },
  sign(key, message) {
    const secret = secretOf(key);
    assertBytes(message, "message");
    return asBuffer(sign(message, secret.subarray(0, SEED_BYTES)));
  },
};

/**
 * Whether strict verification can accept a signature by this key: the key must be 32 bytes, the canonical encoding of a
 * curve point that is not of small order. Takes about 0.2 ms.
 *
 * @throws TypeError if the key is not a Uint8Array
 */
export function isValidPublicKey(publicKey: Uint8Array): boolean {
  assertBytes(publicKey, "public key");
  return publicKey.length === PUBLIC_KEY_BYTES && strictPoint(publicKey) !== undefined;
}

/** Whether 32 bytes are the canonical encoding of a curve point. */
export function isPoint(bytes: Uint8Array): boolean {
  try {
    Point.fromBytes(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Decodes a canonical encoding of a point that is not of small order; undefined for any other 32 bytes. */
function strictPoint(bytes: Uint8Array): Point | undefined {
  try {
    const point = Point.fromBytes(bytes);
    return point.isSmallOrder() ? undefined : point;
  } catch {
    return undefined;
  }
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${etc.bytesToHex(Uint8Array.from(bytes).reverse())}`);
}
