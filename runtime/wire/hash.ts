/** SHA-256 (FIPS 180-4). */

import { hash } from "node:crypto";
import { sodium } from "./sodium.js";

/** Bytes up to which libsodium is faster: it has no set-up, OpenSSL has the faster rounds. */
const SMALL = 1024;

/** The 32-byte SHA-256 of the bytes. */
export function sha256(bytes: Uint8Array): Buffer {
  return digest(bytes, undefined);
}

const shared = Buffer.alloc(32);

/** The same, for a caller that has used it up before the next call, which may write over it: nothing is allocated. */
export function passingSha256(bytes: Uint8Array): Uint8Array {
  return digest(bytes, shared);
}

function digest(bytes: Uint8Array, into: Buffer | undefined): Buffer {
  if (sodium === undefined || bytes.length > SMALL) return hash("sha256", bytes, "buffer");
  const target = into ?? Buffer.allocUnsafe(32);
  sodium.crypto_hash_sha256(target, bytes);
  return target;
}
