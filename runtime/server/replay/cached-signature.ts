/**
 * The signature of a result, kept beside it in its replay entry. Ed25519 signs the same message with the same key the same
 * way (RFC 8032 section 5.1.6), so an exact retry can be given the signature of the first answer: it is what signing again
 * over the retry's own leader signature would give (protocol.md section 8).
 */

import { copyBytes } from "../../wire/bcs-writer.js";
import { asBuffer } from "../../wire/bytes.js";
import type { SigningKey } from "../../wire/ed25519-keys.js";

// The leader's signature, the tool's signature, and what tells the tool's key from others that it had or will have.
const TOOL_SIGNATURE = 64;
const KEY = 128;
const KEY_BYTES = 16;
/** Bytes of a seal. */
export const SEAL_BYTES = KEY + KEY_BYTES;

/**
 * What is kept of a signature by `key` over an answer to the request that has `leaderSignature`.
 *
 * @param leaderSignature 64 bytes
 * @param toolSignature 64 bytes
 * @returns {@link SEAL_BYTES} bytes
 */
export function sealOf(key: SigningKey, leaderSignature: Uint8Array, toolSignature: Uint8Array): Buffer {
  const seal = Buffer.allocUnsafe(SEAL_BYTES);
  copyBytes(seal, 0, leaderSignature);
  copyBytes(seal, TOOL_SIGNATURE, toolSignature);
  for (let i = 0; i < KEY_BYTES; i++) seal[KEY + i] = key.publicKey[i] as number;
  return seal;
}

/**
 * The signature that `key` gives an answer to the request that has `leaderSignature`, if the seal has it.
 *
 * @returns 64 bytes as base64url; undefined when it has to be made
 */
export function unsealed(
  seal: Uint8Array | undefined,
  key: SigningKey,
  leaderSignature: Uint8Array,
): string | undefined {
  // A store of the application's own may give anything.
  if (!(seal instanceof Uint8Array) || seal.length !== SEAL_BYTES) return undefined;
  const bytes = asBuffer(seal);
  if (bytes.compare(leaderSignature, 0, 64, 0, TOOL_SIGNATURE) !== 0) return undefined;
  if (bytes.compare(key.publicKey, 0, KEY_BYTES, KEY) !== 0) return undefined;
  return bytes.toString("base64url", TOOL_SIGNATURE, KEY);
}
