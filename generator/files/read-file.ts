/** Bounded reading of files in an untrusted project. This file must not load the compiler. */

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { quoted } from "../compile/diagnostics/quote.js";

/** Maximum size of a file, in bytes; exceeds the generated files of thousands of tools and any declaration file. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Thrown for a file that is missing, not a regular file, or too large. */
export class UnreadableFile extends Error {
  /** @param hint what to do */
  constructor(
    message: string,
    readonly hint = "remove the file, or the reference to it",
  ) {
    super(message);
  }
}

/** Reasons why a file cannot be read, by the code of the system's error. */
export const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: "the file does not exist",
  ENOTDIR: "its folder is a file",
  EISDIR: "it is a folder: name its files",
  EACCES: "permission is missing",
  EPERM: "permission is missing",
  ELOOP: "its symbolic links form a cycle",
};

/**
 * Reads a file given on the command line, which may be a shell's pipe, such as `/dev/fd/63`.
 *
 * @param pipe whether it may be another pipe
 * @throws UnreadableFile
 */
export function readNamed(cwd: string, name: string, pipe = false, maxBytes = MAX_FILE_BYTES): Buffer {
  const path = resolve(cwd, name);
  try {
    return readRegular(path, pipe || path.startsWith("/dev/"), maxBytes);
  } catch (error) {
    if (error instanceof UnreadableFile) throw error;
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new UnreadableFile(`cannot read ${quoted(name)}: ${UNREADABLE[code] ?? code}`, "correct the path");
  }
}

/**
 * Reads a regular file of a limited size.
 *
 * @param pipe whether it may be a pipe
 * @throws UnreadableFile if it is not a regular file or too large; errors of the file system
 */
export function readRegular(path: string, pipe = false, maxBytes = MAX_FILE_BYTES): Buffer {
  // O_NONBLOCK, so that opening a pipe does not wait for a writer.
  const file = openSync(path, constants.O_RDONLY | (pipe ? 0 : (constants.O_NONBLOCK ?? 0)));
  try {
    const stats = fstatSync(file);
    // A folder passes this check, because reading it fails with a clear error of the system.
    if (!stats.isFile() && !stats.isDirectory() && !(pipe && stats.isFIFO())) {
      throw new UnreadableFile(`${quoted(path)} is not a regular file`);
    }
    // The buffer grows while reading, because the reported size of files in /proc is 0.
    let bytes = Buffer.allocUnsafe(Math.min(stats.size, maxBytes) + 1);
    for (let size = 0; ; ) {
      const count = readSync(file, bytes, size, bytes.length - size, null);
      if (count === 0) return bytes.subarray(0, size);
      size += count;
      if (size > maxBytes) {
        throw new UnreadableFile(`${quoted(path)} is larger than ${maxBytes} bytes, the limit of svc-gen`);
      }
      if (size === bytes.length) bytes = Buffer.concat([bytes], Math.min(2 * size, maxBytes + 1));
    }
  } finally {
    closeSync(file);
  }
}

/** Parsed content of a JSON file; undefined if it cannot be read or is not JSON. */
export function readJsonFile(path: string): unknown {
  try {
    return JSON.parse(readRegular(path).toString());
  } catch {
    return undefined;
  }
}

/** Reads a text file like TypeScript: a byte order mark selects the encoding. Undefined if it cannot be opened. */
export function readTextFile(path: string): string | undefined {
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
