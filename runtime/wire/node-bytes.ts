/** `#platform/bytes` in Node. portable/bytes.ts has the same exports for other platforms. */

import { hash } from "node:crypto";

export { Buffer, isAscii, isUtf8 } from "node:buffer";
export { randomBytes, randomInt } from "node:crypto";

/** The bytes as base64url without padding, which the portable Buffer cannot write. */
export function base64url(bytes: Buffer): string {
  return bytes.toString("base64url");
}

/** SHA-256 of a text, in base64. By node:crypto, because svc-gen reads codecs and needs no libsodium. */
export function textDigest(text: string): string {
  return hash("sha256", text, "base64");
}
