/** Atomic replacement of files. It does not load the compiler. */

import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { quoted } from "./diagnostics/quote.js";

/** A file cannot be written. Ends svc-gen with exit code 2. */
export class UnwritableError extends Error {
  constructor(target: string, cause: unknown) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    super(`cannot write ${quoted(target)}: ${UNWRITABLE[code] ?? code}`, { cause });
  }
}

const UNWRITABLE: Readonly<Record<string, string>> = {
  EACCES: "permission is missing",
  EPERM: "permission is missing",
  EROFS: "the file system can only be read",
  ENOSPC: "the disk is full",
  EDQUOT: "the quota is used up",
  EFBIG: "the file is larger than allowed here",
  EEXIST: "a file is where its folder should be",
  ENOTDIR: "a file is where its folder should be",
  EISDIR: "a folder is where the file should be",
};

interface NewFile {
  readonly target: string;
  readonly content: string | Buffer;
  /** Access rights: by default those of the umask. */
  readonly mode?: number;
}

/**
 * Replaces each file by a rename, so that no reader sees half of one. All texts are written before the first rename, so
 * a full disk changes nothing.
 *
 * @throws UnwritableError
 */
export function replaceFiles(files: readonly NewFile[]): void {
  const temporaries = files.map(({ target }) => `${target}.${process.pid}.tmp`);
  const made: string[] = [];
  let at = "";
  try {
    for (const [index, { target, content, mode }] of files.entries()) {
      at = target;
      mkdirSync(dirname(target), { recursive: true });
      if (statSync(target, { throwIfNoEntry: false })?.isDirectory())
        throw Object.assign(new Error(), { code: "EISDIR" });
      made.push(temporaries[index] as string);
      writeFileSync(temporaries[index] as string, content, { mode });
    }
    for (const [index, { target }] of files.entries()) {
      at = target;
      renameSync(temporaries[index] as string, target);
    }
  } catch (error) {
    throw new UnwritableError(at, error);
  } finally {
    for (const temporary of made) rmSync(temporary, { force: true });
  }
}
