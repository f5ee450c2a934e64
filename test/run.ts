/**
 * Runs test files: one line for each, the whole report of each that fails, a summary and an exit code.
 *
 * The tier of a file is its folder: `test/e2e` holds the tests that install packages, start a browser, containers, nginx,
 * Redis or replicas, or cause faults that last longer than a second. All others are the tier `test`.
 *
 * A file runs in a process of its own, or, if its path begins as one of `SHARED`, in one process with other such files,
 * one after the other (batch.ts). The process group is killed when the files have ended or one has reached its time limit, so
 * neither a failed test nor a process that it started outlives it. A file fails when it used more processor time than its
 * tier allows, and when it ended without the report of at least one test.
 *
 * Each file that passed also has to declare exactly the proofs that test/requirements.tsv lists for it (proves.ts).
 *
 *     node --import tsx test/run.ts [--tier=test] [--jobs=2] [--limit=300] [--cpu=30] [--shared=BEGINNING …] [--verbose]
 *         [part of a path …]
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
 * Seconds of processor time that a file may use, by tier: about twice what the dearest file needs on two slow cores. The
 * long forms of a full run have no bound.
 */
const CPU_LIMITS: Readonly<Record<Exclude<Tier, "all">, number>> = { test: 30, e2e: 120 };

/** Beginnings of the paths of files that share processes: loading the compiler or the codecs takes most of their time. */
const SHARED = [
  "test/generator/",
  "test/page/",
  "test/requirements/",
  "test/runtime/fake-tool.",
  "test/runtime/testing.",
  "test/runtime/typed-client.",
  "test/types/",
  "test/typescript/",
  "test/wire/",
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** The files of one tier, or of all; files that are named are run whatever their tier. */
    tier: { type: "string", default: "test" },
    /** Processes that run at the same time: two more than cores, because many wait most of the time. */
    jobs: { type: "string", default: `${Math.min(availableParallelism(), 6) + 2}` },
    /** Seconds that a file may take. Bounds a hang; no test is close to it. */
    limit: { type: "string", default: FULL ? "1800" : "300" },
    /** Seconds of processor time that a file may use, in place of its tier's. */
    cpu: { type: "string" },
    /** In place of the files that usually share processes: beginnings of other paths. */
    shared: { type: "string", multiple: true, default: SHARED },
    /** Prints the report of every file. */
    verbose: { type: "boolean", default: false },
  },
});
const [processes, limit] = [Number(values.jobs), Number(values.limit)];
if (!(processes >= 1 && limit > 0 && Number(values.cpu ?? 1) > 0)) {
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

/** A line of test-events.mjs. */
interface TestEvent {
  readonly name: string;
  readonly hasPassed: boolean;
  readonly tests: number;
  readonly skipped: number;
  readonly reasons: readonly string[];
}

interface Report {
  readonly text: string;
  /** The tests and suites at the top of the process; empty if it ended before its last test. */
  readonly events: readonly TestEvent[];
  /** Seconds of processor time; undefined when the process was killed. */
  readonly cpu?: number | undefined;
  /** Undefined when the process passed. */
  readonly fault?: string;
  /** Wall and processor seconds of the files of a batch that have ended. */
  readonly ended: ReadonlyMap<string, readonly [wall: number, cpu: number]>;
}

/** Arguments of node that run test files in one process. */
interface Job {
  readonly files: readonly string[];
  readonly args: readonly string[];
}

let started = 0;

function runJob({ args }: Job): Promise<Report> {
  return new Promise((resolve) => {
    const cpuFile = join(scratch, `cpu-${started++}`);
    const linesOf = (file: string): unknown[] =>
      existsSync(file)
        ? readFileSync(file, "utf8")
            .split("\n")
            .slice(0, -1)
            .map((line) => JSON.parse(line))
        : [];
    const endedFiles = () =>
      new Map((linesOf(`${cpuFile}.files`) as [string, number, number][]).map(([name, ...s]) => [name, s]));
    const reporters = { spec: "stdout", [new URL("test-events.mjs", import.meta.url).href]: `${cpuFile}.events` };
    const reporting = Object.entries(reporters).flatMap(([reporter, destination]) => [
      `--test-reporter=${reporter}`,
      `--test-reporter-destination=${destination}`,
    ]);
    const child = spawn(process.execPath, [...reporting, ...args], {
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
    let [files, since] = [0, performance.now()];
    const timer = setInterval(() => {
      const { size } = endedFiles();
      if (size > files) [files, since] = [size, performance.now()];
      late = performance.now() - since > limit * 1000;
      if (late) killGroup(child);
    }, 500);
    // "exit" and not "close": a process that the file left behind holds its streams open.
    child.once("exit", () => killGroup(child));
    child.once("error", (error) => resolve({ text, events: [], fault: error.message, ended: new Map() }));
    child.once("close", (code, signal) => {
      clearInterval(timer);
      running.delete(child);
      const cpu = existsSync(cpuFile) ? Number(readFileSync(cpuFile, "utf8")) : undefined;
      const exit = code === null ? `ended by ${signal}` : `exit code ${code}`;
      const fault = late ? `not ended within ${limit} s` : code === 0 ? undefined : exit;
      const events = linesOf(`${cpuFile}.events`) as TestEvent[];
      resolve({ text, cpu, events, ended: endedFiles(), ...(fault !== undefined && { fault }) });
    });
  });
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    for (const child of running) killGroup(child);
    process.exit(1);
  });
}

/** Most files of one process. */
const BATCH = 8;

const files = selectFiles();
const transpiled = files.every((file) => isAbsolute(file)) ? String : await transpileTests(ROOT);

/** Files of tests run as JavaScript, one in TypeScript that is elsewhere by tsx. */
const scriptOf = (file: string): string => (isAbsolute(file) ? file : transpiled(file));

function argsOf(script: string, ...args: string[]): string[] {
  const preload = ["--import", new URL("cpu-time.mjs", import.meta.url).href];
  const loader = script.endsWith(".ts") ? ["--import", "tsx"] : ["--enable-source-maps"];
  return [...preload, ...loader, script, ...args];
}

/** Batches first: they take longest. */
function jobsOf(files: readonly string[]): Job[] {
  const isShared = (file: string) => values.shared.some((beginning) => file.startsWith(beginning));
  const shared = files.filter(isShared);
  const count = Math.ceil(shared.length / BATCH);
  const batches = Array.from({ length: count }, (_, batch) => shared.filter((_, at) => at % count === batch));
  const others = files.filter((file) => !isShared(file));
  return [...batches, ...others.map((file) => [file])].map((files) => {
    const [file, ...more] = files as [string, ...string[]];
    if (more.length === 0) return { files, args: argsOf(scriptOf(file)) };
    const scripts = files.map((file) => [file, scriptOf(file)]);
    const batch = isAbsolute(file) ? fileURLToPath(new URL("batch.ts", import.meta.url)) : transpiled("test/batch.ts");
    return { files, args: argsOf(batch, JSON.stringify(scripts)) };
  });
}

/** The outcome of a file. */
interface Outcome {
  readonly file: string;
  readonly tests: number;
  readonly skipped: number;
  readonly wall: number;
  readonly cpu: number;
  /** Undefined when the file passed. */
  readonly fault?: string | undefined;
}

function outcomesOf({ files }: Job, report: Report, wall: number): Outcome[] {
  if (files.length > 1) return files.map((file) => outcomeInBatch(file, report));
  const [file] = files as [string];
  const { cpu = 0, events } = report;
  // A process that ends before its last test has no last line.
  const done = events.at(-1)?.name === "the end" ? events.slice(0, -1) : [];
  const sum = (key: "tests" | "skipped") => done.reduce((total, event) => total + event[key], 0);
  const fault = report.fault ?? faultOf(file, done.length === 0, cpu);
  return [{ file, tests: sum("tests"), skipped: sum("skipped"), wall, cpu, fault }];
}

/** The outcome of a file by its suite in the report of its process. */
function outcomeInBatch(file: string, { events, ended, fault }: Report): Outcome {
  const { tests = 0, skipped = 0, hasPassed = false } = events.find(({ name }) => name === file) ?? {};
  const [wall, cpu] = ended.get(file) ?? [0, 0];
  // A test that ends the process leaves its file without a line, whatever the exit code.
  const found = hasPassed ? faultOf(file, tests === 0, cpu) : (fault ?? "ended without its report");
  return { file, tests, skipped, wall, cpu, fault: found };
}

/** The fault of a file whose process ended by itself with exit code 0. */
function faultOf(file: string, isEmpty: boolean, cpu: number): string | undefined {
  if (isEmpty) return "ended without a test";
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
const jobs = jobsOf(files);
let next = 0;

async function work(): Promise<void> {
  for (let job = jobs[next++]; job !== undefined; job = jobs[next++]) {
    const started = performance.now();
    const report = await runJob(job);
    const outcomes = outcomesOf(job, report, (performance.now() - started) / 1000);
    totals.cpu += report.cpu ?? 0;
    for (const reason of report.events.flatMap(({ reasons = [] }) => reasons)) {
      if (reason.startsWith("NOT TESTED: ")) notTested.add(reason.slice("NOT TESTED: ".length));
    }
    // A process can fail after its last file, at its end.
    const isFault = report.fault !== undefined && outcomes.every(({ fault }) => fault === undefined);
    for (const { file, tests, skipped, wall, cpu, fault = isFault ? report.fault : undefined } of outcomes) {
      totals.tests += tests;
      totals.skipped += skipped;
      if (fault === undefined) passed.set(scriptOf(file), file.replace(/^test\/(.*)\.test\.ts$/, "$1"));
      else failed.push(`${file}: ${fault}`);
      const counts = `${tests} tests${skipped > 0 ? `, ${skipped} skipped` : ""}`;
      const times = [wall, cpu].map((seconds) => `${seconds.toFixed(1)} s`.padStart(7)).join(" ");
      console.log(`${fault === undefined ? "✔" : "✖"} ${times}  ${file}: ${fault ?? counts}`);
    }
    if (values.verbose || report.fault !== undefined || outcomes.some(({ fault }) => fault !== undefined))
      console.log(report.text);
  }
}

console.log("   wall     cpu");
await Promise.all(Array.from({ length: processes }, work));
const sums = `${files.length} files, ${totals.tests} tests, ${totals.skipped} skipped`;
console.log(
  `${sums}, in ${((performance.now() - began) / 1000).toFixed(1)} s, ${totals.cpu.toFixed(1)} s of processor time`,
);
if (failed.length > 0) console.log(`failed:\n  ${failed.join("\n  ")}`);
const missing = new Set(["redis-server"].filter((program) => spawnSync(program, ["--version"]).error !== undefined));
const misdeclared = proofFaults(REQUIREMENTS, declaredIn(proofs, passed), missing);
if (misdeclared.length > 0)
  console.log(`proofs that differ from test/requirements.tsv:\n  ${misdeclared.join("\n  ")}`);
if (notTested.size > 0) console.log(`NOT TESTED: ${[...notTested].join("; ")}`);
process.exitCode = failed.length > 0 || misdeclared.length > 0 ? 1 : 0;
