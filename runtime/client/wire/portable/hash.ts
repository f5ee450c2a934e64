import { sha256 as digest } from "@noble/hashes/sha2.js";
import type { Buffer } from "#platform/bytes";
import { asBuffer } from "../bytes.js";

export function sha256(bytes: Uint8Array): Buffer {
  return asBuffer(digest(bytes));
}
