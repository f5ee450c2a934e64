// Reads the operator's files: configuration, allow-list, certificate, key. Messages contain no text from the files.

import { type BigIntStats, closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { looksLikeKey } from "svc-client/internal/keys";
import { sha256 } from "svc-client/internal/wire/signature/hash";
import { contentKind, textKind } from "../described-text.js";

export interface OperatorFile {
  readonly bytes: Buffer;
  /** Stats of the same open file. */
  readonly stats: BigIntStats;
}

/** A file, or the reason why it cannot be used: `must be …, got …; …`. */
export type FileReading = OperatorFile | { readonly fault: string };

/** Maximum size of a file, in bytes: an allow-list of some 100,000 keys. A server reads each file every second. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Non-blocking, so that opening a pipe does not wait for a writer. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Reads a file synchronously. Never throws.
 *
 * @param path relative to `cwd`
 */
export function readOperatorFile(path: string, cwd = process.cwd()): FileReading {
  try {
    const file = openSync(resolve(cwd, path), FLAGS);
    try {
      const stats = fstatSync(file, { bigint: true });
      return fileFault(stats) ?? { bytes: readFileSync(file), stats };
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return readFault(error, path, cwd);
  }
}

export interface HashedFile extends OperatorFile {
  /** Result of {@link digestOf}. */
  readonly digest: string;
}

/** A file with its digest, or the reason why it cannot be used. */
export type HashedReading = HashedFile | { readonly fault: string };

/** Reads a file asynchronously. Never rejects. */
export async function readOperatorFileAsync(path: string): Promise<HashedReading> {
  try {
    const file = await open(path, FLAGS);
    try {
      const stats = await file.stat({ bigint: true });
      const fault = fileFault(stats);
      if (fault !== undefined) return fault;
      const bytes = await file.readFile();
      return { bytes, stats, digest: digestOf(bytes) };
    } finally {
      await file.close();
    }
  } catch (error) {
    return readFault(error);
  }
}

/** Whether two stats are those of one unchanged file. */
export function isSameFile(a: BigIntStats, b: BigIntStats): boolean {
  return a.mtimeNs === b.mtimeNs && a.size === b.size && a.ino === b.ino && a.ctimeNs === b.ctimeNs && a.dev === b.dev;
}

const TOO_LARGE = { fault: "must be at most 16 MiB, got a larger file; make it smaller" };

export function digestOf(bytes: Uint8Array): string {
  return sha256(bytes).toString("base64");
}

/** Whether every user of the machine can read a file. Always false on Windows, where the mode does not show this. */
export function isWorldReadable({ mode }: Pick<BigIntStats, "mode">): boolean {
  return process.platform !== "win32" && (mode & 0o004n) !== 0n;
}

/** Warning about a file with a private key that is world-readable: the predicate of a sentence about the file. */
export const EXPOSED_KEY =
  "contains a private key and is readable by every user of this machine: remove that permission (chmod o-r)";

function fileFault(stats: BigIntStats): { fault: string } | undefined {
  if (!stats.isFile()) return { fault: unreadableMessage("a directory or a special file") };
  // A user with write access could authorise any caller.
  if (process.platform !== "win32" && (stats.mode & 0o002n) !== 0n) {
    return {
      fault: "must not be writable by every user of this machine; remove that permission (chmod o-w)",
    };
  }
  return stats.size > MAX_FILE_BYTES ? TOO_LARGE : undefined;
}

function readFault(error: unknown, path?: string, cwd = ""): { fault: string } {
  const { code = "an unknown error" } = error as NodeJS.ErrnoException;
  if (path === undefined) return { fault: unreadableMessage(code) };
  const content = hiddenPath(path);
  const remedy = content === undefined ? "correct it" : "write that to a file of mode 0600, and give the path";
  const got = content ?? textKind(path, "");
  if (got !== "") return { fault: `must be the path of a readable file, got ${got}; ${remedy}` };
  if (code !== "ENOENT" || isAbsolute(path)) return { fault: unreadableMessage(code) };
  const isTilde = path.startsWith("~");
  const place = `ENOENT in ${JSON.stringify(cwd)}`;
  return { fault: unreadableMessage(place, isTilde ? "write the whole path: only a shell expands ~" : undefined) };
}

/** Longer than a key in base64 or in hex. A key that contains `/`, or follows a folder, is the end of a path. */
const MAX_KEY_PATH = 80;

/** Describes a path that looks like a key or the content of a file; undefined for a path that messages may show. */
export function hiddenPath(path: string): string | undefined {
  return path.split(/["'\s]|^\w+=/).some(endsInKey) ? "a key" : contentKind(path);
}

/** Whether a text ends in a key, also in one with some digits too few or too many. */
function endsInKey(text: string): boolean {
  const parts = text.slice(-MAX_KEY_PATH).split("/");
  if (/^(?:0x)?[0-9a-f]{48,}$/i.test(parts.at(-1) ?? "")) return true;
  const ends = parts.map((_, at) => parts.slice(at).join("/"));
  // A path in lower case can be valid base64, but the base64 of 32 random bytes contains a capital letter.
  return ends.some((end) => (!end.includes("/") || /[A-Z]/.test(end)) && looksLikeKey(end));
}

function unreadableMessage(got: string, remedy = REMEDIES[got] ?? "correct the path or create the file"): string {
  return `must be a readable file, got ${got}; ${remedy}`;
}

const REMEDIES: Readonly<Record<string, string>> = {
  // In a container, the process often runs as another user than the owner of a mounted file.
  EACCES: `let the user of this process (uid ${process.getuid?.() ?? "unknown"}) read the file and enter its directories`,
  EMFILE: "raise the limit of open files of this process",
  ENFILE: "raise the limit of open files of the system",
  EIO: "check the disk and the file system",
};
