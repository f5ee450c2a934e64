/** Texts as bytes that threads can read where they are. */

/** The UTF-8 bytes of a text in shared memory. */
export function sharedBytes(text: string): Buffer {
  const bytes = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(text)));
  bytes.write(text);
  return bytes;
}
