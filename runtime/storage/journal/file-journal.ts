/**
 * Upload journal in one append-only file. Each line has a checksum (16 hex digits of SHA-256) and a JSON text: an
 * entry, or `{"removed":KEY}`. A line is valid when it is complete and on disk. An incomplete last line, left by a
 * crash, is dropped when the file is opened.
 */

import { type FileHandle, open, readFile, realpath, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { sha256 } from "svc-client/internal/wire/signature/hash";
import { StorageError, systemCode } from "../storage-error.js";
import type { UploadEntry, UploadJournal } from "./journal.js";

const HEADER = "svc-runtime upload journal 1\n";
/** The file is compacted when its outdated lines exceed this size, in bytes, and the size of the current lines. */
const COMPACT_BYTES = 1024 * 1024;

export class FileJournal implements UploadJournal {
  readonly #entries = new Map<string, UploadEntry>();
  #queue: Promise<unknown> = Promise.resolve();
  #broken = false;
  #liveBytes = 0;

  readonly #path: string;
  readonly #lock: FileHandle;
  #file: FileHandle;
  #length: number;

  private constructor(path: string, lock: FileHandle, file: FileHandle, length: number) {
    this.#path = path;
    this.#lock = lock;
    this.#file = file;
    this.#length = length;
  }

  /**
   * Opens or creates the journal (mode 0600). Its directory must exist, on a file system with a reliable `fsync`.
   *
   * @throws {@link StorageError} `journal_failed`: the journal is already open, here or in another process or
   * container; the file is not a journal; or it is damaged before its last line
   */
  static async open(path: string): Promise<FileJournal> {
    const real = await resolvePath(path);
    const lock = await lockFile(`${real}.lock`);
    let file: FileHandle | undefined;
    try {
      file = await open(real, "a+", 0o600);
      const bytes = await readFile(real);
      const journal = new FileJournal(real, lock, file, bytes.length);
      await journal.#load(bytes);
      return journal;
    } catch (error) {
      await file?.close();
      await lock.close();
      throw error instanceof StorageError ? error : journalError("cannot be opened", error);
    }
  }

  async get(key: string): Promise<UploadEntry | undefined> {
    return this.#entries.get(key);
  }

  async list(): Promise<readonly UploadEntry[]> {
    return [...this.#entries.values()];
  }

  put(entry: UploadEntry): Promise<void> {
    return this.#enqueue(async () => {
      await this.#append(recordLine(entry));
      this.#entries.set(entry.key, entry);
    });
  }

  remove(key: string): Promise<void> {
    return this.#enqueue(async () => {
      if (!this.#entries.has(key)) return;
      await this.#append(recordLine({ removed: key }));
      this.#entries.delete(key);
    });
  }

  /** Waits for pending writes, then closes the file and releases its lock. */
  close(): Promise<void> {
    return this.#enqueue(async () => {
      this.#broken = true;
      try {
        await this.#file.close();
      } finally {
        await this.#lock.close();
      }
    }, true);
  }

  async #load(bytes: Buffer): Promise<void> {
    if (bytes.length < HEADER.length) {
      if (!HEADER.startsWith(bytes.toString("latin1"))) throw journalError("is not an upload journal");
      await this.#file.truncate(0);
      this.#length = 0;
      await this.#append(HEADER);
      await syncDirectory(this.#path);
      return;
    }
    if (bytes.toString("latin1", 0, HEADER.length) !== HEADER) throw journalError("is not an upload journal");
    let at = HEADER.length;
    for (let number = 2; at < bytes.length; number++) {
      const end = bytes.indexOf(10, at);
      const record = end === -1 ? undefined : parseLine(bytes.subarray(at, end));
      if (record === undefined) {
        if (end !== -1 && end + 1 < bytes.length)
          throw journalError(
            `is damaged in line ${number}: move the file to another place and keep it, because it lists uploads that were paid for`,
          );
        await this.#file.truncate(at);
        await this.#file.datasync();
        this.#length = at;
        break;
      }
      if ("removed" in record) this.#entries.delete(record.removed);
      else this.#entries.set(record.key, record);
      at = end + 1;
    }
    this.#countLive();
  }

  async #append(text: string): Promise<void> {
    if (this.#broken) throw journalError("is closed, or an earlier write to it failed");
    if (this.#length - this.#liveBytes > COMPACT_BYTES && this.#length > 2 * this.#liveBytes) await this.#compact();
    const bytes = Buffer.from(text);
    try {
      await this.#file.appendFile(bytes);
      await this.#file.datasync();
      this.#length += bytes.length;
    } catch (error) {
      // A partial line would invalidate the lines after it. If it cannot be removed, writing stops.
      try {
        await this.#file.truncate(this.#length);
        await this.#file.datasync();
      } catch {
        this.#broken = true;
      }
      throw journalError("cannot be written", error);
    }
  }

  /** Writes the current lines to a new file and renames it. If that fails, the old file stays in use. */
  async #compact(): Promise<void> {
    const next = `${this.#path}.next`;
    let file: FileHandle | undefined;
    try {
      await rm(next, { force: true });
      file = await open(next, "ax+", 0o600);
      await file.appendFile(HEADER + [...this.#entries.values()].map(recordLine).join(""));
      await file.sync();
      const { size } = await file.stat();
      await rename(next, this.#path);
      const old = this.#file;
      this.#file = file;
      this.#length = size;
      this.#countLive();
      await old.close();
    } catch {
      if (this.#file !== file) await file?.close().catch(() => undefined);
      // Compaction is tried again only after the file has doubled in size.
      this.#liveBytes = this.#length;
      return;
    }
    await syncDirectory(this.#path);
  }

  #countLive(): void {
    this.#liveBytes = HEADER.length;
    for (const entry of this.#entries.values()) this.#liveBytes += Buffer.byteLength(recordLine(entry));
  }

  #enqueue<T>(work: () => Promise<T>, allowBroken = false): Promise<T> {
    const result = this.#queue.then(() => {
      if (this.#broken && !allowBroken) throw journalError("is closed, or an earlier write to it failed");
      return work();
    });
    this.#queue = result.catch(() => undefined);
    return result;
  }
}

type JournalRecord = UploadEntry | { readonly removed: string };

function recordLine(record: JournalRecord): string {
  const text = JSON.stringify(record);
  return `${checksum(text)} ${text}\n`;
}

function checksum(text: string | Buffer): string {
  return sha256(Buffer.from(text)).toString("hex", 0, 8);
}

function parseLine(bytes: Buffer): JournalRecord | undefined {
  const text = bytes.subarray(17);
  if (bytes[16] !== 32 || bytes.toString("latin1", 0, 16) !== checksum(text)) return undefined;
  return JSON.parse(text.toString("utf8")) as JournalRecord;
}

async function syncDirectory(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const directory = await open(dirname(path), "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function resolvePath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    try {
      return join(await realpath(dirname(path)), basename(path));
    } catch (error) {
      throw journalError("its directory cannot be found", error);
    }
  }
}

function journalError(reason: string, error?: unknown): StorageError {
  return new StorageError("journal_failed", `upload journal: ${reason}${systemCode(error)}`);
}

/** Members of fs-native-extensions that this file uses; the package has no types. */
interface FileLocks {
  /** Locks the whole file for the open file description of `fd`; false if another one holds the lock. */
  tryLock(fd: number): boolean;
}

/**
 * Locks a file by the operating system; creates it (mode 0600) if it is missing. The file is empty and never removed:
 * otherwise one process could hold the lock of a removed file while another process locks a new one.
 *
 * @returns the open file, which holds the lock until it is closed or the process ends
 * @throws {@link StorageError} `journal_failed` if it is locked by this or another process, possibly in another
 * container, or if fs-native-extensions has no build for this system
 */
async function lockFile(path: string): Promise<FileHandle> {
  let file: FileHandle | undefined;
  try {
    const require = createRequire(import.meta.url);
    const locks = require("fs-native-extensions") as FileLocks;
    file = await open(path, "a", 0o600);
    if (locks.tryLock(file.fd)) return file;
  } catch (error) {
    await file?.close();
    throw journalError("cannot be locked", error);
  }
  await file.close();
  throw journalError("is already open in another storage or process: use one journal per storage");
}
