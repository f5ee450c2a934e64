/** New files: all of them or none, and never in place of another. */

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { UnwritableError } from "./atomic-write.js";

export interface NewFile {
  readonly target: string;
  readonly content: string;
  /** Whether only the owner of the file may read and write it. */
  readonly isPrivate?: boolean;
}

/** @throws UnwritableError when one cannot be written; the others, and the folders made for them, are removed */
export function writeNewFiles(files: readonly NewFile[]): void {
  const made: string[] = [];
  let at = "";
  try {
    for (const { target, content, isPrivate } of files) {
      at = target;
      const folder = mkdirSync(dirname(target), { recursive: true });
      if (folder !== undefined) made.push(folder);
      // Exclusive: neither replaces a file nor follows a link.
      writeFileSync(target, content, { flag: "wx", mode: isPrivate ? 0o600 : 0o666 });
      made.push(target);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The file that could not be written whole is ours, unless it was there before.
    if (code !== "EEXIST") made.push(at);
    for (const path of made.reverse()) rmSync(path, { recursive: true, force: true });
    throw new UnwritableError(at, error);
  }
}
