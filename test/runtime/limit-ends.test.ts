/** Both ends of limits that no other test reaches: files of operators, near names, undeclared members. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { digestOf, readOperatorFile, readOperatorFileAsync } from "#runtime/config/operator-file.js";
import { strayVariables } from "#runtime/config/stray-variables.js";
import { scratchFolder } from "../scratch-folder.js";

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
