/** Exclusive file locks of the operating system, through fs-native-extensions because Node has none. */

import { type FileHandle, open } from "node:fs/promises";
import { createRequire } from "node:module";

/** The used part of fs-native-extensions, which has no types. */
interface FileLocks {
  /** Locks the whole file for the open file description of `fd`; false when another one holds the lock. */
  tryLock(fd: number): boolean;
}

/**
 * Locks a file, which is created (mode 0600) when missing. The file is empty and is never removed: otherwise one
 * process could hold the lock of a removed file while another locks a new one.
 *
 * @returns the open file, which holds the lock until it is closed or the process ends; undefined when the file is
 * locked already, by this process or another, also in another container
 * @throws errors of the file system, or of loading fs-native-extensions where it has no build for this system
 */
export async function acquireLock(path: string): Promise<FileHandle | undefined> {
  const require = createRequire(import.meta.url);
  const locks = require("fs-native-extensions") as FileLocks;
  const file = await open(path, "a", 0o600);
  try {
    if (locks.tryLock(file.fd)) return file;
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return undefined;
}
