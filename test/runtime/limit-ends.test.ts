/** Both ends of limits that no other test reaches: files of operators, near names, undeclared members. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Contract } from "#client/wire/codec/contract.js";
import { digestOf, readOperatorFile, readOperatorFileAsync } from "#runtime/config/operator-file.js";
import { strayVariables } from "#runtime/config/stray-variables.js";
import { undeclaredNotice } from "#runtime/server/call/run/undeclared-notice.js";
import { undeclaredMembers } from "#runtime/server/wire/undeclared.js";
import { scratchFolder } from "../scratch-folder.js";
import { many, one } from "./counting-tool.js";

test("an operator's file may have 16 MiB; a larger one is not read", async (t) => {
  const directory = scratchFolder();
  const path = join(directory, "config.json");
  writeFileSync(path, "", { mode: 0o600 });
  const faultOf = (bytes: number) => {
    truncateSync(path, bytes);
    const reading = readOperatorFile(path);
    return "fault" in reading ? reading.fault : undefined;
  };
  assert.equal(faultOf(16_777_216), undefined);
  assert.match(faultOf(16_777_217) ?? "", /^must be at most 16 MiB/);
  const file = await open(path);
  const read = t.mock.method(Object.getPrototypeOf(file) as typeof file, "readFile");
  await file.close();
  for (const bytes of [16_777_217, 500_000_000]) {
    truncateSync(path, bytes);
    const reading = await readOperatorFileAsync(path);
    assert.match("fault" in reading ? reading.fault : "", /^must be at most 16 MiB/);
  }
  assert.equal(read.mock.callCount(), 0, "nothing is read");
  truncateSync(path, 300_000);
  const reading = await readOperatorFileAsync(path);
  assert.ok("bytes" in reading && reading.bytes.length === 300_000);
  assert.equal(reading.digest, digestOf(Buffer.alloc(300_000)));
});

test("a pipe instead of a file is refused without waiting for a writer", {
  skip: process.platform === "win32",
}, () => {
  const directory = scratchFolder();
  const path = join(directory, "config.json");
  execFileSync("mkfifo", [path]);
  const module = new URL("../../runtime/dist/config/operator-file.js", import.meta.url).href;
  const code = `import { readOperatorFile, readOperatorFileAsync } from ${JSON.stringify(module)};
      const path = ${JSON.stringify(path)};
      console.log(readOperatorFile(path).fault, (await readOperatorFileAsync(path)).fault);`;
  const args = ["--input-type=module", "-e", code];
  const { stdout, signal } = spawnSync(process.execPath, args, { timeout: 20_000, encoding: "utf8" });
  assert.equal(signal, null, "the process waits for a writer");
  assert.deepEqual(stdout.match(/must be a readable file, got a directory or a special file/g)?.length, 2, stdout);
});

test("every documented variable of the shared replay store is known", () => {
  const names: string[] = readFileSync("docs/settings.md", "utf8").match(/SVC_REPLAY_REDIS_[A-Z_]+/g) ?? [];
  assert.ok(new Set(names).size >= 8 && names.includes("SVC_REPLAY_REDIS_GRACE_MS"));
  assert.deepEqual(strayVariables(Object.fromEntries(names.map((name) => [name, ""]))), []);
});

test("ten undeclared members are reported, from the first thousand values", () => {
  const contract = { input: [many("list")] } as unknown as Contract;
  const namesIn = (body: object) => undeclaredMembers(contract, Buffer.from(JSON.stringify(body))).length;
  const others = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`other${i}`, 1]));
  assert.deepEqual([namesIn(others(9)), namesIn(others(10)), namesIn(others(11))], [9, 10, 10]);
  // The list itself is one, its items follow, then the other member.
  const list = (length: number) => ({ list: new Array<number>(length).fill(1), other: 1 });
  assert.deepEqual([namesIn(list(998)), namesIn(list(999))], [1, 0]);
});

test("undeclared members are searched once a second, in bodies up to 64 KiB, until 20 positions are logged", (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const lines: unknown[] = [];
  const silent = () => {};
  const log = {
    debug: silent,
    info: silent,
    warn: (fields: object | string) => void lines.push(fields),
    error: silent,
  };
  const look = (notice: ReturnType<typeof undeclaredNotice>, body: object, bytes = 0) => {
    lines.length = 0;
    notice({ body: Buffer.from(JSON.stringify(body).padEnd(bytes)) }, log);
    return lines.length;
  };
  const empty = { input: [] } as unknown as Contract;
  const large = undeclaredNotice(empty);
  assert.deepEqual([look(large, { other: 1 }, 65_537), look(large, { other: 1 }, 65_536)], [0, 1]);

  // Each port has a misspelt name of its own: so many places.
  const ports = Array.from({ length: 30 }, (_, i) => `${String.fromCharCode(97 + i)}`.repeat(8));
  const notice = undeclaredNotice({ input: ports.map((name) => one(name)) } as unknown as Contract);
  const misspelt = (from: number) =>
    Object.fromEntries(ports.slice(from, from + 9).map((name) => [`${name.slice(1)}_`, 1]));
  assert.equal(look(notice, misspelt(0)), 9);
  now = 999;
  assert.equal(look(notice, misspelt(9)), 0);
  now = 1_000;
  assert.equal(look(notice, misspelt(9)), 9);
  now = 2_000;
  assert.equal(look(notice, misspelt(18)), 2);
});
