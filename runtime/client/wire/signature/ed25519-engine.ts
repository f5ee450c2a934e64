import type { Buffer } from "#platform/bytes";
import type { EngineName, SigningKey, VerifyKey } from "./ed25519-keys.js";

/** An implementation of Ed25519. All implementations return the same verdicts and the same signatures. */
export interface Ed25519Engine {
  readonly name: EngineName;
  /**
   * Verifies the signature of a message according to `verify_strict` (protocol section 4).
   *
   * Returns false for a signature that is not 64 bytes or a raw key that is not 32 bytes. Prepare a key that verifies
   * many messages.
   *
   * @throws TypeError if an argument does not have the declared type
   */
  verify(publicKey: VerifyKey | Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  /**
   * Returns the 64-byte signature of `message` (RFC 8032, deterministic) in a new buffer.
   *
   * @throws TypeError if an argument does not have the declared type
   */
  sign(key: SigningKey, message: Uint8Array): Buffer;
}

/** Selected engine, and the reason for the log. */
export interface EngineSelection {
  readonly engine: Ed25519Engine;
  /** Lower case, no full stop. */
  readonly reason: string;
}
