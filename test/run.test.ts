/** The runner of these tests: it ends whatever a file does, and so do the processes of the file. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { scratchFolder } from "./scratch-folder.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const directory = scratchFolder();

/** The runner: in a run of all tests as JavaScript, since tsx takes half a second at every start. */
const RUNNER = process.argv[1]?.endsWith(".js")
  ? [join(process.argv[1], "../run.js")]
  : ["--import", "tsx", "test/run.ts"];

/** Runs test files, given as sources by name. */
function run(sources: Readonly<Record<string, string>>, ...options: string[]) {
  const files = Object.entries(sources).map(([name, source]) => {
    const file = join(directory, `${name}.test.${source.includes("proves(") ? "ts" : "mjs"}`);
    writeFileSync(file, `import { test } from "node:test";\n${source}`);
    return file;
  });
  return spawnSync(process.execPath, [...RUNNER, ...options, ...files], {
    cwd: ROOT,
    encoding: "utf8",
  });
}

const ONE = 'test("one", () => {});';
const pidFile = join(directory, "pid");
/** Files that share a process. */
const SHARED = `--shared=${directory}/batch-`;
const BUSY =
  "const from = process.cpuUsage(); while (process.cpuUsage(from).user < 700_000) for (let n = 0; n < 1e6; n++);";

/** All in one run: each line of a file says what became of it, whatever the others did. */
const mixed = run(
  {
    passes: `${ONE} test("two", () => {});`,
    fails: 'test("one", () => { throw new Error("wanted 1, got 2"); });',
    empty: "test;",
    early: `${ONE} process.exit(0);`,
    during: `${ONE} test("two", () => process.exit(0)); test("three", () => {});`,
    spawns: `import { spawnSync } from "node:child_process";
      test("one", () => { spawnSync(process.execPath, ["-e", ${JSON.stringify(BUSY)}]); });`,
    skips: ["nginx is not installed", "chromium is not installed", "nginx is not installed"]
      .map((reason) => `test("one", { skip: "NOT TESTED: ${reason}" }, () => {});`)
      .join("\n"),
    "batch-passes": `${ONE} globalThis.first = true;`,
    "batch-nested": `import { describe } from "node:test";
      describe("all", () => { test("two", (t) => t.test("sub", () => {})); test("three", { skip: true }, () => {}); });`,
    "batch-fails": 'test("one", () => { throw new Error("the first file has set " + globalThis.first); });',
    "batch-empty": "test;",
    "batch-throws": 'throw new Error("no");',
    "batch-busy": `test("one", () => { ${BUSY} });`,
    "batch-last": ONE,
    suite: `import { describe } from "node:test"; describe("all", { skip: "in full runs only" }, () => { ${ONE} });`,
  },
  "--cpu=0.6",
  SHARED,
);

/** A file that does not end, and ignores SIGTERM in a process that it starts. */
const hanging = run(
  {
    hangs: `import { spawn } from "node:child_process";
      import { writeFileSync } from "node:fs";
      const args = ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"];
      const { pid } = spawn(process.execPath, args, { stdio: "inherit" });
      writeFileSync(${JSON.stringify(pidFile)}, String(pid));
      test("fails", () => { throw new Error("no"); });`,
  },
  "--limit=3",
);

test("a file that passes has one line, with its wall and processor time", () => {
  assert.match(mixed.stdout, /\n✔ +\d+\.\d s +\d\.\d s {2}.*passes\.test\.mjs: 2 tests\n/);
  assert.equal(mixed.status, 1);
});

test("a file that fails has its whole report", () => {
  assert.match(mixed.stdout, /\n✖ +\d+\.\d s +\d\.\d s {2}.*fails\.test\.mjs: exit code 1\n/);
  assert.match(mixed.stdout, /wanted 1, got 2/);
});

for (const [name, what] of [
  ["empty", "without tests"],
  ["early", "that ends before its first test"],
  ["during", "that ends during a test"],
] as const) {
  test(`a file ${what} fails`, () => {
    assert.match(mixed.stdout, new RegExp(`\n✖ .*${name}\\.test\\.mjs: ended without a test\n`));
  });
}

test("a file that uses more processor time than allowed fails; the time of its children counts on Linux", () => {
  const over = (name: string) =>
    new RegExp(`\n✖ .*${name}\\.test\\.mjs: \\d+\\.\\d s of processor time, and 0\\.6 s are allowed\n`);
  assert.match(mixed.stdout, over("batch-busy"));
  if (process.platform === "linux") assert.match(mixed.stdout, over("spawns"));
});

test("a file whose suites are skipped passes", () => {
  assert.match(mixed.stdout, /\n✔ .*suite\.test\.mjs: 0 tests\n/);
});

test("reasons of tests that are not possible on this machine stand in one line at the end", () => {
  assert.match(mixed.stdout, /\nNOT TESTED: nginx is not installed; chromium is not installed\n$/);
});

test("the summary counts files, tests and time, and names every failed file", () => {
  assert.match(
    mixed.stdout,
    /\n15 files, \d+ tests, 4 skipped, in \d+\.\d s, \d+\.\d s of processor time\nfailed:\n(?: {2}.*\n){8,9}NOT/,
  );
});

test("a file that does not end is ended at its limit, with the processes that it started", async () => {
  assert.match(hanging.stdout, /hangs\.test\.mjs: not ended within 3 s\n/);
  // On a machine that is too slow for it, the process was never started.
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, "utf8"));
  while (isAlive(pid)) await setTimeout(10);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("files that share a process run one after the other, and each has its line, whatever the others do", () => {
  const line = (file: string) => new RegExp(`\n(.) .* {2}.*batch-${file}\\.test\\.mjs: (.*)\n`).exec(mixed.stdout);
  assert.deepEqual(
    ["passes", "nested", "fails", "empty", "throws", "last"].map((file) => line(file)?.slice(1).join(" ")),
    ["✔ 1 tests", "✔ 3 tests, 1 skipped", "✖ exit code 1", "✖ ended without a test", "✖ exit code 1", "✔ 1 tests"],
  );
  assert.match(line("busy")?.[2] ?? "", /^\d\.\d s of processor time, and 0\.6 s are allowed$/);
  assert.match(mixed.stdout, /the first file has set true/);
});

test("files of a process that ends before its last file, or fails after it, fail", () => {
  for (const [last, fault] of [
    [`${ONE} test("ends", () => process.exit(0)); test("never runs", () => {});`, "ended without its report"],
    [`${ONE} process.once("exit", () => { process.exitCode = 3; });`, "exit code 3"],
  ] as const) {
    const { stdout, status } = run({ "batch-first": ONE, "batch-last": last }, SHARED);
    assert.match(stdout, new RegExp(`\n✖ .*batch-last\\.test\\.mjs: ${fault}\n`));
    assert.equal(status, 1);
  }
});

test("declarations that the manifest does not list for the file are named", () => {
  const proves = JSON.stringify(new URL("proves.ts", import.meta.url).href);
  const source = `import { proves } from ${proves}; test("one", () => proves("1.2"));`;
  const { status, stdout } = run({ proves: source });
  assert.match(
    stdout,
    /\n✔ .*\n1 files, .*\nproofs that differ from .*:\n {2}\/.*proves\.test\.ts: declares, but is not listed for, 1\.2: .*\n$/,
  );
  assert.equal(status, 1);
});

test("declarations of a file that failed are not compared; a file without any passes", () => {
  assert.doesNotMatch(mixed.stdout, /proofs/);
  assert.equal(run({ passes: ONE }).status, 0);
});
