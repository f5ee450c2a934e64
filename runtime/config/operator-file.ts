// Reads the files that an operator gives: configuration, allow-list, certificate, key. What is wrong with one is a
// fixed text, never a part of it.

import { type BigIntStats, closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { sha256 } from "../wire/hash.js";

/** A file as it was read. */
export interface OperatorFile {
  readonly bytes: Buffer;
  /** Of exactly the file that was read. */
  readonly stats: BigIntStats;
}

/** A file, or what is wrong with it: `must be …, got …; …`. */
export type FileReading = OperatorFile | { readonly fault: string };

/** A larger file is not read: looked at each second, it would cost more than the calls. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Opening a pipe waits for no writer. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Reads a file now. Never throws. */
export function readOperatorFile(path: string): FileReading {
  try {
    const file = openSync(path, FLAGS);
    try {
      const stats = fstatSync(file, { bigint: true });
      return refusal(stats) ?? { bytes: readFileSync(file), stats };
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return unreadable(error);
  }
}

/** The same without blocking the process, however slow the file system is. Never rejects. */
export async function readOperatorFileLater(path: string): Promise<FileReading> {
  try {
    const file = await open(path, FLAGS);
    try {
      const stats = await file.stat({ bigint: true });
      return refusal(stats) ?? { bytes: await file.readFile(), stats };
    } finally {
      await file.close();
    }
  } catch (error) {
    return unreadable(error);
  }
}

/** Tells versions of a file apart. */
export function digestOf(bytes: Uint8Array): string {
  return sha256(bytes).toString("base64");
}

/** Whether anybody on the machine can read a file. Windows keeps such rights elsewhere. */
export function isWorldReadable({ mode }: Pick<BigIntStats, "mode">): boolean {
  return process.platform !== "win32" && (mode & 0o004n) !== 0n;
}

function refusal(stats: BigIntStats): { fault: string } | undefined {
  if (!stats.isFile()) return { fault: unreadableFault("something else") };
  // Whoever can write it decides who may call and with whose name.
  if (process.platform !== "win32" && (stats.mode & 0o002n) !== 0n) {
    return { fault: "must not be writable by everybody, got a world-writable file; take that right away (chmod o-w)" };
  }
  if (stats.size > MAX_FILE_BYTES) return { fault: "must be at most 64 MiB, got a larger file; make it smaller" };
  return undefined;
}

function unreadable(error: unknown): { fault: string } {
  return { fault: unreadableFault((error as NodeJS.ErrnoException).code ?? "an unknown fault") };
}

/** The sentence for a file that cannot be read; `got` is the system's code. */
function unreadableFault(got: string): string {
  return `must be a readable file, got ${got}; ${REMEDIES[got] ?? "correct the path or put the file there"}`;
}

const REMEDIES: Readonly<Record<string, string>> = {
  EACCES: "let the user of this process read it and enter its directories",
  EMFILE: "raise the limit of open files of this process",
  ENFILE: "raise the limit of open files of the system",
  EIO: "look after the file system",
};
