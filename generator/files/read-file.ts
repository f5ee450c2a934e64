/** Bounded reading of files of a project that is not trusted. It does not load the compiler. */

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { quoted } from "../compile/diagnostics/quote.js";

/** Larger than the generated files of thousands of tools and the declaration files of packages. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Something other than a file of bounded size. The message names it. */
export class UnreadableFile extends Error {}

interface FileReadOptions {
  /** Whether the user named it, who may have named a pipe of the shell: `/dev/fd/63`. */
  readonly named?: boolean;
}

/**
 * Reads a regular file, at most {@link MAX_FILE_BYTES}.
 *
 * @throws UnreadableFile; the error of the system
 */
export function readRegular(path: string, { named = false }: FileReadOptions = {}): Buffer {
  const pipe = named && path.startsWith("/dev/");
  // Non-blocking: opening a pipe does not wait for a writer.
  const file = openSync(path, constants.O_RDONLY | (pipe ? 0 : (constants.O_NONBLOCK ?? 0)));
  try {
    const stats = fstatSync(file);
    // A folder is refused by the system.
    if (!stats.isFile() && !stats.isDirectory() && !(pipe && stats.isFIFO())) {
      throw new UnreadableFile(`${quoted(path)} is not a regular file`);
    }
    // The size of a file in /proc is 0, whatever it holds.
    let bytes = Buffer.allocUnsafe(Math.min(stats.size, MAX_FILE_BYTES) + 1);
    for (let size = 0; ; ) {
      const count = readSync(file, bytes, size, bytes.length - size, null);
      if (count === 0) return bytes.subarray(0, size);
      size += count;
      if (size > MAX_FILE_BYTES) {
        throw new UnreadableFile(`${quoted(path)} has more than ${MAX_FILE_BYTES} bytes, which svc-gen does not read`);
      }
      if (size === bytes.length) bytes = Buffer.concat([bytes], Math.min(2 * size, MAX_FILE_BYTES + 1));
    }
  } finally {
    closeSync(file);
  }
}

/** Reads a text as TypeScript does: a byte order mark names its encoding; undefined when it cannot be opened. */
export function readSource(path: string): string | undefined {
  let bytes: Buffer;
  try {
    bytes = readRegular(path);
  } catch (error) {
    if (error instanceof UnreadableFile) throw error;
    return undefined;
  }
  const mark = bytes.length < 2 ? 0 : bytes.readUInt16BE(0);
  return new TextDecoder(mark === 0xfffe ? "utf-16le" : mark === 0xfeff ? "utf-16be" : "utf-8").decode(bytes);
}
