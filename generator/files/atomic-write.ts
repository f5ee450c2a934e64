/** Writes files atomically, all or none, and never through a symbolic link. This file must not load the compiler. */

import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { quoted } from "../compile/diagnostics/quote.js";

/** Thrown if a file cannot be written. svc-gen exits with code 1. */
export class UnwritableError extends Error {
  /** What to do. */
  readonly hint: string;

  constructor(target: string, cause: unknown) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    super(`cannot write ${quoted(target)}: ${UNWRITABLE[code] ?? code}`, { cause });
    const isDenied = code === "EACCES" || code === "EPERM";
    this.hint = `${isDenied ? `make ${quoted(dirname(target))} writable; ` : ""}nothing was replaced`;
  }
}

const UNWRITABLE: Readonly<Record<string, string>> = {
  EACCES: "permission is missing",
  EPERM: "permission is missing",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the quota is used up",
  EFBIG: "the file is larger than the system allows",
  EEXIST: "its folder is a file",
  ENOTDIR: "its folder is a file",
  EISDIR: "it is a folder",
  ELOOP: "it is a symbolic link, which svc-gen does not follow; remove the link",
  ENODEV: "it is a pipe or a device",
};

const fault = (code: string) => Object.assign(new Error(code), { code });

interface FileToWrite {
  readonly target: string;
  readonly content: string | Buffer;
  /** Permissions; by default those of the umask. */
  readonly mode?: number;
}

/**
 * Folder below which links are rejected. For a folder in the project, this is the project's root. A folder outside the
 * project was chosen by the user, so links in its own path are followed and only links below it are rejected.
 */
export function baseOf(root: string, folder: string): string {
  return isWithin(root, folder) ? root : folder;
}

/** Whether `path` is `folder` itself or lies inside it. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * Rejects a path that is a link, or that contains a link below the base.
 *
 * @throws UnwritableError with the path of the link
 */
export function refuseLinks(base: string, target: string): void {
  for (const path of [...foldersBetween(base, target), target]) refuseLink(path);
}

function refuseLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw new UnwritableError(path, fault("ELOOP"));
}

/** Folders between a base and a path in it, outermost first. */
function foldersBetween(base: string, target: string): string[] {
  const names = relative(base, dirname(target)).split(sep).filter(Boolean);
  return names.map((_, at) => join(base, ...names.slice(0, at + 1)));
}

/**
 * Creates the missing folders of a file.
 *
 * @returns the outermost folder that was created
 * @throws UnwritableError for a link below the base; the system's error
 */
export function makeFolders(base: string, target: string): string | undefined {
  let made = mkdirSync(base, { recursive: true });
  for (const folder of foldersBetween(base, target)) {
    refuseLink(folder);
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats === undefined) {
      // Recursive: another process may have created the folder by now.
      const created = mkdirSync(folder, { recursive: true });
      made ??= created;
    } else if (!stats.isDirectory()) throw fault("ENOTDIR");
  }
  return made;
}

/**
 * Replaces each file by renaming, so that readers never see a partial file. All files are written before the first is
 * renamed, so a full disk changes nothing.
 *
 * @param baseFor returns the folder below which links are rejected (see {@link baseOf})
 * @throws UnwritableError
 */
export function replaceFiles(files: readonly FileToWrite[], baseFor: (target: string) => string = dirname): void {
  const temporaries = files.map(({ target }) => `${target}.${randomBytes(12).toString("base64url")}.tmp`);
  const made: string[] = [];
  let at = "";
  try {
    for (const [index, { target, content, mode }] of files.entries()) {
      at = target;
      makeFolders(baseFor(target), target);
      const stats = lstatSync(target, { throwIfNoEntry: false });
      if (stats?.isDirectory()) throw fault("EISDIR");
      if (stats !== undefined && !stats.isFile()) throw fault(stats.isSymbolicLink() ? "ELOOP" : "ENODEV");
      made.push(temporaries[index] as string);
      // "wx" neither replaces a file nor follows a link.
      writeFileSync(temporaries[index] as string, content, { flag: "wx", mode });
    }
    for (const [index, { target }] of files.entries()) {
      at = target;
      // A folder may have been replaced by a link in the meantime.
      refuseLinks(baseFor(target), target);
      renameSync(temporaries[index] as string, target);
    }
  } catch (error) {
    throw error instanceof UnwritableError ? error : new UnwritableError(at, error);
  } finally {
    for (const temporary of made) rmSync(temporary, { force: true });
  }
}
