/** UTF-8 bytes of a text in shared memory, which other threads read without a copy. */

import { Buffer } from "#platform/bytes";
export function sharedBytes(text: string): Buffer {
  const bytes = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(text)));
  bytes.write(text);
  return bytes;
}
