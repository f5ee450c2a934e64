/**
 * An upload journal in one file, append-only. Each line is the SHA-256 (16 hex digits of it) of a JSON text and that
 * text: an entry, or `{"removed":KEY}`. A line counts once it is whole and on disk; a torn last line, as a crash leaves it,
 * is dropped when the file is opened.
 */

import { type FileHandle, open, readFile, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { sha256 } from "../wire/hash.js";
import type { UploadEntry, UploadJournal } from "./journal.js";
import { acquireLock } from "./lock-file.js";
import { StorageError } from "./storage-error.js";

const HEADER = "svc-runtime upload journal 1\n";
/** The file is rewritten without its dead lines when they are larger than this and than the live ones. */
const COMPACT_BYTES = 1024 * 1024;

/** An {@link UploadJournal} in a file. */
export class FileJournal implements UploadJournal {
  private readonly entries = new Map<string, UploadEntry>();
  private turn: Promise<unknown> = Promise.resolve();
  private broken = false;
  private liveBytes = 0;

  private constructor(
    private readonly path: string,
    private readonly lock: FileHandle,
    private file: FileHandle,
    private length: number,
  ) {}

  /**
   * Opens the journal, or makes it (mode 0600). Its directory must exist, on a file system that keeps what `fsync` was
   * called for.
   *
   * @throws {@link StorageError} `journal_failed`: it is open already, here or in another process or container, the
   * file is not a journal, or it is damaged before its last line
   */
  static async open(path: string): Promise<FileJournal> {
    const real = await resolvePath(path);
    const lock = await lockOf(real);
    let file: FileHandle | undefined;
    try {
      file = await open(real, "a+", 0o600);
      const bytes = await readFile(real);
      const journal = new FileJournal(real, lock, file, bytes.length);
      await journal.load(bytes);
      return journal;
    } catch (error) {
      await file?.close();
      await lock.close();
      throw error instanceof StorageError ? error : failed("cannot be opened", error);
    }
  }

  async get(key: string): Promise<UploadEntry | undefined> {
    return this.entries.get(key);
  }

  async list(): Promise<readonly UploadEntry[]> {
    return [...this.entries.values()];
  }

  put(entry: UploadEntry): Promise<void> {
    return this.inTurn(async () => {
      await this.append(line(entry));
      this.entries.set(entry.key, entry);
    });
  }

  remove(key: string): Promise<void> {
    return this.inTurn(async () => {
      if (!this.entries.has(key)) return;
      await this.append(line({ removed: key }));
      this.entries.delete(key);
    });
  }

  /** Waits for what is being written, and lets go of the file. */
  close(): Promise<void> {
    return this.inTurn(async () => {
      this.broken = true;
      try {
        await this.file.close();
      } finally {
        await this.lock.close();
      }
    }, true);
  }

  private async load(bytes: Buffer): Promise<void> {
    if (bytes.length < HEADER.length) {
      if (!HEADER.startsWith(bytes.toString("latin1"))) throw failed("is not an upload journal");
      await this.file.truncate(0);
      this.length = 0;
      await this.append(HEADER);
      await syncDirectory(this.path);
      return;
    }
    if (bytes.toString("latin1", 0, HEADER.length) !== HEADER) throw failed("is not an upload journal");
    let at = HEADER.length;
    for (let number = 2; at < bytes.length; number++) {
      const end = bytes.indexOf(10, at);
      const record = end === -1 ? undefined : parseLine(bytes.subarray(at, end));
      if (record === undefined) {
        if (end !== -1 && end + 1 < bytes.length)
          throw failed(`is damaged in line ${number}: move it away and keep it`);
        await this.file.truncate(at);
        await this.file.datasync();
        this.length = at;
        break;
      }
      if ("removed" in record) this.entries.delete(record.removed);
      else this.entries.set(record.key, record);
      at = end + 1;
    }
    this.countLive();
  }

  private async append(text: string): Promise<void> {
    if (this.broken) throw failed("is closed, or could not be written before");
    if (this.length - this.liveBytes > COMPACT_BYTES && this.length > 2 * this.liveBytes) await this.compact();
    const bytes = Buffer.from(text);
    try {
      await this.file.appendFile(bytes);
      await this.file.datasync();
      this.length += bytes.length;
    } catch (error) {
      // Half a line may be there, and what follows it would be lost: take it back, or write no more.
      try {
        await this.file.truncate(this.length);
        await this.file.datasync();
      } catch {
        this.broken = true;
      }
      throw failed("cannot be written", error);
    }
  }

  /** Writes the live lines to a new file and puts it in place. When that fails, the old file goes on. */
  private async compact(): Promise<void> {
    const next = `${this.path}.next`;
    let file: FileHandle | undefined;
    try {
      await rm(next, { force: true });
      file = await open(next, "ax+", 0o600);
      await file.appendFile(HEADER + [...this.entries.values()].map(line).join(""));
      await file.sync();
      const { size } = await file.stat();
      await rename(next, this.path);
      const old = this.file;
      this.file = file;
      this.length = size;
      this.countLive();
      await old.close();
    } catch {
      if (this.file !== file) await file?.close().catch(() => undefined);
      // Tried again when as much has been added.
      this.liveBytes = this.length;
      return;
    }
    await syncDirectory(this.path);
  }

  private countLive(): void {
    this.liveBytes = HEADER.length;
    for (const entry of this.entries.values()) this.liveBytes += Buffer.byteLength(line(entry));
  }

  private inTurn<T>(work: () => Promise<T>, evenIfBroken = false): Promise<T> {
    const result = this.turn.then(() => {
      if (this.broken && !evenIfBroken) throw failed("is closed, or could not be written before");
      return work();
    });
    this.turn = result.catch(() => undefined);
    return result;
  }
}

type Line = UploadEntry | { readonly removed: string };

function line(record: Line): string {
  const text = JSON.stringify(record);
  return `${check(text)} ${text}\n`;
}

function check(text: string | Buffer): string {
  return sha256(Buffer.from(text)).toString("hex", 0, 8);
}

function parseLine(bytes: Buffer): Line | undefined {
  const text = bytes.subarray(17);
  if (bytes[16] !== 32 || bytes.toString("latin1", 0, 16) !== check(text)) return undefined;
  return JSON.parse(text.toString("utf8")) as Line;
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

async function lockOf(path: string): Promise<FileHandle> {
  let lock: FileHandle | undefined;
  try {
    lock = await acquireLock(`${path}.lock`);
  } catch (error) {
    throw failed("cannot be locked", error);
  }
  if (lock === undefined) throw failed("is open already: one storage at a time uses it");
  return lock;
}

async function resolvePath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    try {
      return join(await realpath(dirname(path)), basename(path));
    } catch (error) {
      throw failed("its directory cannot be found", error);
    }
  }
}

function failed(reason: string, error?: unknown): StorageError {
  const code: unknown = (error as NodeJS.ErrnoException | undefined)?.code;
  const known = typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code) ? ` (${code})` : "";
  return new StorageError("journal_failed", `upload journal: ${reason}${known}`);
}
