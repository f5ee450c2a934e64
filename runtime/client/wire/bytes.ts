import { Buffer } from "#platform/bytes";

export { base64url } from "#platform/bytes";

/** A Buffer that shares the memory of the bytes. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** UTF-8 bytes of a text in shared memory, which other threads read without a copy. */
export function sharedBytes(text: string): Buffer {
  const bytes = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(text)));
  bytes.write(text);
  return bytes;
}
