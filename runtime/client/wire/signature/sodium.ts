/** libsodium through sodium-native, an optional dependency with prebuilt binaries for glibc, macOS and Windows. */

import { createRequire } from "node:module";

/** The functions of sodium-native that are used; the package has no types. The first arguments receive the results. */
export interface Sodium {
  crypto_sign_seed_keypair(publicKey: Uint8Array, secret: Uint8Array, seed: Uint8Array): void;
  crypto_sign_detached(signature: Uint8Array, message: Uint8Array, secret: Uint8Array): void;
  crypto_sign_verify_detached(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean;
  /** Throws if one of the two does not encode a point of the curve. */
  crypto_core_ed25519_add(sum: Uint8Array, one: Uint8Array, other: Uint8Array): void;
  crypto_hash_sha256(digest: Uint8Array, message: Uint8Array): void;
}

const USED = [
  "crypto_sign_seed_keypair",
  "crypto_sign_detached",
  "crypto_sign_verify_detached",
  "crypto_core_ed25519_add",
  "crypto_hash_sha256",
] as const;

function load(): Sodium | undefined {
  try {
    const require = createRequire(import.meta.url);
    const sodium = require("sodium-native") as Partial<Sodium>;
    return USED.every((name) => typeof sodium[name] === "function") ? (sodium as Sodium) : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined if the package or its native part is missing. */
export const sodium = load();
