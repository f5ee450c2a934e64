/** `#platform/hash` without Node. */

import { sha256 as digest } from "@noble/hashes/sha2.js";
import type { Buffer } from "#platform/bytes";
import { asBuffer } from "../bytes.js";

/** The 32-byte SHA-256 of the bytes. */
export function sha256(bytes: Uint8Array): Buffer {
  return asBuffer(digest(bytes));
}

/** SHA-256 where no copy outlives the next call; a buffer of its own here. */
export const scratchSha256: (bytes: Uint8Array) => Uint8Array = digest;
