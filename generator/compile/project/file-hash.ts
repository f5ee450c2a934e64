/** Hashes of files and folders. This file must not load the compiler. */

import { createHash } from "node:crypto";
import { readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { readRegular } from "../../files/read-file.js";

export function contentHash(content: string | Buffer): string {
  return createHash("sha1").update(content).digest("hex");
}

/** Hash of a file's text without a byte order mark, equal to {@link contentHash} of that text. */
export function fileHash(path: string): string | undefined {
  const bytes = bytesOf(path);
  const marked = bytes?.[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bytes && contentHash(marked ? bytes.subarray(3) : bytes);
}

/** Hash of all bytes of a file, including a byte order mark. */
export function bytesHash(path: string): string | undefined {
  const bytes = bytesOf(path);
  return bytes && contentHash(bytes);
}

function bytesOf(path: string): Buffer | undefined {
  try {
    return readRegular(path);
  } catch {
    return undefined;
  }
}

/**
 * Identity of the folder at a path. A checkout or copy never has the same one. Includes the birth time because inode
 * numbers of deleted folders are reused.
 */
export function folderIdentity(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return `${stats?.ino ?? -1} ${stats?.birthtimeNs}`;
}

export type FolderEntry = readonly [name: string, isFolder: boolean];

/** Files and folders in a folder. Follows symbolic links and skips broken ones. Empty if the folder does not exist. */
export function folderEntries(path: string): FolderEntry[] {
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
    return undefined;
  }
}

/** Hash of the names and kinds of a folder's entries, except the paths in `own`. */
export function folderHash(path: string, own: readonly string[], entries = folderEntries(path)): string {
  const others = entries.filter(
    ([name, isFolder]) => (isFolder || !name.endsWith(".tmp")) && !own.includes(join(path, name)),
  );
  return contentHash(JSON.stringify(others.sort()));
}
