/** Writes new files, all or none. Existing files are never replaced. */

import { closeSync, fchmodSync, openSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { baseOf, makeFolders, UnwritableError } from "./atomic-write.js";

export interface NewFile {
  readonly target: string;
  readonly content: string;
  /** Whether only the owner may read and write the file. */
  readonly isPrivate?: boolean;
}

/**
 * @param root folder below which links are rejected
 * @throws UnwritableError if a file cannot be written; then the other files and new folders are removed
 */
export function writeNewFiles(root: string, files: readonly NewFile[]): void {
  const made: string[] = [];
  let at = "";
  try {
    for (const { target, content, isPrivate } of files) {
      at = target;
      const folder = makeFolders(baseOf(root, dirname(target)), target);
      if (folder !== undefined) made.push(folder);
      // "wx" neither replaces a file nor follows a link.
      const file = openSync(target, "wx", isPrivate ? 0o600 : 0o666);
      made.push(target);
      try {
        // Whatever the umask is.
        if (isPrivate && process.platform !== "win32") fchmodSync(file, 0o600);
        writeFileSync(file, content);
      } finally {
        closeSync(file);
      }
    }
  } catch (error) {
    for (const path of made.reverse()) rmSync(path, { recursive: true, force: true });
    throw error instanceof UnwritableError ? error : new UnwritableError(at, error);
  }
}
