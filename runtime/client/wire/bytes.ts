import { Buffer } from "#platform/bytes";

export { base64url } from "#platform/bytes";

/** A Buffer that shares the memory of the bytes. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
