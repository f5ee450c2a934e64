/** Ed25519 keys and engine names (see ed25519.ts). */

/** Names of the three engines, as logged. */
export type EngineName = "libsodium" | "node:crypto" | "noble";

/** A public key prepared for any engine. Made by `prepareVerifyKey`. */
export class VerifyKey {
  /** The original 32-byte encoding. */
  readonly bytes: Uint8Array;

  /** @internal use `prepareVerifyKey` */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/**
 * A private key prepared for any engine. Made by `prepareSigningKey`. The secret is not a property of the object, so
 * printing or serialising it shows only the public key.
 */
export class SigningKey {
  /** The 32-byte public key of the secret. */
  readonly publicKey: Uint8Array;

  /** @internal use `prepareSigningKey` */
  constructor(publicKey: Uint8Array) {
    this.publicKey = publicKey;
  }
}
