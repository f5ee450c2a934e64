/**
 * Cached signatures: the signature of a result, stored as a seal in its replay entry. Ed25519 is deterministic (RFC
 * 8032 section 5.1.6): the same key and message give the same signature. An exact retry has the leader signature of the
 * first request, so it gets the signature of the first answer without another signing (protocol.md section 8).
 */

import { copyBytes } from "../../wire/bcs-writer.js";
import { asBuffer } from "../../wire/bytes.js";
import type { SigningKey } from "../../wire/ed25519-keys.js";

// Layout: the leader's signature, the tool's signature, and a prefix of the tool's public key, which
// detects a change of the key.
const TOOL_SIGNATURE = 64;
const KEY = 128;
const KEY_BYTES = 16;
/** Bytes of a seal. */
export const SEAL_BYTES = KEY + KEY_BYTES;

/**
 * Makes the seal for the signature by `key` over the answer to the request with `leaderSignature`.
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
 * Reads the signature by `key` over the answer to the request with `leaderSignature` from a seal.
 *
 * @returns 64 bytes as base64url; undefined when the seal has no such signature and the answer must be signed
 */
export function unsealed(
  seal: Uint8Array | undefined,
  key: SigningKey,
  leaderSignature: Uint8Array,
): string | undefined {
  // A custom store may return any value.
  if (!(seal instanceof Uint8Array) || seal.length !== SEAL_BYTES) return undefined;
  const bytes = asBuffer(seal);
  if (bytes.compare(leaderSignature, 0, 64, 0, TOOL_SIGNATURE) !== 0) return undefined;
  if (bytes.compare(key.publicKey, 0, KEY_BYTES, KEY) !== 0) return undefined;
  return bytes.toString("base64url", TOOL_SIGNATURE, KEY);
}

/** The parts of a seal: whose request it answers, with which signature, by which key. */
export interface SealedSignature {
  /** 64 bytes each. */
  readonly leaderSignature: Buffer;
  readonly toolSignature: Buffer;
  /** Whether the seal names this public key of the tool. */
  isBy(publicKey: Uint8Array): boolean;
}

/** Reads a seal; undefined for one of another form. */
export function readSeal(seal: Uint8Array | undefined): SealedSignature | undefined {
  if (!(seal instanceof Uint8Array) || seal.length !== SEAL_BYTES) return undefined;
  const bytes = asBuffer(seal);
  return {
    leaderSignature: bytes.subarray(0, TOOL_SIGNATURE),
    toolSignature: bytes.subarray(TOOL_SIGNATURE, KEY),
    isBy: (publicKey) => bytes.compare(publicKey, 0, KEY_BYTES, KEY) === 0,
  };
}
