/** `#platform/ed25519` for platforms without Node: @noble/ed25519 is the only engine. */

import { getPublicKey } from "@noble/ed25519";
import { asBuffer } from "../bytes.js";
import type { EngineSelection } from "../signature/ed25519-engine.js";
import { exactCopy, PUBLIC_KEY_BYTES, SEED_BYTES, SigningKey } from "../signature/ed25519-keys.js";
import { nobleEngine } from "../signature/portable-crypto.js";

export type { Ed25519Engine } from "../signature/ed25519-engine.js";
export { prepareVerifyKey } from "../signature/ed25519-keys.js";
export { isValidPublicKey } from "../signature/portable-crypto.js";

/** Prepares a 32-byte private key. Copies the bytes. */
export function prepareSigningKey(seed: Uint8Array): SigningKey {
  const secret = new Uint8Array(SEED_BYTES + PUBLIC_KEY_BYTES);
  secret.set(exactCopy(seed, SEED_BYTES, "private key"));
  secret.set(getPublicKey(seed), SEED_BYTES);
  return new SigningKey(secret);
}

/** The 32-byte public key of a 32-byte private key. */
export function publicKeyOf(seed: Uint8Array): Uint8Array {
  return asBuffer(getPublicKey(exactCopy(seed, SEED_BYTES, "private key")));
}

export function selectEngine(): EngineSelection {
  return { engine: nobleEngine, reason: "the only engine that works without Node" };
}
