/** Bounded reading of files in an untrusted project. Must not load the compiler. */

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { quoted } from "../compile/diagnostics/quote.js";

/** More than the generated files of thousands of tools, or any declaration file, need. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** The path is not a regular file, or the file is too large. */
export class UnreadableFile extends Error {}

interface FileReadOptions {
  /** Whether the path is from the command line, where it may be a shell's pipe: `/dev/fd/63`. */
  readonly named?: boolean;
}

/**
 * Reads a regular file, at most {@link MAX_FILE_BYTES}.
 *
 * @throws UnreadableFile if it is not a regular file or too large; errors of the file system unchanged
 */
export function readRegular(path: string, { named = false }: FileReadOptions = {}): Buffer {
  const pipe = named && path.startsWith("/dev/");
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  const file = openSync(path, constants.O_RDONLY | (pipe ? 0 : (constants.O_NONBLOCK ?? 0)));
  try {
    const stats = fstatSync(file);
    // Reading a folder fails with the system's error.
    if (!stats.isFile() && !stats.isDirectory() && !(pipe && stats.isFIFO())) {
      throw new UnreadableFile(`${quoted(path)} is not a regular file`);
    }
    // The size of every file in /proc is 0.
    let bytes = Buffer.allocUnsafe(Math.min(stats.size, MAX_FILE_BYTES) + 1);
    for (let size = 0; ; ) {
      const count = readSync(file, bytes, size, bytes.length - size, null);
      if (count === 0) return bytes.subarray(0, size);
      size += count;
      if (size > MAX_FILE_BYTES) {
        throw new UnreadableFile(`${quoted(path)} is larger than ${MAX_FILE_BYTES} bytes, the limit of svc-gen`);
      }
      if (size === bytes.length) bytes = Buffer.concat([bytes], Math.min(2 * size, MAX_FILE_BYTES + 1));
    }
  } finally {
    closeSync(file);
  }
}

/** Reads a text file like TypeScript: a byte order mark selects the encoding. Undefined if it cannot be opened. */
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
