import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { open, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, mock, test } from "node:test";
import { FileJournal, StorageError, type UploadEntry } from "#runtime/storage/index.js";
import { scratchFolder } from "../scratch-folder.js";

const directory = scratchFolder();
let journals = 0;
const freshPath = () => join(directory, `${journals++}`);

const [A, B, C] = ["a", "b", "c"].map((digit) => digit.repeat(64)) as [string, string, string];
const entry = (key: string, change: Partial<UploadEntry> = {}): UploadEntry => ({
  key,
  state: "intent",
  sha256: "0".repeat(64),
  size: 7,
  epochs: 1,
  startedAt: 1_700_000_000_000,
  ...change,
});

const refused = (work: Promise<unknown>, message: RegExp) =>
  assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof StorageError);
    assert.equal(error.code, "journal_failed");
    assert.match(error.message, message);
    return true;
  });

const keysOf = async (journal: FileJournal) => (await journal.list()).map(({ key }) => key).sort();
const reopened = async (path: string) => keysOf(await FileJournal.open(path));

describe("upload journal", () => {
  test("keeps the last entry of each key over a restart", async () => {
    const path = freshPath();
    const journal = await FileJournal.open(path);
    const stored = entry(A, { state: "stored", blobId: "x" });
    await journal.put(entry(A));
    await journal.put(entry(B));
    await journal.put(stored);
    await journal.put(entry(C));
    await journal.remove(B);
    await journal.remove("d".repeat(64));
    assert.deepEqual(await journal.get(A), stored);
    assert.equal(await journal.get(B), undefined);
    const again = await FileJournal.open(path);
    assert.deepEqual(await keysOf(again), [A, C]);
    assert.deepEqual(await again.get(A), stored);
    assert.equal((await stat(path)).mode & 0o777, 0o700);
    assert.deepEqual((await readdir(path)).sort(), [`${A}.json`, `${C}.json`, "owner"]);
    for (const name of await readdir(path)) assert.equal((await stat(join(path, name))).mode & 0o777, 0o600, name);
  });

  test("a key that is not a hash names no file", async () => {
    const path = freshPath();
    const journal = await FileJournal.open(path);
    await writeFile(join(directory, "other.json"), "kept");
    for (const key of ["../other", "", A.toUpperCase(), `${A}\n`]) {
      await refused(journal.put(entry(key)), /expected a key of 64 hex digits$/);
      await refused(journal.get(key), /expected a key of 64 hex digits$/);
      await refused(journal.remove(key), /expected a key of 64 hex digits$/);
    }
    assert.equal(await readFile(join(directory, "other.json"), "utf8"), "kept");
  });

  test("an incomplete or foreign file of an upload is refused and not changed, wherever it ends", async () => {
    const path = freshPath();
    const journal = await FileJournal.open(path);
    await journal.put(entry(A));
    await journal.put(entry(B));
    const file = join(path, `${A}.json`);
    const whole = await readFile(file);
    const torn = Array.from(whole, (_, length) => whole.subarray(0, length));
    const damaged = [Buffer.alloc(whole.length), Buffer.from("a note\n"), Buffer.from("null"), Buffer.from("{}")];
    const other = await readFile(join(path, `${B}.json`));
    for (const bytes of [...torn, ...damaged, other]) {
      await writeFile(file, bytes);
      const message = /^upload journal: a{64}\.json is damaged: move the file to another place and keep it/;
      await refused(FileJournal.open(path), message);
      await refused(journal.get(A), message);
      await refused(journal.list(), message);
      assert.deepEqual(await readFile(file), bytes);
    }
    await rm(file);
    assert.deepEqual(await reopened(path), [B]);
  });

  test("files of a crash are removed, and foreign files are ignored and kept", async () => {
    const path = freshPath();
    const left = await FileJournal.open(path);
    await left.put(entry(A));
    const id = await readFile(join(path, "owner"), "utf8");
    for (const name of [`${B}.json.${id}.tmp`, `owner.${id}.tmp`]) await writeFile(join(path, name), "{");
    const foreign = ["lost+found", "notes.json", "notes.tmp", `${B}.json.orig`, B, `${C}json`];
    for (const name of foreign) await writeFile(join(path, name), "a note");
    assert.deepEqual(await reopened(path), [A]);
    assert.deepEqual((await readdir(path)).sort(), [...foreign, `${A}.json`, "owner"].sort());
  });

  test("a path that is no directory, or has no parent, is refused", async () => {
    const file = freshPath();
    await writeFile(file, "a note");
    await refused(FileJournal.open(file), /its directory cannot be opened \(ENOTDIR\)$/);
    assert.equal(await readFile(file, "utf8"), "a note");
    await refused(FileJournal.open(join(directory, "missing", "journal")), /cannot be opened \(ENOENT\)$/);
    const removed = freshPath();
    const journal = await FileJournal.open(removed);
    await rm(removed, { recursive: true });
    await refused(journal.put(entry(A)), /cannot be written \(ENOENT\)$/);
    await refused(journal.list(), /its directory cannot be read \(ENOENT\)$/);
  });

  test("only the journal that was opened last can write, by whatever path it was opened", async () => {
    const path = freshPath();
    const link = freshPath();
    const first = await FileJournal.open(path);
    await first.put(entry(A));
    await symlink(path, link);
    const second = await FileJournal.open(link);
    await second.put(entry(B));
    await refused(first.put(entry(A, { state: "stored" })), /was opened again: use one directory per storage$/);
    await refused(first.remove(B), /was opened again/);
    assert.deepEqual(await keysOf(second), [A, B]);
    assert.equal((await second.get(A))?.state, "intent");
    const script = `
      import { FileJournal } from ${JSON.stringify(import.meta.resolve("#runtime/storage/index.js"))};
      const journal = await FileJournal.open(process.argv[1]);
      await journal.put({ key: "${C}" });
    `;
    const { status } = spawnSync(process.execPath, ["--input-type=module", "-e", script, path], { stdio: "inherit" });
    assert.equal(status, 0);
    await refused(second.put(entry(B)), /was opened again/);
    assert.deepEqual(await keysOf(second), [A, B, C]);
  });

  test("of several that are opened at once, one can write", async () => {
    for (let round = 0; round < 20; round++) {
      const path = freshPath();
      const opened = await Promise.allSettled(Array.from({ length: 4 }, () => FileJournal.open(path)));
      const journals = opened.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
      const written = await Promise.allSettled(journals.map((journal) => journal.put(entry(A))));
      assert.equal(written.filter(({ status }) => status === "fulfilled").length, 1, `round ${round}`);
    }
  });

  test("a write is on disk before it replaces the old entry, and the directory before the write resolves", async () => {
    const path = freshPath();
    const journal = await FileJournal.open(path);
    const handle = await open(path);
    await handle.close();
    const files = Object.getPrototypeOf(handle) as typeof handle;
    const { sync } = files;
    const file = join(path, `${A}.json`);
    const synced: string[] = [];
    let fails = "";
    const mocked = mock.method(files, "sync", async function (this: typeof handle) {
      const what = (await this.stat()).isDirectory() ? "directory" : "file";
      synced.push(`${what}, ${existsSync(file) ? "after" : "before"} the rename`);
      if (fails === what) throw Object.assign(new Error("no"), { code: "EIO" });
      await sync.call(this);
      synced.push("done");
    });
    try {
      await journal.put(entry(A));
      assert.deepEqual(synced, ["file, before the rename", "done", "directory, after the rename", "done"]);
      synced.length = 0;
      await journal.remove(A);
      assert.deepEqual(synced, ["directory, before the rename", "done"]);
      for (fails of ["file", "directory"]) await refused(journal.put(entry(B)), /cannot be written \(EIO\)$/);
      await refused(journal.remove(B), /cannot be written \(EIO\)$/);
      fails = "";
      await journal.put(entry(B, { state: "stored" }));
    } finally {
      mocked.mock.restore();
    }
    assert.deepEqual(await reopened(path), [B]);
  });

  test("a write that fails keeps the old entry, and later writes succeed", async (context) => {
    const path = freshPath();
    const journal = await FileJournal.open(path);
    await journal.put(entry(A));
    const handle = await open(path);
    await handle.close();
    const files = Object.getPrototypeOf(handle) as typeof handle;
    const full = Object.assign(new Error("full"), { code: "ENOSPC" });
    const mocked = context.mock.method(files, "sync", async function (this: typeof handle) {
      if ((await this.stat()).isFile()) throw full;
    });
    await refused(journal.put(entry(A, { state: "stored" })), /cannot be written \(ENOSPC\)$/);
    await refused(journal.put(entry(B)), /cannot be written \(ENOSPC\)$/);
    await journal.remove(C);
    assert.deepEqual(await keysOf(journal), [A]);
    mocked.mock.restore();
    assert.equal((await journal.get(A))?.state, "intent");
    await journal.put(entry(B));
    assert.deepEqual(await reopened(path), [A, B]);
    assert.ok(!readdirSync(path).some((name) => name.endsWith(".tmp")));
  });

  test("concurrent writes keep their order", async () => {
    const path = freshPath();
    const journal = await FileJournal.open(path);
    await Promise.all(Array.from({ length: 50 }, (_, i) => journal.put(entry(A, { size: i }))));
    assert.equal((await journal.get(A))?.size, 49);
  });
});
