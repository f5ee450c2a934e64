import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { type FileHandle, mkdir, mkdtemp, open, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, mock, test } from "node:test";
import { FileJournal, StorageError, type UploadEntry } from "#runtime/storage/index.js";
import { atEnd } from "../teardown.js";

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

/** A process that opens the journal, says its process id and how that went, and then keeps it. */
async function holderOf(path: string, command: string, args: readonly string[]) {
  const script = `
    import { FileJournal } from ${JSON.stringify(import.meta.resolve("#runtime/storage/index.js"))};
    const said = await FileJournal.open(process.argv[1]).then(() => "has it", ({ message }) => message);
    console.log(process.pid + " " + said);
    setInterval(() => {}, 1000);
  `;
  const child = spawn(command, [...args, "--input-type=module", "-e", script, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  atEnd(() => child.kill("SIGKILL"));
  let said = "";
  child.stdout.setEncoding("utf8");
  for await (const text of child.stdout) {
    said += text;
    if (said.includes("\n")) break;
  }
  return { said: said.trim(), pid: child.pid as number, kill };
}

/** When this process started, in ticks since boot: what a lock file once named. */
function startTicks(): string {
  try {
    return readFileSync("/proc/self/stat", "latin1").split(") ")[1]?.split(" ")[19] ?? "0";
  } catch {
    return "0";
  }
}

/** What all open files inherit from. */
async function fileHandles(): Promise<FileHandle> {
  const handle = await open(directory);
  await handle.close();
  return Object.getPrototypeOf(handle) as FileHandle;
}

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
    // Whoever can open the lock can hold it.
    for (const each of [path, `${path}.lock`]) assert.equal((await stat(each)).mode & 0o777, 0o600, each);
  });

  test("an incomplete last line is dropped, wherever it ends", async () => {
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

  test("a file damaged before its last line, and a file that is not a journal, are refused and not changed", async () => {
    const path = freshPath();
    const journal = await FileJournal.open(path);
    await journal.put(entry("a"));
    await journal.put(entry("b"));
    await journal.close();
    const bytes = await readFile(path);
    bytes[60] = (bytes[60] ?? 0) ^ 1;
    await writeFile(path, bytes);
    await refused(
      path,
      /^upload journal: is damaged in line 2: move the file to another place and keep it, because it lists uploads that were paid for$/,
    );
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
    await mkdir(`${nowhere}.lock`);
    await refused(nowhere, /cannot be locked \(EISDIR\)$/);
  });

  test("only one at a time can open it, by whatever path", async () => {
    const path = freshPath();
    const journal = await FileJournal.open(path);
    await refused(path, /is already open/);
    const link = freshPath();
    await symlink(path, link);
    await refused(link, /is already open/);
    await journal.close();
    await assert.rejects(journal.put(entry("late")), /is closed/);
    // The lock belongs to an open file of a process: the content of the lock file means nothing.
    for (const text of ["", "2147483646 7\n", `${process.pid} ${startTicks()} 0\n`]) {
      await writeFile(`${path}.lock`, text);
      assert.deepEqual(await reopened(path), []);
    }
  });

  test("of several that open it at once, one succeeds", async () => {
    for (let round = 0; round < 20; round++) {
      const path = freshPath();
      const opened = await Promise.allSettled(Array.from({ length: 4 }, () => FileJournal.open(path)));
      const journals = opened.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
      assert.equal(journals.length, 1, `round ${round}`);
      await journals[0]?.close();
    }
  });

  test("a refused journal releases its lock", async () => {
    const path = freshPath();
    await writeFile(path, "a note");
    await refused(path, /is not an upload journal$/);
    await rm(path);
    assert.deepEqual(await reopened(path), []);
  });

  test("a stopped process keeps the lock; a killed one loses it at once", async () => {
    const path = freshPath();
    const holder = await holderOf(path, process.execPath, []);
    try {
      process.kill(holder.pid, "SIGSTOP");
      await refused(path, /is already open/);
    } finally {
      await holder.kill();
    }
    assert.deepEqual(await reopened(path), []);
  });

  test("of two containers on one volume, both with process id 1, only one can open it", async (context) => {
    const unshare = ["--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"];
    const { error, status, stderr } = spawnSync("unshare", [...unshare, "true"], { encoding: "utf8" });
    if (error !== undefined || status !== 0) {
      context.skip(`NOT TESTED: a process namespace cannot be made here: ${error?.message ?? stderr.trim()}`);
      return;
    }
    const path = freshPath();
    const first = await holderOf(path, "unshare", [...unshare, process.execPath]);
    try {
      assert.equal(first.said, "1 has it");
      const second = await holderOf(path, "unshare", [...unshare, process.execPath]);
      await second.kill();
      assert.match(second.said, /^1 upload journal: is already open/);
    } finally {
      await first.kill();
    }
  });

  test("a write resolves when it is on disk", async () => {
    const path = freshPath();
    const journal = await FileJournal.open(path);
    const files = await fileHandles();
    const { datasync } = files;
    let onSync: () => Promise<void> = async () => {};
    const calls: string[] = [];
    const mocked = mock.method(files, "datasync", async function (this: FileHandle) {
      calls.push(await readFile(path, "utf8"));
      await onSync();
      await datasync.call(this);
    });
    try {
      for (const write of [() => journal.put(entry("a")), () => journal.remove("a")]) {
        let release = () => {};
        const reached = new Promise<void>((resolve) => {
          onSync = () => {
            resolve();
            return new Promise((go) => {
              release = go;
            });
          };
        });
        let done = false;
        const written = write().then(() => {
          done = true;
        });
        await Promise.race([reached, written]);
        assert.equal(done, false, "resolved without the disk's word");
        release();
        await written;
      }
      // Both lines were in the file when the disk was asked.
      assert.deepEqual(
        calls.map((text) => text.split("\n").length - 1),
        [2, 3],
      );
      onSync = () => Promise.reject(Object.assign(new Error("no"), { code: "EIO" }));
      await assert.rejects(journal.put(entry("b")), /cannot be written \(EIO\)/);
    } finally {
      mocked.mock.restore();
      await journal.close();
    }
    assert.deepEqual(await reopened(path), []);
  });

  test("a rewritten file is synced before it replaces the old one, and the folder afterwards", async () => {
    const path = freshPath();
    const files = await fileHandles();
    const { sync } = files;
    const synced: string[] = [];
    const mocked = mock.method(files, "sync", async function (this: FileHandle) {
      const what = (await this.stat()).isDirectory() ? "directory" : "file";
      synced.push(`${what}, ${existsSync(`${path}.next`) ? "before" : "after"} the rename`);
      await sync.call(this);
    });
    try {
      const journal = await FileJournal.open(path);
      const padding = randomBytes(400_000).toString("hex");
      for (let i = 0; i < 4; i++) await journal.put(entry("k", { blobId: `${i}${padding}` }));
      await journal.close();
    } finally {
      mocked.mock.restore();
    }
    assert.deepEqual(synced, ["directory, after the rename", "file, before the rename", "directory, after the rename"]);
    assert.equal((await reopened(path)).length, 1);
  });

  test("outdated lines are dropped above 1 MiB; current lines never are", async () => {
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
