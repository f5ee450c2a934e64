/**
 * Upload journal in a directory, with one JSON file for each upload. A file is replaced by a rename, so after a crash or
 * on a full disk it has the old or the new entry. The file `owner` names the last `FileJournal` that opened the
 * directory; only this one writes. Files with other names are ignored.
 */

import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { StorageError, systemCode } from "../storage-error.js";
import type { UploadEntry, UploadJournal } from "./journal.js";

const KEY = /^[0-9a-f]{64}$/;
/** File that a crash left before its rename. */
const TEMPORARY = /^(?:owner|[0-9a-f]{64}\.json)\.[0-9a-f-]{36}\.tmp$/;

export class FileJournal implements UploadJournal {
  readonly #directory: string;
  readonly #id = randomUUID();
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Opens or creates the directory (mode 0700), on a file system with a reliable `fsync`. A journal that was opened in
   * this directory before, here or in another process or container, can no longer write.
   *
   * @throws {@link StorageError} `journal_failed`: the directory cannot be used, or the file of an upload is damaged
   */
  static async open(path: string): Promise<FileJournal> {
    const directory = resolve(path);
    const journal = new FileJournal(directory);
    try {
      const created = await mkdir(directory, { mode: 0o700 }).then(() => true, absentFor("EEXIST"));
      if (created) await syncDirectory(dirname(directory));
      for (const name of await readdir(directory)) {
        if (TEMPORARY.test(name)) await rm(join(directory, name), { force: true });
      }
      await journal.#replace("owner", journal.#id);
    } catch (error) {
      throw journalError("its directory cannot be opened", error);
    }
    await journal.list();
    return journal;
  }

  async get(key: string): Promise<UploadEntry | undefined> {
    const name = fileName(key);
    let entry: UploadEntry | undefined;
    try {
      const text = await readFile(join(this.#directory, name), "utf8").catch(absentFor("ENOENT"));
      if (text === undefined) return undefined;
      entry = JSON.parse(text) as UploadEntry;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw journalError(`${name} cannot be read`, error);
    }
    if (entry?.key === key) return entry;
    const remedy = "move the file to another place and keep it, because its upload may have been paid for";
    throw journalError(`${name} is damaged: ${remedy}`);
  }

  async list(): Promise<readonly UploadEntry[]> {
    const names = await readdir(this.#directory).catch((error: unknown) => {
      throw journalError("its directory cannot be read", error);
    });
    const entries: UploadEntry[] = [];
    for (const name of names) {
      const key = name.slice(0, -".json".length);
      const entry = KEY.test(key) && name === fileName(key) ? await this.get(key) : undefined;
      if (entry !== undefined) entries.push(entry);
    }
    return entries;
  }

  put(entry: UploadEntry): Promise<void> {
    return this.#write(() => this.#replace(fileName(entry.key), JSON.stringify(entry)));
  }

  remove(key: string): Promise<void> {
    return this.#write(async () => {
      await rm(join(this.#directory, fileName(key)), { force: true });
      await syncDirectory(this.#directory);
    });
  }

  /** Runs one change after another, so that the last `put` of a key is the one that is kept. */
  #write(change: () => Promise<void>): Promise<void> {
    const written = this.#queue.then(async () => {
      try {
        const owner = await readFile(join(this.#directory, "owner"), "utf8");
        if (owner !== this.#id) throw journalError("its directory was opened again: use one directory per storage");
        await change();
      } catch (error) {
        throw error instanceof StorageError ? error : journalError("cannot be written", error);
      }
    });
    this.#queue = written.catch(() => undefined);
    return written;
  }

  async #replace(name: string, text: string): Promise<void> {
    const path = join(this.#directory, name);
    const temporary = `${path}.${this.#id}.tmp`;
    await writeFile(temporary, text, { mode: 0o600, flush: true });
    await rename(temporary, path);
    await syncDirectory(this.#directory);
  }
}

/** The check keeps a foreign key from naming a file of another directory. */
function fileName(key: string): string {
  if (!KEY.test(key)) throw journalError("expected a key of 64 hex digits");
  return `${key}.json`;
}

async function syncDirectory(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Handler that replaces a system error with this code by `undefined`. */
function absentFor(code: string): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (error.code !== code) throw error;
  };
}

function journalError(reason: string, error?: unknown): StorageError {
  return new StorageError("journal_failed", `upload journal: ${reason}${systemCode(error)}`);
}
