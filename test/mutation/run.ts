/**
 * Mutation tester: plants one fault at a time in a source file and runs the tests that should notice.
 *
 *     npm run mutants -- FILE... [--sample N] [--seed S] [--tests PART…] [--before OUTPUT]
 *
 * Works on a copy of the built repository in the temporary directory; the checkout stays untouched. A mutant that no test
 * catches is a survivor, unless equivalent.md explains it under the line that this program prints. Exit code 1 with survivors.
 *
 * The tests of a file are selected by coverage, which takes some minutes: of all tests except test/e2e, or of those whose
 * path contains one of the given texts. With `--before`, the file with the output of an earlier run, only survivors that
 * were caught then count: what a change of the tests has lost.
 */

import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { parseArgs } from "node:util";
import ts from "typescript";
import { transpileTests } from "../transpile.js";
import { builtFile, coverageOf, testsOf } from "./coverage.js";
import { mutantsOf } from "./mutants.js";

const ROOT = join(import.meta.dirname, "../..");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: "string", default: "12" },
    seed: { type: "string", default: "1" },
    tests: { type: "string", multiple: true, default: [""] },
    before: { type: "string" },
  },
});
const caughtBefore =
  values.before === undefined
    ? undefined
    : readFileSync(values.before, "utf8")
        .match(/^caught .*$/gm)
        ?.join("\n");
