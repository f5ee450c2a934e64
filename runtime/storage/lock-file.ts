/** An exclusive lock of the operating system on a file. Node has none of its own: fs-native-extensions calls the system. */

import { type FileHandle, open } from "node:fs/promises";
import { createRequire } from "node:module";

/** The part of fs-native-extensions that is used here; the package carries no types. */
interface FileLocks {
  /** Locks the whole file for the open file description of `fd`. False when another one has it. */
  tryLock(fd: number): boolean;
}

/**
 * Locks a file, which is made (mode 0600) when it is missing. Its content has no meaning, and it stays when the lock is
 * released: a removed file could be locked by one process while another makes and locks a new one.
 *
 * @returns the open file, which releases the lock when it is closed or its process ends; undefined when it is locked by
 * another process, in another container too, or by this one
 * @throws what the file system says, or that fs-native-extensions has no build for this system
 */
export async function acquireLock(path: string): Promise<FileHandle | undefined> {
  const locks = createRequire(import.meta.url)("fs-native-extensions") as FileLocks;
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
