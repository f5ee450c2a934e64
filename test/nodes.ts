/**
 * Runs the suite on several versions of Node and writes VERSIONING.md: what passed, on which machine, and which
 * files were run.
 *
 *     npm run test:nodes                                    # everything, on every version: hours
 *     npm run test:nodes -- --versions=22,26 wire e2e/demo  # test files with that in their path
 *
 * The versions are the earliest that `engines` allows and the newest of each line, from the `node` package of the npm
 * registry. Each is installed once, in node_modules/.cache. Bun and Deno run the signed demo alone.
 */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGE = join(ROOT, "VERSIONING.md");
const CACHE = join(ROOT, "node_modules/.cache/node-versions");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Lines or versions of Node, as npm understands them after `node@`. */
    versions: { type: "string", default: [...earliestVersions(), "20", "22", "24", "26"].join(",") },
    /** Installs the newest version of each line again. */
    update: { type: "boolean", default: false },
    /** Passed on to test/run.ts. */
    jobs: { type: "string" },
  },
});

/** The lower bounds of `engines`. */
function earliestVersions(): string[] {
  const { engines } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  return [...engines.node.matchAll(/>=([\d.]+)/g)].map(([, version]) => version);
}

/** What a run on one version gave. */
interface Outcome {
  readonly version: string;
  readonly npm: string;
  readonly passed: boolean;
  /** The last lines of the run, from its summary on. */
  readonly summary: string;
}

/** Installs a version of Node, Bun or Deno, unless that was done before; gives the path of its program. */
function install(wanted: string, runtime = "node"): string {
  const folder = join(CACHE, runtime === "node" ? wanted : `${runtime}-${wanted}`);
  const ending = process.platform === "win32" ? ".exe" : "";
  const program = join(folder, "node_modules", runtime === "node" ? "node/bin" : ".bin", `${runtime}${ending}`);
  if (values.update || !existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    // Its own install script fetches the program for this machine, as a package of the same registry.
    const args = ["install", "--no-audit", "--no-fund", "--no-save", "--foreground-scripts", `${runtime}@${wanted}`];
    const { status, stderr } = spawnSync("npm", args, { cwd: folder, encoding: "utf8", env: shellEnv() });
    if (status !== 0 || !existsSync(program)) throw new Error(`${runtime}@${wanted} was not installed: ${stderr}`);
  }
  return program;
}

/** The environment without what npm leaves to the scripts that it runs, such as this repository as its prefix. */
function shellEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));
}

function versionOf(program: string, env = shellEnv()): string {
  return spawnSync(program, ["--version"], { env, encoding: "utf8" }).stdout.trim().replace(/^v/, "");
}

async function runTests(program: string, version: string): Promise<Outcome> {
  // Tests start `node` and `npm` by name too.
  const env = { ...shellEnv(), PATH: [dirname(program), process.env.PATH].join(delimiter) };
  const npm = versionOf("npm", env);
  console.log(`\nnode ${version}, npm ${npm}`);
  const jobs = values.jobs === undefined ? [] : [`--jobs=${values.jobs}`];
  const child = spawn(program, ["--import", "tsx", "test/run.ts", "--tier=all", ...jobs, ...positionals], {
    cwd: ROOT,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    process.stdout.write(text);
  });
  const [code] = (await once(child, "close")) as [number | null];
  const summary = /^\d+ files, \d+ tests, [\s\S]*/m.exec(out)?.[0].trim();
  return { version, npm, passed: code === 0, summary: summary ?? `ended with exit code ${code} before its summary` };
}

/** `12 files, 340 tests, 2 skipped, in 61.0 s` as cells of the table. */
function rowOf({ version, npm, passed, summary }: Outcome): string {
  const [, files = "?", tests = "?", skipped = "?", seconds = "?"] =
    /^(\d+) files, (\d+) tests, (\d+) skipped, in ([\d.]+) s/.exec(summary) ?? [];
  return `| ${version} | ${npm} | ${files} | ${tests} | ${skipped} | ${seconds} s | ${passed ? "passed" : "**failed**"} |`;
}

/** The row of a runtime that runs packages of Node: the signed demo on it. */
function demoRow(name: string, wanted: string, args: readonly string[]): string {
  const program = install(wanted, name.toLowerCase());
  const [version = "?"] = /\d+\.\d+\.\d+/.exec(versionOf(program)) ?? [];
  const from = performance.now();
  const { status, stderr } = spawnSync(program, [...args, join(ROOT, "examples/sum/dist/demo.js")], {
    env: shellEnv(),
    encoding: "utf8",
  });
  const seconds = ((performance.now() - from) / 1000).toFixed(1);
  const [, fault = `exit code ${status}`] = /^Failed: (.*)$/m.exec(stderr) ?? [];
  return `| ${name} ${version} | | the signed demo | | | ${seconds} s | ${status === 0 ? "passed" : fault} |`;
}

function pageOf(outcomes: readonly Outcome[]): string {
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${process.platform} ${process.arch}, ${availableParallelism()} processors`;
  const files =
    positionals.length === 0
      ? "All test files were run, in their short form."
      : `Not the whole suite: only test files with one of these in their path were run: ${positionals.map((part) => `\`${part}\``).join(", ")}.`;
  const failed = outcomes
    .filter(({ passed }) => !passed)
    .map(({ version, summary }) => `\nOn ${version}:\n\n${summary.replace(/^/gm, "    ")}\n`);
  return `## Versions of Node

Written by \`npm run test:nodes\` on ${date}: ${machine}. ${files}

| Node | npm | files | tests | skipped | time | |
|---|---|---|---|---|---|---|
${[...outcomes.map(rowOf), ...OTHERS].join("\n")}
${failed.join("")}`;
}

// The newest version of a line may be the earliest that is allowed.
const programs = new Map(
  values.versions.split(",").map((wanted) => {
    const program = install(wanted);
    return [versionOf(program), program];
  }),
);
const inOrder = [...programs].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
const outcomes: Outcome[] = [];
for (const [version, program] of inOrder) outcomes.push(await runTests(program, version));
/** Not supported, and not broken without notice. */
const OTHERS = [demoRow("Bun", "1", []), demoRow("Deno", "2", ["run", "--allow-all"])];
writeFileSync(
  PAGE,
  readFileSync(PAGE, "utf8").replace(/^## Versions of Node\n[\s\S]*?(?=^## )/m, () => `${pageOf(outcomes)}\n`),
);
console.log(`\nwrote ${PAGE}`);
for (const row of [...outcomes.map(rowOf), ...OTHERS]) console.log(row);
process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1;
