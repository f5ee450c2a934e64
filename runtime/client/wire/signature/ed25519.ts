// Ed25519 with the verdicts of ed25519-dalek's `verify_strict`, using one of three libraries.
//
// A signature is accepted if S is below the group order, A and R are canonical encodings of curve points that are not
// of small order, and the cofactorless equation S·B = R + k·A holds (protocol section 4). libsodium checks all of this;
// OpenSSL and @noble/ed25519 accept more signatures, so node-engine.ts and portable-crypto.ts add the missing checks.

import type { Ed25519Engine, EngineSelection } from "./ed25519-engine.js";
import {
  assertBytes,
  type EngineName,
  exactCopy,
  PUBLIC_KEY_BYTES,
  prepareVerifyKey,
  SEED_BYTES,
  SIGNATURE_BYTES,
  SigningKey,
  secretOf,
  verifiableKey,
} from "./ed25519-keys.js";
import { derivePublicKey, nodeEngine } from "./node-engine.js";
import { isPoint, nobleEngine } from "./portable-crypto.js";
import { type Sodium, sodium } from "./sodium.js";
import { isStrictEncoding } from "./strict-encoding.js";

export type { Ed25519Engine, EngineSelection } from "./ed25519-engine.js";
export { prepareVerifyKey } from "./ed25519-keys.js";
export { nodeEngine } from "./node-engine.js";
export { nobleEngine } from "./portable-crypto.js";

/**
 * Prepares a private key for repeated use and derives its public key. Copies the bytes.
 *
 * @param seed the 32-byte private key of RFC 8032
 * @throws TypeError if it is not a Uint8Array, RangeError for another length
 */
export function prepareSigningKey(seed: Uint8Array): SigningKey {
  return new SigningKey(secretOfSeed(seed));
}

/**
 * Returns the 32-byte public key of a 32-byte private key.
 *
 * @throws TypeError if it is not a Uint8Array, RangeError for another length
 */
export function publicKeyOf(seed: Uint8Array): Uint8Array {
  const secret = secretOfSeed(seed);
  const publicKey = Buffer.from(secret.subarray(SEED_BYTES));
  secret.fill(0);
  return publicKey;
}

/** Seed and public key, as in libsodium. Deriving the public key takes OpenSSL about 1 ms, libsodium about 0.05 ms. */
function secretOfSeed(seed: Uint8Array): Uint8Array {
  const bytes = exactCopy(seed, SEED_BYTES, "private key");
  const secret = new Uint8Array(SEED_BYTES + PUBLIC_KEY_BYTES);
  if (sodium !== undefined) {
    sodium.crypto_sign_seed_keypair(Buffer.allocUnsafeSlow(PUBLIC_KEY_BYTES), secret, bytes);
  } else {
    secret.set(bytes);
    secret.set(derivePublicKey(bytes), SEED_BYTES);
  }
  bytes.fill(0);
  return secret;
}

/**
 * libsodium through the optional package sodium-native: the fastest engine, strict without additional checks.
 *
 * @returns undefined if the package or its native part is missing
 */
export function loadSodiumEngine(): Ed25519Engine | undefined {
  const library = sodium;
  if (library === undefined) return undefined;
  return {
    name: "libsodium",
    verify(publicKey, message, signature) {
      // sodium-native would accept a longer signature and read its first 64 bytes.
      const key = verifiableKey(publicKey, message, signature);
      return key !== undefined && library.crypto_sign_verify_detached(signature, message, key) === true;
    },
    sign(key, message) {
      const secret = secretOf(key);
      assertBytes(message, "message");
      const signature = Buffer.allocUnsafeSlow(SIGNATURE_BYTES);
      library.crypto_sign_detached(signature, message, secret);
      return signature;
    },
  };
}

const sum = Buffer.alloc(PUBLIC_KEY_BYTES);

/**
 * Whether strict verification can accept a signature by this key: the key must be 32 bytes, the canonical encoding of a
 * curve point that is not of small order. Takes about 20 µs with libsodium, 60 to 100 µs without it.
 *
 * @param library replaced by tests
 * @throws TypeError if the key is not a Uint8Array
 */
export function isValidPublicKey(publicKey: Uint8Array, library: Sodium | false = sodium ?? false): boolean {
  assertBytes(publicKey, "public key");
  if (publicKey.length !== PUBLIC_KEY_BYTES || !isStrictEncoding(publicKey)) return false;
  if (library === false) return isPoint(publicKey);
  try {
    // Throws unless the key encodes a curve point. Unlike `crypto_core_ed25519_is_valid_point`, accepts points of mixed
    // order.
    library.crypto_core_ed25519_add(sum, publicKey, publicKey);
    return true;
  } catch {
    return false;
  }
}

/**
 * Selects the engine at start-up: libsodium if it loads and passes the self-test, otherwise node:crypto.
 *
 * @param preference required engine
 * @param loadSodium loads libsodium; replaced by tests
 * @throws Error if the required engine cannot be loaded, or if the selected engine fails its self-test
 */
export function selectEngine(preference?: EngineName, loadSodium = loadSodiumEngine): EngineSelection {
  if (preference === undefined) {
    const sodium = loadSodium();
    if (sodium !== undefined && passesSelfTest(sodium)) return { engine: sodium, reason: "sodium-native is installed" };
    const fault = sodium === undefined ? "cannot be loaded" : "fails its self-test";
    return { engine: requireSelfTest(nodeEngine), reason: `sodium-native ${fault}` };
  }
  return { engine: requireSelfTest(engineNamed(preference, loadSodium)), reason: "chosen by name" };
}

function engineNamed(name: EngineName, loadSodium: typeof loadSodiumEngine): Ed25519Engine {
  switch (name) {
    case "libsodium": {
      const sodium = loadSodium();
      if (sodium !== undefined) return sodium;
      throw new Error("ed25519 engine libsodium cannot be loaded: install sodium-native or choose node:crypto");
    }
    case "node:crypto":
      return nodeEngine;
    case "noble":
      return nobleEngine;
    default:
      throw new TypeError("ed25519 engine must be libsodium, node:crypto or noble, got another name");
  }
}

function requireSelfTest(engine: Ed25519Engine): Ed25519Engine {
  if (passesSelfTest(engine)) return engine;
  throw new Error(`ed25519 engine ${engine.name} must pass its self-test, but it failed: use another build of Node`);
}

/**
 * Self-test with RFC 8032 section 7.1, test 2: one signature, one verification, three forgeries that laxer rules
 * accept.
 */
export function passesSelfTest(engine: Ed25519Engine): boolean {
  try {
    const key = prepareSigningKey(
      Buffer.from("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", "hex"),
    );
    const message = Uint8Array.of(0x72);
    const signature = Buffer.from(
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da" +
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
      "hex",
    );
    // S plus the group order.
    const largeS = Buffer.concat([
      signature.subarray(0, 32),
      Buffer.from("f52db7415978abc61b2c2eb6aeebfca0387b2eaeb4302aeeb00d291612bb0c10", "hex"),
    ]);
    const identity = Buffer.alloc(32);
    identity[0] = 1;
    const smallOrder = Buffer.concat([identity, Buffer.alloc(32)]);
    return (
      engine.sign(key, message).equals(signature) &&
      engine.verify(prepareVerifyKey(key.publicKey), message, signature) === true &&
      engine.verify(key.publicKey, Uint8Array.of(0x73), signature) === false &&
      engine.verify(key.publicKey, message, largeS) === false &&
      engine.verify(identity, message, smallOrder) === false
    );
  } catch {
    return false;
  }
}
