/** Exclusive file locks of the operating system, by fs-native-extensions because Node has none. */

import { type FileHandle, open } from "node:fs/promises";
import { createRequire } from "node:module";

/** Part of fs-native-extensions that is used; the package has no types. */
interface FileLocks {
  /** Locks the whole file for the open file description of `fd`; false if another one holds the lock. */
  tryLock(fd: number): boolean;
}

/**
 * Locks a file; creates it (mode 0600) if it is missing. The file is empty and never removed: otherwise one process
 * could hold the lock of a removed file while another process locks a new one.
 *
 * @returns the open file, which holds the lock until it is closed or the process ends; undefined if the file is already
 * locked by this or another process, possibly in another container
 * @throws errors of the file system, or of loading fs-native-extensions if it has no build for this system
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
