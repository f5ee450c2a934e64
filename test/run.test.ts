/** The runner of these tests: it ends whatever a file does, and so do the processes of the file. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { until } from "./runtime/tools.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "svc-run-"));
after(() => rmSync(directory, { recursive: true, force: true }));

function run(name: string, source: string, ...options: string[]) {
  const file = join(directory, name);
  writeFileSync(file, `import { test } from "node:test";\n${source}`);
  return spawnSync(process.execPath, ["--import", "tsx", "test/run.ts", ...options, file], {
    cwd: ROOT,
    encoding: "utf8",
  });
}

test("a file that passes has one line, and the exit code is 0", () => {
  const { status, stdout } = run("passes.test.ts", 'test("one", () => {}); test("two", () => {});');
  assert.match(stdout, /^✔ +[\d.]+ s {2}.*passes\.test\.ts: 2 tests\n1 files, 2 tests, 0 skipped, in [\d.]+ s\n$/);
  assert.equal(status, 0);
});

test("a file that fails has its whole report, and the exit code is 1", () => {
  const { status, stdout } = run("fails.test.ts", 'test("one", () => { throw new Error("wanted 1, got 2"); });');
  assert.match(stdout, /^✖ +[\d.]+ s {2}.*fails\.test\.ts: exit code 1\n/);
  assert.match(stdout, /wanted 1, got 2/);
  assert.equal(status, 1);
});

test("a file without tests is a failure: it proves nothing", () => {
  assert.equal(run("empty.test.ts", "test;").status, 1);
});

test("a file that does not end is ended at its limit, with the processes that it started", async () => {
  const noted = join(directory, "pid");
  const { status, stdout } = run(
    "hangs.test.ts",
    `import { spawn } from "node:child_process";
    import { writeFileSync } from "node:fs";
    const args = ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"];
    const { pid } = spawn(process.execPath, args, { stdio: "inherit" });
    writeFileSync(${JSON.stringify(noted)}, String(pid));
    test("fails", () => { throw new Error("no"); });`,
    "--limit=4",
  );
  assert.match(stdout, /hangs\.test\.ts: not ended within 4 s\n/);
  assert.equal(status, 1);
  // On a machine that is too slow for it, the process was never started.
  if (!existsSync(noted)) return;
  const pid = Number(readFileSync(noted, "utf8"));
  await until(() => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  }, "the process is gone");
});

test("what is given as proven and no test declared is listed where proofs are asked for, and the exit code is 1", () => {
  const proves = JSON.stringify(new URL("proves.ts", import.meta.url).href);
  const source = `import { proves } from ${proves}; test("one", () => proves("1.1", "1.2"));`;
  const { status, stdout } = run("proves.test.ts", source, "--proofs");
  assert.match(stdout, /^✔ .*\n1 files, .*\ngiven as proven, declared by no test:\n {2}1\.3 \| domain strings .*\n/);
  assert.equal(status, 1);
  assert.equal(run("proves.test.ts", source).status, 0);
});

test("a file that failed declares nothing, and is all that a run with it has to say", () => {
  const { status, stdout } = run("fails.test.ts", 'test("one", () => { throw new Error("no"); });', "--proofs");
  assert.match(stdout, /failed:\n {2}.*fails\.test\.ts: exit code 1\n$/);
  assert.equal(status, 1);
});

test("a selection that selects nothing is an error", () => {
  const args = ["--import", "tsx", "test/run.ts", "no-such-file"];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
  assert.equal(status, 1);
  assert.match(stderr, /no test file has no-such-file in its path/);
});
