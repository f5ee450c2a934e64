/** `#platform/bytes` for Node; portable/bytes.ts has the same exports for other platforms. */

// Default imports: an older Node lacks `isAscii`, `isUtf8` or `hash`, and must still be able to report its version.
import buffer from "node:buffer";
import crypto from "node:crypto";

export { Buffer } from "node:buffer";
export { randomBytes } from "node:crypto";
export const { isAscii, isUtf8 } = buffer;

/** The bytes as base64url without padding. The portable Buffer does not support this encoding. */
export function base64url(bytes: Buffer): string {
  return bytes.toString("base64url");
}

/** SHA-256 of a text, in base64. Uses node:crypto so that svc-gen does not load libsodium. */
export function textDigest(text: string): string {
  return crypto.hash("sha256", text, "base64");
}
