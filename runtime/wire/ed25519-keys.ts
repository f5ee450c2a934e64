/** Keys of Ed25519 and the names of what works with them (ed25519.ts). */

/** The names of the three engines, as they appear in the log. */
export type EngineName = "libsodium" | "node:crypto" | "noble";

/** A public key made ready once for any engine. Build it with `prepareVerifyKey`. */
export class VerifyKey {
  /** The 32-byte encoding, as it was given. */
  readonly bytes: Uint8Array;

  /** @internal use `prepareVerifyKey` */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/**
 * A private key made ready once for any engine. Build it with `prepareSigningKey`. The secret is no property of
 * the object, so that printing or serialising it shows the public key only.
 */
export class SigningKey {
  /** The 32-byte public key that belongs to the secret. */
  readonly publicKey: Uint8Array;

  /** @internal use `prepareSigningKey` */
  constructor(publicKey: Uint8Array) {
    this.publicKey = publicKey;
  }
}
