/**
 * Stores the signature of a result in its replay entry, as a seal. Ed25519 is deterministic (RFC 8032 section 5.1.6),
 * and an exact retry carries the leader signature of the first request, so the stored signature is valid for it
 * (protocol.md section 8).
 */

import { copyBytes } from "svc-client/internal/wire/bcs/bcs-writer";
import { asBuffer, base64url } from "svc-client/internal/wire/bytes";
import type { SigningKey } from "svc-client/internal/wire/signature/ed25519-keys";
import type { ReplayCaller } from "./store.js";

// Layout: the leader's signature, the tool's signature, and a prefix of the tool's public key, which reveals a change
// of the key. For a shared store, the caller follows if it fits: key id (u64) and leader id.
const TOOL_SIGNATURE = 64;
const KEY = 128;
const KEY_BYTES = 16;
/** Bytes of a seal without a caller. */
export const SEAL_BYTES = KEY + KEY_BYTES;
const LEADER_ID = SEAL_BYTES + 8;
/** Maximum size of a seal that a store keeps, in bytes. */
export const MAX_SEAL_BYTES = 256;

/**
 * Creates the seal for the signature by `key` of the answer to the request with `leaderSignature`.
 *
 * @param leaderSignature 64 bytes
 * @param toolSignature 64 bytes
 * @param caller leader and key that signed the request; left out of the seal if the id is too long
 */
export function sealOf(
  key: SigningKey,
  leaderSignature: Uint8Array,
  toolSignature: Uint8Array,
  caller?: ReplayCaller,
): Buffer {
  const named = caller !== undefined && LEADER_ID + caller.leaderId.length <= MAX_SEAL_BYTES ? caller : undefined;
  const seal = Buffer.allocUnsafe(named === undefined ? SEAL_BYTES : LEADER_ID + named.leaderId.length);
  copyBytes(seal, 0, leaderSignature);
  copyBytes(seal, TOOL_SIGNATURE, toolSignature);
  for (let i = 0; i < KEY_BYTES; i++) seal[KEY + i] = key.publicKey[i] as number;
  if (named !== undefined) {
    seal.writeBigUInt64BE(named.leaderKeyId, SEAL_BYTES);
    seal.write(named.leaderId, LEADER_ID, "latin1");
  }
  return seal;
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
  if (bytes.compare(leaderSignature, 0, 64, 0, TOOL_SIGNATURE) !== 0) return undefined;
  if (bytes.compare(key.publicKey, 0, KEY_BYTES, KEY, SEAL_BYTES) !== 0) return undefined;
  return base64url(bytes.subarray(TOOL_SIGNATURE, KEY));
}

/** Checks the type at run time, because a custom store may return any value. */
function isSeal(seal: unknown): seal is Uint8Array {
  return seal instanceof Uint8Array && (seal.length === SEAL_BYTES || seal.length > LEADER_ID);
}

export interface SealedSignature {
  /** 64 bytes each. */
  readonly leaderSignature: Buffer;
  readonly toolSignature: Buffer;
  /** Caller of the request; undefined if the seal does not contain it. */
  readonly caller: ReplayCaller | undefined;
  /** Whether the seal contains this public key of the tool. */
  isBy(publicKey: Uint8Array): boolean;
}

/** Reads a seal; undefined for any other value. */
export function readSeal(seal: Uint8Array | undefined): SealedSignature | undefined {
  if (!isSeal(seal)) return undefined;
  const bytes = asBuffer(seal);
  return {
    leaderSignature: bytes.subarray(0, TOOL_SIGNATURE),
    toolSignature: bytes.subarray(TOOL_SIGNATURE, KEY),
    caller:
      bytes.length === SEAL_BYTES
        ? undefined
        : { leaderId: bytes.toString("latin1", LEADER_ID), leaderKeyId: bytes.readBigUInt64BE(SEAL_BYTES) },
    isBy: (publicKey) => bytes.compare(publicKey, 0, KEY_BYTES, KEY, SEAL_BYTES) === 0,
  };
}
