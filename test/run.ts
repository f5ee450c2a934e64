/**
 * Runs test files: one line for each, the whole report of each that fails, a summary and an exit code.
 *
 * The tier of a file is its folder: `test/e2e` holds the tests that install packages, start a browser, containers, nginx,
 * Redis or replicas, or cause faults that last longer than a second. All others are the tier `test`.
 *
 * A file runs in a process group of its own. The group is killed when the file has ended or has reached its time limit,
 * so neither a failed test nor a process that it started outlives it. A file fails when it used more processor time than
 * its tier allows, and when it ended without the report of at least one test.
 *
 * Each file that passed also has to declare exactly the proofs that test/requirements.tsv lists for it (proves.ts).
 *
 *     node --import tsx test/run.ts [--tier=test] [--jobs=2] [--limit=300] [--cpu=30] [--verbose] [part of a path …]
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { proofFaults } from "./manifest.js";
import { declaredIn } from "./proves.js";
import { REQUIREMENTS } from "./requirements.js";
import { transpileTests } from "./transpile.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FULL = process.env.SVC_TEST_FULL === "1";

const TIERS = ["test", "e2e", "all"] as const;
type Tier = (typeof TIERS)[number];
/**
 * Seconds of processor time that a file may use, by tier: several times what the dearest file needs, so that a slow machine
 * fails none. The long forms of a full run have no bound.
 */
const CPU_LIMITS: Readonly<Record<Exclude<Tier, "all">, number>> = { test: 30, e2e: 120 };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** The files of one tier, or of all; files that are named are run whatever their tier. */
    tier: { type: "string", default: "test" },
    /** Files that run at the same time: two more than cores, because many wait most of the time. */
    jobs: { type: "string", default: `${Math.min(availableParallelism(), 6) + 2}` },
    /** Seconds that a file may take. Bounds a hang; no test is close to it. */
    limit: { type: "string", default: FULL ? "1800" : "300" },
    /** Seconds of processor time that a file may use, in place of its tier's. */
    cpu: { type: "string" },
    /** Prints the report of every file. */
    verbose: { type: "boolean", default: false },
  },
});
const [jobs, limit] = [Number(values.jobs), Number(values.limit)];
if (!(jobs >= 1 && limit > 0 && Number(values.cpu ?? 1) > 0)) {
  throw new RangeError("--jobs, --limit and --cpu: expected positive numbers");
}
const tier = TIERS.find((name) => name === values.tier);
if (tier === undefined) throw new RangeError(`--tier: expected one of ${TIERS.join(", ")}`);

const tierOf = (path: string): Exclude<Tier, "all"> => (path.startsWith("test/e2e/") ? "e2e" : "test");

function cpuLimitOf(path: string): number {
  if (values.cpu !== undefined) return Number(values.cpu);
  return FULL ? Number.POSITIVE_INFINITY : CPU_LIMITS[tierOf(path)];
}

/** The environment without the settings of a server: tests set their own. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOfTests = (name: string) => /^SVC_(?:TEST_|TYPE_|WRITE_)/.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("SVC_") || isOfTests(name)));
}

/** The test files of the tier, or those that are named or whose path contains one of the given texts. */
function selectFiles(): string[] {
  const files = testFilesIn("test");
  if (positionals.length === 0) return files.filter((path) => tier === "all" || tierOf(path) === tier);
  const selected = positionals.flatMap((part) => {
    if (isAbsolute(part)) return [part];
    const found = files.filter((path) => path.includes(part));
    if (found.length === 0) throw new RangeError(`no test file has ${part} in its path`);
    return found;
  });
  return [...new Set(selected)];
}

function testFilesIn(folder: string): string[] {
  return readdirSync(ROOT + folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : testFilesIn(path);
    return path.endsWith(".test.ts") ? [path] : [];
  });
}

