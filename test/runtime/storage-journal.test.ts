import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { FileJournal, StorageError, type UploadEntry } from "#runtime/storage/index.js";

let directory: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), "svc-journal-"));
});
after(() => rm(directory, { recursive: true, force: true }));

let files = 0;
const freshPath = () => join(directory, `${files++}.journal`);

const entry = (key: string, change: Partial<UploadEntry> = {}): UploadEntry => ({
  key,
  state: "intent",
  sha256: "0".repeat(64),
  size: 7,
  epochs: 1,
  startedAt: 1_700_000_000_000,
  ...change,
});

const refused = (path: string, message: RegExp) =>
  assert.rejects(FileJournal.open(path), (error: unknown) => {
    assert.ok(error instanceof StorageError);
    assert.equal(error.code, "journal_failed");
    assert.match(error.message, message);
    return true;
  });

async function reopened(path: string): Promise<readonly UploadEntry[]> {
  const journal = await FileJournal.open(path);
  const entries = await journal.list();
  await journal.close();
  return entries;
}

describe("upload journal", () => {
  test("keeps the last entry of each key over a restart", async () => {
    const path = freshPath();
    const journal = await FileJournal.open(path);
    await journal.put(entry("a"));
    await journal.put(entry("b"));
    await journal.put(entry("a", { state: "stored", blobId: "x" }));
    await journal.put(entry("c"));
    await journal.remove("b");
    await journal.remove("unknown");
    assert.deepEqual(await journal.get("a"), entry("a", { state: "stored", blobId: "x" }));
    assert.equal(await journal.get("b"), undefined);
    await journal.close();
    assert.deepEqual(await reopened(path), [entry("a", { state: "stored", blobId: "x" }), entry("c")]);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  });

  test("a torn last line is dropped, wherever it was torn", async () => {
    const path = freshPath();
    const journal = await FileJournal.open(path);
    await journal.put(entry("kept"));
    const whole = (await readFile(path)).length;
    await journal.put(entry("torn"));
    await journal.close();
    const bytes = await readFile(path);
    // All around the borders of lines, some in between.
    for (let length = 0; length < bytes.length; length++) {
      if (length % 17 !== 0 && [0, 29, whole, bytes.length].every((at) => Math.abs(length - at) > 2)) continue;
      await writeFile(path, bytes.subarray(0, length));
      const again = await FileJournal.open(path);
      const keys = (await again.list()).map(({ key }) => key);
      assert.deepEqual(keys, length >= whole ? ["kept"] : [], `cut at ${length}`);
      // What is written next is found again.
      await again.put(entry("next"));
      await again.close();
      assert.ok(
        (await reopened(path)).some(({ key }) => key === "next"),
        `cut at ${length}`,
      );
    }
    // A last line that is whole and wrong is torn as well: blocks may reach the disk in any order.
    await writeFile(path, Buffer.concat([bytes.subarray(0, -3), Buffer.from("?}\n")]));
    assert.deepEqual(
      (await reopened(path)).map(({ key }) => key),
      ["kept"],
    );
  });

  test("damage before the last line, and another file, are refused and not touched", async () => {
    const path = freshPath();
    const journal = await FileJournal.open(path);
    await journal.put(entry("a"));
    await journal.put(entry("b"));
    await journal.close();
    const bytes = await readFile(path);
    bytes[60] = (bytes[60] ?? 0) ^ 1;
    await writeFile(path, bytes);
    await refused(path, /^upload journal: is damaged in line 2: move it away and keep it$/);
    assert.deepEqual(await readFile(path), bytes);
    const other = freshPath();
    for (const text of ["a note", "a much longer note about something else entirely\n"]) {
      await writeFile(other, text);
      await refused(other, /is not an upload journal$/);
      assert.equal(await readFile(other, "utf8"), text);
    }
    await refused(join(directory, "missing", "journal"), /its directory cannot be found \(ENOENT\)/);
    await refused(directory, /cannot be opened \(EISDIR\)/);
    const nowhere = freshPath();
    await symlink(join(directory, "nowhere"), `${nowhere}.lock`);
    await refused(nowhere, /cannot be locked$/);
  });

  test("one at a time has it open, by whatever name; a lock whose process is gone is taken over", async () => {
    const path = freshPath();
    const journal = await FileJournal.open(path);
    await refused(path, /is open already/);
    const link = freshPath();
    await symlink(path, link);
    await refused(link, /is open already/);
    await journal.close();
    await assert.rejects(journal.put(entry("late")), /is closed/);
    for (const holder of ["", "2147483646 7\n", `${process.pid} 1\n`]) {
      await writeFile(`${path}.lock`, holder);
      // An empty one may be about to be written.
      if (holder === "") await utimes(`${path}.lock`, 0, Date.now() / 1000 - 60);
      assert.deepEqual(await reopened(path), []);
    }
    // One that took it over ended before it had it.
    await writeFile(`${path}.lock`, "2147483646 7\n");
    await writeFile(`${path}.lock.next`, "2147483645 7\n");
    assert.deepEqual(await reopened(path), []);
  });

  test("of several that find a stale lock at once, one opens the journal", async () => {
    for (let round = 0; round < 80; round++) {
      const path = freshPath();
      await writeFile(`${path}.lock`, "2147483646 7\n");
      const opened = await Promise.allSettled(Array.from({ length: 4 }, () => FileJournal.open(path)));
      const journals = opened.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
      assert.equal(journals.length, 1, `round ${round}`);
      assert.deepEqual(await readdir(directory).then((names) => names.filter((name) => name.endsWith(".next"))), []);
      await journals[0]?.close();
    }
  });

  test("dead lines are dropped when they are more than 1 MiB; nothing live is", async () => {
    const path = freshPath();
    const journal = await FileJournal.open(path);
    const padding = randomBytes(30_000).toString("hex");
    await journal.put(entry("live"));
    for (let i = 0; i < 40; i++) await journal.put(entry(`k${i % 4}`, { blobId: `${i}${padding}` }));
    const { size } = await stat(path);
    assert.ok(size < 1_700_000, `${size}`);
    await journal.close();
    const entries = await reopened(path);
    assert.deepEqual(entries.map(({ key }) => key).sort(), ["k0", "k1", "k2", "k3", "live"]);
    assert.equal(entries.find(({ key }) => key === "k3")?.blobId, `39${padding}`);
  });

  test("concurrent writes keep their order", async () => {
    const path = freshPath();
    const journal = await FileJournal.open(path);
    await Promise.all(Array.from({ length: 50 }, (_, i) => journal.put(entry("k", { size: i }))));
    await journal.close();
    assert.equal((await reopened(path))[0]?.size, 49);
  });
});
