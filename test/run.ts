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

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { proofFaults } from "./manifest.js";
import { declaredIn } from "./proves.js";
import { REQUIREMENTS } from "./requirements.js";
import { transpileTests } from "./transpile.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Files that run at the same time: two more than cores, because many wait most of the time. */
    jobs: { type: "string", default: `${Math.min(availableParallelism(), 6) + 2}` },
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

/** The environment without the settings of a server: tests set their own. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOfTests = (name: string) => /^SVC_(?:TEST_|TYPE_|WRITE_)/.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("SVC_") || isOfTests(name)));
}

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

/** What node runs for a test file, and how. */
interface Script {
  readonly path: string;
  readonly options: readonly string[];
}

function runFile({ path, options }: Script, slot: number): Promise<Report> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...options, "--test-reporter=spec", path], {
      cwd: ROOT,
      env: { ...withoutSettings(process.env), TEST_PROOFS: proofs, TEST_SLOT: `${process.pid + slot}` },
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
const transpiled = files.every((file) => isAbsolute(file)) ? String : await transpileTests(ROOT);

/** Files of tests run as JavaScript, one that is elsewhere by tsx. */
function scriptOf(file: string): Script {
  if (isAbsolute(file)) return { path: file, options: ["--import", "tsx"] };
  return { path: transpiled(file), options: ["--enable-source-maps"] };
}

const passed = new Set<string>();
const failed: string[] = [];
const totals = { tests: 0, skipped: 0 };
/** What a program of the system was missing for, as the skipped tests say it. */
const notTested = new Set<string>();
const began = performance.now();
const secondsSince = (time: number) => `${((performance.now() - time) / 1000).toFixed(1)} s`;
let next = 0;

async function work(slot: number): Promise<void> {
  for (let file = files[next++]; file !== undefined; file = files[next++]) {
    const started = performance.now();
    const script = scriptOf(file);
    const { text, fault } = await runFile(script, slot);
    const [tests, skipped] = [countOf("tests", text), countOf("skipped", text)];
    totals.tests += tests;
    totals.skipped += skipped;
    for (const [, reason = ""] of text.matchAll(/# (NOT TESTED: .*)$/gm)) notTested.add(reason);
    if (fault === undefined) passed.add(script.path);
    else failed.push(`${file}: ${fault}`);
    const counts = `${tests} tests${skipped > 0 ? `, ${skipped} skipped` : ""}`;
    console.log(`${fault === undefined ? "✔" : "✖"} ${secondsSince(started).padStart(7)}  ${file}: ${fault ?? counts}`);
    if (fault !== undefined || values.verbose) console.log(text);
  }
}

await Promise.all(Array.from({ length: jobs }, (_, slot) => work(slot)));
console.log(`${files.length} files, ${totals.tests} tests, ${totals.skipped} skipped, in ${secondsSince(began)}`);
for (const reason of notTested) console.log(reason);
if (failed.length > 0) console.log(`failed:\n  ${failed.join("\n  ")}`);
const asked = failed.length === 0 && (values.proofs || positionals.length === 0);
const missing = new Set(["redis-server"].filter((program) => spawnSync(program, ["--version"]).error !== undefined));
for (const program of missing) console.log(`NOT TESTED: what needs ${program}, which is not installed`);
const unproven = asked ? proofFaults(REQUIREMENTS, declaredIn(proofs, passed), missing) : [];
if (unproven.length > 0) console.log(`given as proven, declared by no test:\n  ${unproven.join("\n  ")}`);
// A file without a report counts as a failure above; a run without tests would be no proof of anything.
process.exitCode = failed.length > 0 || unproven.length > 0 || totals.tests === 0 ? 1 : 0;
