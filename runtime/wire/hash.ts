/** SHA-256 (FIPS 180-4). */

import { hash } from "node:crypto";
import { sodium } from "./sodium.js";

/** Bytes up to which libsodium is faster: it has no set-up, OpenSSL has the faster rounds. */
const SMALL = 1024;

/** The 32-byte SHA-256 of the bytes. */
export function sha256(bytes: Uint8Array): Buffer {
  if (sodium === undefined || bytes.length > SMALL) return hash("sha256", bytes, "buffer");
  const digest = Buffer.allocUnsafe(32);
  sodium.crypto_hash_sha256(digest, bytes);
  return digest;
}
