/** SHA-256 (FIPS 180-4), by node's own hash. */

import { hash } from "node:crypto";

/** The 32-byte SHA-256 of the bytes. */
export function sha256(bytes: Uint8Array): Buffer {
  return hash("sha256", bytes, "buffer");
}
