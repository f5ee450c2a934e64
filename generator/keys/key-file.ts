/** Private key files. Messages never contain any part of a file. */

import { lstatSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { readPrivateKey } from "svc-runtime/leader";
import { CommandError } from "../cli/command-errors.js";
import { quoted, shellWord } from "../compile/diagnostics/quote.js";
import { writeNewFiles } from "../files/new-files.js";
import { readNamed, UnreadableFile } from "../files/read-file.js";
import { keyInKeygenFile, looksLike } from "./key-forms.js";

/** Thrown if a key file cannot be read or written. */
export class KeyFileError extends CommandError {}

export interface KeyFile {
  /** 32 bytes. */
  readonly key: Buffer;
  /** The key as text that a configuration accepts. */
  readonly text: string;
  /** Four octal digits; undefined on Windows. */
  readonly mode: string | undefined;
  /** Warnings about permissions that are too wide, with the command that fixes them. */
  readonly warnings: readonly string[];
}

/** Maximum size of a key file, in bytes. */
const MAX_BYTES = 4096;
const WANTED = "a private key of 32 bytes: 64 hex digits, base64 or base64url";
const MAKE_ONE = "create one with svc-gen keys new";
const HAS_MODES = process.platform !== "win32";

/**
 * Reads a key file.
 *
 * @param name the path as given, for messages
 * @throws KeyFileError
 */
export function readKeyFile(folder: string, name: string): KeyFile {
  refusePublicKey(name);
  const bytes = readSmallFile(folder, name);
  const { mode } = statSync(resolve(folder, name));
  const text = bytes.toString().trim();
  const fromKeygen = keyInKeygenFile(text);
  const reading = readPrivateKey(fromKeygen ?? bytes.toString());
  if ("got" in reading) {
    const isMarked = bytes.toString().startsWith("\ufeff");
    const got = isMarked ? "text with a byte order mark; save the file without it" : (looksLike(text) ?? reading.got);
    throw new KeyFileError(`${quoted(name)} must contain ${WANTED}; got ${got}`, MAKE_ONE);
  }
  const key = Buffer.from(reading.key);
  return {
    key,
    text: fromKeygen ?? text,
    mode: HAS_MODES ? (mode & 0o7777).toString(8).padStart(4, "0") : undefined,
    warnings: HAS_MODES ? modeWarnings(mode, name) : [],
  };
}

function readSmallFile(folder: string, name: string): Buffer {
  try {
    return readNamed(folder, name, false, MAX_BYTES);
  } catch (error) {
    throw error instanceof UnreadableFile ? new KeyFileError(error.message, MAKE_ONE) : error;
  }
}

function modeWarnings(mode: number, name: string): string[] {
  const rights = [
    mode & 0o040 && "its group can read it",
    mode & 0o004 && "every user of this machine can read it",
    mode & 0o020 && "its group can change it",
    mode & 0o002 && "every user of this machine can change it",
  ].filter((right) => typeof right === "string");
  return rights.length === 0 ? [] : [`${quoted(name)}: ${rights.join(", ")}: chmod 600 ${shellWord(name)}`];
}

/**
 * Writes a key to a new file that only its owner can read. An incomplete file is removed.
 *
 * @param name the path as given, for messages
 * @throws KeyFileError if the path exists, even as a symbolic link; UnwritableError
 */
export function writeKeyFile(folder: string, name: string, text: string): void {
  refusePublicKey(name);
  const target = resolve(folder, name);
  const stats = lstatSync(target, { throwIfNoEntry: false });
  if (stats !== undefined) {
    const what = stats.isSymbolicLink() ? "is a symbolic link" : "already exists";
    throw new KeyFileError(`${quoted(name)} ${what}; keys are written to new files only`, "choose another name");
  }
  writeNewFiles(folder, [{ target, content: `${text}\n`, isPrivate: true }]);
}

/**
 * Rejects the file name of a public key. The 32 bytes of a public key look like those of a private key.
 *
 * @throws KeyFileError
 */
function refusePublicKey(name: string): void {
  if (!/\.pub(?:lic)?$/i.test(name)) return;
  throw new KeyFileError(
    `expected the file of a private key, got ${quoted(name)}, which is named like a public key`,
    "pass the path of the private key",
  );
}
