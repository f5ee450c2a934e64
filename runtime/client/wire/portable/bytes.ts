/** `#platform/bytes` for platforms without Node: the Buffer of the npm package `buffer`, and web APIs. */

import { sha256 } from "@noble/hashes/sha2.js";
// A path inside the package, because `buffer` alone is Node's module.
import { Buffer } from "buffer/index.js";

export { Buffer };

export function isAscii(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte < 0x80);
}

const strict = new TextDecoder("utf-8", { fatal: true });

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    strict.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

export function randomBytes(size: number): Buffer {
  return crypto.getRandomValues(Buffer.alloc(size));
}

export function base64url(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export function textDigest(text: string): string {
  return Buffer.from(sha256(Buffer.from(text))).toString("base64");
}
