/** Ed25519 keys, and the interface of the engines (see ed25519.ts). */

import { shareBrand } from "../brand.js";

export const PUBLIC_KEY_BYTES = 32;
export const SEED_BYTES = 32;
export const SIGNATURE_BYTES = 64;

/** Engine names, as logged. */
export type EngineName = "libsodium" | "node:crypto" | "noble";

/** Public key prepared for any engine by `prepareVerifyKey`. */
export class VerifyKey {
  /** The original 32-byte encoding. */
  readonly bytes: Uint8Array;

  /** @internal use `prepareVerifyKey` */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/** Name of the method by which other copies of this package read the secret of a key. */
const SECRET = Symbol.for("svc-client.secret.v1");

/**
 * Private key prepared for any engine by `prepareSigningKey`. The secret is not a property of the object, so printing
 * or serialising it shows only the public key.
 */
export class SigningKey {
  /** The 32-byte public key of the secret. */
  readonly publicKey: Uint8Array;
  /** Seed and public key, 64 bytes, as in libsodium. The seed is the private key of RFC 8032. */
  readonly #secret: Uint8Array;

  /** @internal use `prepareSigningKey` */
  constructor(secret: Uint8Array) {
    this.publicKey = secret.slice(SEED_BYTES);
    this.#secret = secret;
  }

  /** @internal */
  [SECRET](): Uint8Array {
    return this.#secret;
  }
}

shareBrand(VerifyKey, "VerifyKey");
shareBrand(SigningKey, "SigningKey");

/**
 * Prepares a public key for repeated use. Copies the bytes without checking them: see `isValidPublicKey`.
 *
 * @param publicKey 32 bytes
 * @throws TypeError if it is not a Uint8Array, RangeError for another length
 */
export function prepareVerifyKey(publicKey: Uint8Array): VerifyKey {
  return new VerifyKey(exactCopy(publicKey, PUBLIC_KEY_BYTES, "public key"));
}

/**
 * A copy in newly allocated memory.
 *
 * @throws TypeError if the value is not a Uint8Array, RangeError for another length
 */
export function exactCopy(value: Uint8Array, length: number, title: string): Uint8Array {
  assertBytes(value, title);
  if (value.length !== length) throw new RangeError(`${title} must be ${length} bytes long, got ${value.length}`);
  return new Uint8Array(value);
}

/**
 * Seed and public key of a prepared key: 64 bytes, not copied.
 *
 * @throws TypeError if the key is not prepared
 */
export function secretOf(key: SigningKey): Uint8Array {
  if (key instanceof SigningKey) return key[SECRET]();
  throw new TypeError(`signing key must be made by prepareSigningKey, got ${typeof key}`);
}

/**
 * Bytes of the public key; undefined if it or the signature has another length than Ed25519's, so that no engine reads
 * only a part of it.
 *
 * @throws TypeError for another type
 */
export function verifiableKey(
  key: VerifyKey | Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Uint8Array | undefined {
  const bytes = key instanceof VerifyKey ? key.bytes : key;
  assertBytes(bytes, "public key");
  assertBytes(message, "message");
  assertBytes(signature, "signature");
  return signature.length === SIGNATURE_BYTES && bytes.length === PUBLIC_KEY_BYTES ? bytes : undefined;
}

/** @throws TypeError for another type */
export function assertBytes(value: unknown, title: string): asserts value is Uint8Array {
  if (!(value instanceof Uint8Array)) throw new TypeError(`${title} must be a Uint8Array, got ${typeof value}`);
}
