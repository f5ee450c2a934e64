/**
 * Stores the signature of a result in its replay entry, as a seal. Ed25519 is deterministic (RFC 8032 section 5.1.6),
 * and an exact retry carries the leader signature of the first request, so the stored signature is valid for it
 * (protocol.md section 8).
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { asBuffer, base64url } from "svc-client/internal/wire/bytes";
import { SEED_BYTES, type SigningKey, secretOf } from "svc-client/internal/wire/signature/ed25519-keys";
import type { ReplayRequest } from "./store.js";

type ReplayPair = Pick<ReplayRequest, "nonce" | "inputHash">;

// Layout: the leader's signature, the tool's signature, and a prefix of the tool's public key, which reveals a change
// of the key. For a shared store, a proof follows.
const TOOL_SIGNATURE = 64;
const KEY = 128;
const KEY_BYTES = 16;
/** Bytes of a seal without a proof. */
export const SEAL_BYTES = KEY + KEY_BYTES;
const PROOF_BYTES = 32;
/** Maximum size of a seal that a store keeps, in bytes. */
export const MAX_SEAL_BYTES = 256;

/**
 * Creates the seal for the signature by `key` of the answer to the request with `leaderSignature`.
 *
 * @param leaderSignature 64 bytes
 * @param toolSignature 64 bytes
 * @param proof result of {@link proofOf}, for a shared store
 */
export function sealOf(
  key: SigningKey,
  leaderSignature: Uint8Array,
  toolSignature: Uint8Array,
  proof: Uint8Array = NO_PROOF,
): Buffer {
  return Buffer.concat([leaderSignature, toolSignature, key.publicKey.subarray(0, KEY_BYTES), proof]);
}

const NO_PROOF = new Uint8Array();

/**
 * Proof that the owner of `key` stored this result of the tool for this pair of nonce and input hash: 32 bytes. Other
 * writers of a shared store cannot create it. It does not depend on the caller, whose key may be removed from the
 * allow-list while the result is stored.
 */
export function proofOf(key: SigningKey, tool: string, { nonce, inputHash }: ReplayPair, output: Uint8Array): Buffer {
  const secret = secretOf(key).subarray(0, SEED_BYTES);
  return createHmac("sha256", secret)
    .update(PROOF_DOMAIN)
    .update(nonce)
    .update(inputHash)
    .update(output)
    .update(tool)
    .digest();
}

const PROOF_DOMAIN = "svc-runtime stored result v1";

/** Whether a seal by this key contains this proof. */
export function isProven(seal: Uint8Array | undefined, key: SigningKey, proof: Uint8Array): boolean {
  return (
    isSeal(seal) && isBy(seal, key) && seal.length > SEAL_BYTES && timingSafeEqual(seal.subarray(SEAL_BYTES), proof)
  );
}

/**
 * Reads, from a seal, the signature by `key` of the answer to the request with `leaderSignature`.
 *
 * @returns 64 bytes as base64url; undefined if the seal has no such signature, so the answer must be signed
 */
export function unsealed(
  seal: Uint8Array | undefined,
  key: SigningKey,
  leaderSignature: Uint8Array,
): string | undefined {
  if (!isSeal(seal)) return undefined;
  const bytes = asBuffer(seal);
  if (bytes.compare(leaderSignature, 0, 64, 0, TOOL_SIGNATURE) !== 0 || !isBy(seal, key)) return undefined;
  return base64url(bytes.subarray(TOOL_SIGNATURE, KEY));
}

/** Whether a seal contains the public key of a signing key. */
function isBy(seal: Uint8Array, { publicKey }: SigningKey): boolean {
  return asBuffer(seal).compare(publicKey, 0, KEY_BYTES, KEY, SEAL_BYTES) === 0;
}

/** Checks the type at run time, because a custom store may return any value. */
function isSeal(seal: unknown): seal is Uint8Array {
  return seal instanceof Uint8Array && (seal.length === SEAL_BYTES || seal.length === SEAL_BYTES + PROOF_BYTES);
}