const scratch = mkdtempSync(join(tmpdir(), "svc-run-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));
/** The folder in which tests declare what they prove. */
const proofs = join(scratch, "proofs");
mkdirSync(proofs);

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
  /** Seconds of processor time; undefined when the process was killed. */
  readonly cpu?: number | undefined;
  /** Undefined when the file passed. */
  readonly fault?: string;
}

/** What node runs for a test file, and how. */
interface Script {
  readonly path: string;
  readonly options: readonly string[];
}

let started = 0;

function runFile({ path, options }: Script): Promise<Report> {
  return new Promise((resolve) => {
    const cpuFile = join(scratch, `cpu-${started++}`);
    const child = spawn(process.execPath, [...options, "--test-reporter=spec", path], {
      cwd: ROOT,
      // What svc-gen dev keeps of a project is not put into the home folder.
      env: {
        ...withoutSettings(process.env),
        XDG_STATE_HOME: join(scratch, "state"),
        TEST_PROOFS: proofs,
        TEST_CPU: cpuFile,
        TEST_CPU_PID: undefined,
      },
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
      const cpu = existsSync(cpuFile) ? Number(readFileSync(cpuFile, "utf8")) : undefined;
      const ended = code === null ? `ended by ${signal}` : `exit code ${code}`;
      if (late) resolve({ text, fault: `not ended within ${limit} s` });
      else resolve(code === 0 ? { text, cpu } : { text, cpu, fault: ended });
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

/** Files of tests run as JavaScript, one in TypeScript that is elsewhere by tsx. */
function scriptOf(file: string): Script {
  const preload = ["--import", new URL("cpu-time.mjs", import.meta.url).href];
  if (!isAbsolute(file)) return { path: transpiled(file), options: [...preload, "--enable-source-maps"] };
  return { path: file, options: file.endsWith(".ts") ? [...preload, "--import", "tsx"] : preload };
}

/** What is wrong with a file that ended by itself with exit code 0. */
function faultOf(file: string, { text, cpu = 0 }: Report): string | undefined {
  // The report is written when the last test has ended: a process that ends before has none.
  // A skipped suite counts no tests, and its line begins with the mark of what is skipped.
  if (countOf("tests", text) === 0 && !/^﹣ /m.test(text)) return "ended without a test";
  const allowed = cpuLimitOf(file);
  return cpu > allowed ? `${cpu.toFixed(1)} s of processor time, and ${allowed} s are allowed` : undefined;
}

/** Files that passed, by script. */
const passed = new Map<string, string>();
const failed: string[] = [];
const totals = { tests: 0, skipped: 0, cpu: 0 };
/** Reasons of skipped tests: programs that this machine does not have. */
const notTested = new Set<string>();
const began = performance.now();
const secondsSince = (time: number) => `${((performance.now() - time) / 1000).toFixed(1)} s`;
let next = 0;

async function work(): Promise<void> {
  for (let file = files[next++]; file !== undefined; file = files[next++]) {
    const started = performance.now();
    const script = scriptOf(file);
    const report = await runFile(script);
    const { text, cpu = 0 } = report;
    const fault = report.fault ?? faultOf(file, report);
    const [tests, skipped] = [countOf("tests", text), countOf("skipped", text)];
    totals.tests += tests;
    totals.skipped += skipped;
    totals.cpu += cpu;
    for (const [, reason = ""] of text.matchAll(/# NOT TESTED: (.*)$/gm)) notTested.add(reason);
    if (fault === undefined) passed.set(script.path, file.replace(/^test\/(.*)\.test\.ts$/, "$1"));
    else failed.push(`${file}: ${fault}`);
    const counts = `${tests} tests${skipped > 0 ? `, ${skipped} skipped` : ""}`;
    const times = `${secondsSince(started).padStart(7)} ${`${cpu.toFixed(1)} s`.padStart(7)}`;
    console.log(`${fault === undefined ? "✔" : "✖"} ${times}  ${file}: ${fault ?? counts}`);
    if (fault !== undefined || values.verbose) console.log(text);
  }
}

console.log("   wall     cpu");
await Promise.all(Array.from({ length: jobs }, work));
const sums = `${files.length} files, ${totals.tests} tests, ${totals.skipped} skipped`;
console.log(`${sums}, in ${secondsSince(began)}, ${totals.cpu.toFixed(1)} s of processor time`);
if (failed.length > 0) console.log(`failed:\n  ${failed.join("\n  ")}`);
const missing = new Set(["redis-server"].filter((program) => spawnSync(program, ["--version"]).error !== undefined));
const misdeclared = proofFaults(REQUIREMENTS, declaredIn(proofs, passed), missing);
if (misdeclared.length > 0)
  console.log(`proofs that differ from test/requirements.tsv:\n  ${misdeclared.join("\n  ")}`);
if (notTested.size > 0) console.log(`NOT TESTED: ${[...notTested].join("; ")}`);
process.exitCode = failed.length > 0 || misdeclared.length > 0 ? 1 : 0;