const explained = readFileSync(join(import.meta.dirname, "equivalent.md"), "utf8");
const options = compilerOptions();
const scratch = mkdtempSync(join(tmpdir(), "svc-mutants-"));
let running: ReturnType<typeof spawn> | undefined;
process.on("exit", () => {
  endRunning();
  rmSync(scratch, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));

copyRepository();
const scriptOf = await transpileTests(`${scratch}/`);
const tested = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts") && !/^[\w-]+\.test|node_modules/.test(name))
  .map((name) => `test/${name}`)
  .filter((name) => values.tests.some((part) => (part === "" ? !name.startsWith("test/e2e/") : name.includes(part))));
const coverage = await coverageOf(tested, scriptOf, scratch);
const limits = new Map<string, number | undefined>();
const summary: string[] = [];
for (const file of positionals) summary.push(await judge(file));
console.log(`\n${summary.join("\n")}`);

/** Plants the mutants of one file, one after the other. */
async function judge(file: string): Promise<string> {
  const tests = testsOf(builtFile(file), coverage).filter((test) => existsSync(join(scratch, test)));
  const text = readFileSync(join(ROOT, file), "utf8");
  const built = join(scratch, builtFile(file));
  const original = readFileSync(built);
  const plant = (mutated: string) =>
    writeFileSync(built, ts.transpileModule(mutated, { compilerOptions: options, fileName: file }).outputText);
  const all = mutantsOf(file, text);
  const chosen = sample(all, Number(values.sample), `${values.seed} ${file}`);
  plant(text);
  for (const test of tests) await measure(test);
  const reliable = tests.filter((test) => limits.get(test) !== undefined);
  console.log(`${file}: ${reliable.join(", ")}`);
  const count = { caught: 0, survived: 0, explained: 0 };
  for (const { start, end, replacement } of chosen) {
    const line = text.slice(0, start).split("\n").length;
    const shown = `\`${short(text.split("\n")[line - 1])}\`: \`${short(text.slice(start, end))}\` → \`${short(replacement)}\``;
    plant(text.slice(0, start) + replacement + text.slice(end));
    const catcher = await firstFailing(reliable);
    const mutant = `\`${file}\` ${shown}`;
    const verdict = catcher ? "caught" : explained.includes(mutant) ? "explained" : "survived";
    count[verdict]++;
    console.log(`${verdict}  ${file}:${line}  ${mutant}${catcher ? `  (${catcher})` : ""}`);
    // A file that was moved since is the same.
    if (verdict !== "survived" || caughtBefore?.includes(`/${basename(file)}\` ${shown}`) === false) continue;
    process.exitCode = 1;
    if (caughtBefore !== undefined) console.log("  ^ was caught before");
  }
  writeFileSync(built, original);
  const { caught, survived } = count;
  return `${file}: ${chosen.length} of ${all.length} mutants, ${caught} caught, ${count.explained} explained, ${survived} survived`;
}

async function firstFailing(tests: readonly string[]): Promise<string | undefined> {
  for (const test of tests) {
    const failure = await failureOf(test, limits.get(test) ?? 0);
    if (failure !== undefined) return `${test}: ${failure}`;
  }
  return undefined;
}

/** The time limit of a test file, from a run without a fault; none if it fails without a fault. */
async function measure(test: string): Promise<void> {
  if (limits.has(test)) return;
  const start = performance.now();
  const failure = await failureOf(test, 300_000);
  if (failure !== undefined) console.log(`${test}: left out, since it fails without a fault: ${failure}`);
  limits.set(test, failure === undefined ? 20_000 + 5 * (performance.now() - start) : undefined);
}

/** Runs a test file until its end, its first failed test or the time limit; undefined when it passes. */
function failureOf(test: string, limitMs: number): Promise<string | undefined> {
  const child = spawn(process.execPath, ["--enable-source-maps", "--test-reporter=tap", scriptOf(test)], {
    cwd: scratch,
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  running = child;
  return new Promise((resolve) => {
    let failure: string | undefined;
    const fail = (reason: string) => {
      failure ??= reason;
      endRunning();
    };
    const timer = setTimeout(() => fail("time limit"), limitMs);
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      const failed = /^ *not ok \d+ - (?!.*# (?:TODO|SKIP))(.*)\n/m.exec(output);
      if (failed !== null) fail(failed[1] ?? "");
      output = output.slice(output.lastIndexOf("\n") + 1);
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      running = undefined;
      resolve(failure ?? (code === 0 ? undefined : `exit code ${code}`));
    });
  });
}

/** Ends the test process and the processes that it started. */
function endRunning(): void {
  if (running?.pid === undefined) return;
  try {
    process.kill(-running.pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** The repository without history; the packages are linked, but those of the workspace are those of the copy. */
function copyRepository(): void {
  const skipped = new Set([".git", "node_modules"]);
  cpSync(ROOT, scratch, {
    recursive: true,
    filter: (path) => !skipped.has(relative(ROOT, path)),
    verbatimSymlinks: true,
  });
  mkdirSync(join(scratch, "node_modules"));
  for (const name of readdirSync(join(ROOT, "node_modules"))) {
    const path = join(ROOT, "node_modules", name);
    const to = join(scratch, "node_modules", name);
    if (lstatSync(path).isSymbolicLink()) cpSync(path, to, { verbatimSymlinks: true });
    else symlinkSync(path, to);
  }
}

function compilerOptions(): ts.CompilerOptions {
  const path = join(ROOT, "tsconfig.json");
  const { config } = ts.readConfigFile(path, ts.sys.readFile) as { config: { compilerOptions: object } };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);
  // NodeNext without a package.json to look at would be CommonJS.
  return { ...options, module: ts.ModuleKind.ESNext, composite: false, declaration: false };
}

/** `count` of the items in their order, the same for the same seed. */
function sample<T>(items: readonly T[], count: number, seed: string): T[] {
  let state = 0;
  for (const char of seed) state = (Math.imul(state, 31) + char.charCodeAt(0)) | 0;
  const keyed = items.map((item, index) => {
    state = (state + 0x6d2b79f5) | 0;
    let hash = Math.imul(state ^ (state >>> 15), state | 1);
    hash ^= hash + Math.imul(hash ^ (hash >>> 7), hash | 61);
    return { item, index, key: (hash ^ (hash >>> 14)) >>> 0 };
  });
  const chosen = keyed.sort((a, b) => a.key - b.key).slice(0, count);
  return chosen.sort((a, b) => a.index - b.index).map(({ item }) => item);
}

function short(text = ""): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > 90 ? `${line.slice(0, 89)}…` : line;
}
