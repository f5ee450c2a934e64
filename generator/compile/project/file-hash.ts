/** Hashes of files and folders. This file does not load the compiler. */

import { createHash } from "node:crypto";
import { readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { readRegular } from "../../files/read-file.js";

export function contentHash(content: string | Buffer): string {
  return createHash("sha1").update(content).digest("hex");
}

/** The hash of a file's text: {@link contentHash} of the UTF-8 without a byte order mark. */
export function fileHash(path: string): string | undefined {
  const bytes = bytesOf(path);
  const marked = bytes?.[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bytes && contentHash(marked ? bytes.subarray(3) : bytes);
}

/** The hash of all bytes of a file, a byte order mark included. */
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
 * The identity of the folder at a path, which no checkout can know in advance. Inode numbers of deleted folders are
 * reused; the birth time tells them apart.
 */
export function folderIdentity(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return `${stats?.ino ?? -1} ${stats?.birthtimeNs}`;
}

export type FolderEntry = readonly [name: string, isFolder: boolean];

/**
 * The files and folders in a folder, symbolic links followed and broken ones skipped. Empty when there is no such
 * folder.
 */
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
    // The link is broken, circular or not accessible.
    return undefined;
  }
}

/**
 * The hash of a folder's entries by name and kind, without the paths in `own`. Contents of files are not part of it.
 */
export function folderHash(path: string, own: readonly string[], entries = folderEntries(path)): string {
  const others = entries.filter(
    ([name, isFolder]) => (isFolder || !name.endsWith(".tmp")) && !own.includes(join(path, name)),
  );
  return contentHash(JSON.stringify(others.sort()));
}
