/**
 * Runs test files: one line for each, the whole report of each that fails, a summary and an exit code.
 *
 * A file runs in a process group of its own. The group is killed when the file has ended or has reached its time limit,
 * so neither a failed test nor a process that it started outlives it.
 *
 * A run of all files that passed also has to prove what test/requirements.ts gives as proven: every such sentence was
 * declared by a test (proves.ts).
 *
 *     node --import tsx test/run.ts [--jobs=2] [--limit=300] [--verbose] [--proofs] [part of a path …]
 */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { proofFaults } from "./manifest.js";
import { declaredIn } from "./proves.js";
import { REQUIREMENTS } from "./requirements.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Files that run at the same time: one more than cores, because some wait most of the time. */
    jobs: { type: "string", default: `${Math.min(availableParallelism(), 7) + 1}` },
    /** Seconds that a file may take. Bounds a hang; no test is close to it. */
    limit: { type: "string", default: process.env.SVC_TEST_FULL === "1" ? "1800" : "300" },
    /** Prints the report of every file. */
    verbose: { type: "boolean", default: false },
    /** Asks for the proofs after a run of some files too. */
    proofs: { type: "boolean", default: false },
  },
});
const [jobs, limit] = [Number(values.jobs), Number(values.limit)];
if (!(jobs >= 1 && limit > 0)) throw new RangeError("--jobs and --limit: expected positive numbers");

/** All test files, or those that are named or whose path contains one of the given texts. */
function selectFiles(): string[] {
  const files = ["test", ...readdirSync(`${ROOT}test`, { withFileTypes: true }).flatMap(folderOf)]
    .flatMap((folder) => readdirSync(ROOT + folder).map((name) => `${folder}/${name}`))
    .filter((path) => path.endsWith(".test.ts"));
  if (positionals.length === 0) return files;
  const selected = positionals.flatMap((part) => {
    if (isAbsolute(part)) return [part];
    const found = files.filter((path) => path.includes(part));
    if (found.length === 0) throw new RangeError(`no test file has ${part} in its path`);
    return found;
  });
  return [...new Set(selected)];
}

function folderOf(entry: { name: string; isDirectory(): boolean }): string[] {
  return entry.isDirectory() ? [`test/${entry.name}`] : [];
}

/** Where tests declare what they prove. */
const proofs = mkdtempSync(join(tmpdir(), "svc-proofs-"));
process.once("exit", () => rmSync(proofs, { recursive: true, force: true }));

const running = new Set<ChildProcess>();

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

interface Report {
  readonly text: string;
  /** Undefined when the file passed. */
  readonly fault?: string;
}

function runFile(file: string): Promise<Report> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["--import", "tsx", "--test-reporter=spec", file], {
      cwd: ROOT,
      env: { ...process.env, SVC_PROOFS: proofs },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    running.add(child);
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
    }
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      killGroup(child);
    }, limit * 1000);
    // "exit" and not "close": a process that the file left behind holds its streams open.
    child.once("exit", () => killGroup(child));
    child.once("error", (error) => resolve({ text, fault: error.message }));
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      running.delete(child);
      const ended = code === null ? `ended by ${signal}` : `exit code ${code}`;
      if (late) resolve({ text, fault: `not ended within ${limit} s` });
      else resolve(code === 0 ? { text } : { text, fault: ended });
    });
  });
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    for (const child of running) killGroup(child);
    process.exit(1);
  });
}

/** A count of the closing lines of a report, such as `ℹ tests 12`. */
const countOf = (what: string, text: string): number =>
  Number(new RegExp(`^ℹ ${what} (\\d+)$`, "m").exec(text)?.[1] ?? 0);

const files = selectFiles();
const passed = new Set<string>();
const failed: string[] = [];
const totals = { tests: 0, skipped: 0 };
const began = performance.now();
const secondsSince = (time: number) => `${((performance.now() - time) / 1000).toFixed(1)} s`;
let next = 0;

async function work(): Promise<void> {
  for (let file = files[next++]; file !== undefined; file = files[next++]) {
    const started = performance.now();
    const { text, fault } = await runFile(file);
    const [tests, skipped] = [countOf("tests", text), countOf("skipped", text)];
    totals.tests += tests;
    totals.skipped += skipped;
    if (fault === undefined) passed.add(resolve(ROOT, file));
    else failed.push(`${file}: ${fault}`);
    const counts = `${tests} tests${skipped > 0 ? `, ${skipped} skipped` : ""}`;
    console.log(`${fault === undefined ? "✔" : "✖"} ${secondsSince(started).padStart(7)}  ${file}: ${fault ?? counts}`);
    if (fault !== undefined || values.verbose) console.log(text);
  }
}

await Promise.all(Array.from({ length: jobs }, work));
console.log(`${files.length} files, ${totals.tests} tests, ${totals.skipped} skipped, in ${secondsSince(began)}`);
if (failed.length > 0) console.log(`failed:\n  ${failed.join("\n  ")}`);
const asked = failed.length === 0 && (values.proofs || positionals.length === 0);
const unproven = asked ? proofFaults(REQUIREMENTS, declaredIn(proofs, passed)) : [];
if (unproven.length > 0) console.log(`given as proven, declared by no test:\n  ${unproven.join("\n  ")}`);
// A file without a report counts as a failure above; a run without tests would be no proof of anything.
process.exitCode = failed.length > 0 || unproven.length > 0 || totals.tests === 0 ? 1 : 0;
