/** `#platform/bytes` in Node. portable/bytes.ts has the same exports for other platforms. */

// Not by name: older versions of Node lack `isAscii`, `isUtf8` and `hash`, and are to say that they are too old.
import buffer from "node:buffer";
import crypto from "node:crypto";

export { Buffer } from "node:buffer";
export { randomBytes, randomInt } from "node:crypto";
export const { isAscii, isUtf8 } = buffer;

/** The bytes as base64url without padding, which the portable Buffer cannot write. */
export function base64url(bytes: Buffer): string {
  return bytes.toString("base64url");
}

/** SHA-256 of a text, in base64. By node:crypto, because svc-gen reads codecs and needs no libsodium. */
export function textDigest(text: string): string {
  return crypto.hash("sha256", text, "base64");
}
