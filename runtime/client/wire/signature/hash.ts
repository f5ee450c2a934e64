/** SHA-256 (FIPS 180-4). */

// Default import: Node 18 has no export `hash`, and a named import would fail before the version check can report that.
import crypto from "node:crypto";
import { sodium } from "./sodium.js";

/**
 * Maximum size, in bytes, of inputs that libsodium hashes: it has no set-up cost, but OpenSSL is faster for larger
 * inputs.
 */
const MAX_SODIUM_BYTES = 1024;

/** The 32-byte SHA-256 of the bytes. */
export function sha256(bytes: Uint8Array): Buffer {
  if (sodium === undefined || bytes.length > MAX_SODIUM_BYTES) return crypto.hash("sha256", bytes, "buffer");
  const digest = Buffer.allocUnsafe(32);
  sodium.crypto_hash_sha256(digest, bytes);
  return digest;
}
