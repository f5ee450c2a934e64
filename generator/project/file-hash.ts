/** What files and folders hold, as short texts that are equal when the contents are. No compiler in this file. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";

export function contentHash(content: string | Buffer): string {
  return createHash("sha1").update(content).digest("hex");
}

/** The hash of a file's text, equal to {@link contentHash} of the text in UTF-8; a byte order mark is none of it. */
export function fileHash(path: string): string | undefined {
  const bytes = bytesOf(path);
  const marked = bytes?.[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bytes && contentHash(marked ? bytes.subarray(3) : bytes);
}

/** The hash of all that is in a file, a byte order mark too. */
export function bytesHash(path: string): string | undefined {
  const bytes = bytesOf(path);
  return bytes && contentHash(bytes);
}

function bytesOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

export type FolderEntry = readonly [name: string, isFolder: boolean];

/** The files and folders in a folder, links followed; links that lead nowhere are neither. None where there is no such folder. */
export function entriesOf(path: string): FolderEntry[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry): FolderEntry[] => {
      const kind = entry.isSymbolicLink() ? targetOf(join(path, entry.name)) : entry;
      return kind?.isFile() || kind?.isDirectory() ? [[entry.name, kind.isDirectory()]] : [];
    });
  } catch {
    return [];
  }
}

function targetOf(link: string): Stats | undefined {
  try {
    return statSync(link);
  } catch {
    // It leads nowhere, in a circle, or to what is closed to us.
    return undefined;
  }
}

/** Names and kinds of the entries but for `own`; what is in the files has hashes of its own. */
export function folderHash(path: string, own: readonly string[], entries = entriesOf(path)): string {
  const others = entries.filter(
    ([name, isFolder]) => (isFolder || !name.endsWith(".tmp")) && !own.includes(join(path, name)),
  );
  return contentHash(JSON.stringify(others.sort()));
}
