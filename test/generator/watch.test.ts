/** `svc-gen --watch` as its user sees it: it follows the files and says what it did. */

import assert from "node:assert/strict";
import { existsSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { EXIT } from "#generator/cli/cli.js";
import { CliProcess } from "./cli-process.js";
import { ToolProject, toolSource } from "./project.js";
import { CliRun, svcGenIn } from "./run-cli.js";

/** A failing test ends, before the file's own limit; how fast a run is is the bench's business. */
const PATIENCE = { timeout: 120_000 };

let project: ToolProject;

beforeEach(() => {
  project = new ToolProject({
    "src/sum.ts": toolSource("Sum", "{ a: One }", '"done"', 'import type { One } from "./one.js";'),
    "src/one.ts": 'import type { Shared } from "shared";\nexport type One = { shared: Shared };\n',
    "packages/shared/package.json": '{ "name": "shared", "version": "1.0.0", "types": "index.d.ts" }',
    "packages/shared/index.d.ts": "export type Shared = { deep: string };\n",
  });
  symlinkSync(join(project.root, "packages/shared"), join(project.root, "node_modules/shared"));
});

const read = (path: string) => readFileSync(join(project.root, path), "utf8");
const contracts = () => read("src/generated/contracts.ts");
const server = () => read("src/generated/server.ts");
const WROTE = /^wrote .*src\/generated\/(?:contracts|server)\.ts.* in \d+ ms$/;

test("a process ends with success when interrupted", PATIENCE, async () => {
  const watching = new CliProcess(project.root, ["--watch", "--quiet"]);
  await watching.line(WROTE);
  assert.equal(await watching.interrupt(), EXIT.done);
  assert.equal(watching.complaints, "");
});

test("a process ends quietly when the reader of its output has closed the pipe", PATIENCE, async () => {
  const watching = new CliProcess(project.root, ["--watch", "--quiet"]);
  await watching.line(WROTE);
  watching.closeOutput();
  project.write({ "src/one.ts": "export type One = { more: boolean };\n" });
  assert.equal(await watching.exit(), EXIT.done);
  assert.equal(watching.complaints, "");
});

test("it generates, and watches every file that the types depend on", PATIENCE, async () => {
  const watching = new CliRun(project.root, ["--watch", "--quiet"]);
  await watching.line(WROTE);

  project.write({
    "src/one.ts": 'import type { Shared } from "shared";\nexport type One = { s: Shared; more: boolean };\n',
  });
  await watching.line(WROTE);
  assert.match(contracts(), /name: "more"/);

  // A package of the workspace, behind a link.
  project.write({ "packages/shared/index.d.ts": "export type Shared = { deeper: string };\n" });
  await watching.line(WROTE);
  assert.match(contracts(), /name: "deeper"/);

  // As editors save: another file takes the place of the old one.
  project.write({ "src/one.ts~": "export type One = { replaced: number };\n" });
  renameSync(join(project.root, "src/one.ts~"), join(project.root, "src/one.ts"));
  await watching.line(WROTE);
  assert.match(contracts(), /name: "replaced"/);

  // New tools in a new folder, several saves at once; then the folder goes.
  project.write({
    "src/more/other.ts": toolSource("Other", "{ b: number }"),
    "src/more/third.ts": toolSource("Third", "{ c: number }"),
  });
  while (!/tool-third@1/.test(contracts()) || !/tool-other@1/.test(contracts())) await watching.line(WROTE);
  renameSync(join(project.root, "src/more"), join(project.root, "src/moved"));
  while (!/"\.\.\/moved\/other\.js"/.test(server())) await watching.line(WROTE);
  rmSync(join(project.root, "src/moved"), { recursive: true });
  while (/tool-(?:other|third)@1/.test(contracts())) await watching.line(WROTE);

  // A folder of types takes the name of another that a tool imports.
  const types = (member: string) => `export type Input = { ${member}: number };\n`;
  project.write({ "src/first/input.ts": types("first"), "src/next/input.ts": types("next") });
  project.write({ "src/tool.ts": toolSource("Typed", 'import("./first/input.js").Input') });
  while (!/name: "first"/.test(contracts())) await watching.line(WROTE);
  renameSync(join(project.root, "src/first"), join(project.root, "src/last"));
  await watching.complaint(/TS2307.*first\/input\.js/);
  renameSync(join(project.root, "src/next"), join(project.root, "src/first"));
  while (!/name: "next"/.test(contracts())) await watching.line(WROTE);
  rmSync(join(project.root, "src/tool.ts"));
  while (/tool-typed@1/.test(contracts())) await watching.line(WROTE);

  // Options of the server, written and removed.
  project.write({
    "src/server-options.ts":
      'import type { BootstrapOptions } from "svc-runtime";\nexport const options: BootstrapOptions = { maxConnections: 5 };\n',
  });
  while (!/bootstrap\(Sum, options\)/.test(server())) await watching.line(WROTE);
  rmSync(join(project.root, "src/server-options.ts"));
  while (/options/.test(server().replace(/^\/[/*].*$/gm, ""))) await watching.line(WROTE);

  // Another folder takes the place of one, with the same in it.
  const deep = (member: string) => toolSource("Deep", `{ ${member}: string }`);
  project.write({ "src/some/deep/tool.ts": deep("a"), "other/deep/tool.ts": deep("a") });
  while (!/tool-deep@1/.test(contracts())) await watching.line(WROTE);
  renameSync(join(project.root, "src/some"), join(project.root, "old"));
  renameSync(join(project.root, "other"), join(project.root, "src/some"));
  // Events come in their order: a run after this one's has heard of the folders, and had nothing to say about them.
  project.write({ "src/one.ts": "export type One = { heard: number };\n" });
  while (!/name: "heard"/.test(contracts())) await watching.line(WROTE);
  project.write({ "src/some/deep/tool.ts": deep("swapped") });
  while (!/name: "swapped"/.test(contracts())) await watching.line(WROTE);
  rmSync(join(project.root, "old"), { recursive: true });
  rmSync(join(project.root, "src/some"), { recursive: true });
  while (/tool-deep@1/.test(contracts())) await watching.line(WROTE);

  // Generated files are no one else's to change.
  project.write({ "src/generated/contracts.ts": "// Generated by svc-gen and edited" });
  await watching.line(WROTE);
  assert.match(contracts(), /name: "heard"/);
  rmSync(join(project.root, "meta.json"));
  await watching.line(/^wrote meta\.json in \d+ ms$/);
  assert.ok(existsSync(join(project.root, "meta.json")));

  assert.equal(await watching.interrupt(), EXIT.done);
  assert.deepEqual(new Set(watching.complaints.match(/error \w+/g)), new Set(["error TS2307", "error SVC150"]));
});

test("errors are reported, and the written files stay until the errors are fixed", PATIENCE, async () => {
  const watching = new CliRun(project.root, ["--watch", "--quiet"]);
  await watching.line(WROTE);
  const before = contracts();

  project.write({ "src/one.ts": "export type One = { a: symbol; b: Missing };\n" });
  await watching.line(/^2 errors; waiting for a change$/);
  await watching.complaint(/src\/one\.ts:1:\d+ - error SVC132: Sum\.Input\.a\.a/);
  await watching.complaint(/Cannot find name 'Missing'/);
  assert.equal(contracts(), before);

  project.write({ "src/one.ts": "export type One = { mended: string };\n" });
  await watching.line(WROTE);
  assert.match(contracts(), /name: "mended"/);

  const config = read("tsconfig.json");
  project.write({ "tsconfig.json": config.replace('"strict":true', '"strict":false') });
  await watching.line(/^1 error; waiting for a change$/);
  await watching.complaint(/SVC102/);
  rmSync(join(project.root, "tsconfig.json"));
  await watching.line(/^1 error; waiting for a change$/);
  await watching.complaint(/SVC101/);
  project.write({ "tsconfig.json": config });
  await watching.line(/^up to date in \d+ ms$/);
  assert.equal(await watching.interrupt(), EXIT.done);
});

test("packages are installed, replaced by npm, and restored with all of node_modules", PATIENCE, async () => {
  project.write({ "src/one.ts": 'import type { Item } from "added";\nexport type One = { item: Item };\n' });
  const watching = new CliRun(project.root, ["--watch", "--quiet"]);
  await watching.line(/^1 error; waiting for a change$/);
  const modules = join(project.root, "node_modules");
  const install = (member: string, name = "added") =>
    project.write({
      [`node_modules/${name}/package.json`]: '{ "name": "added", "version": "1.0.0", "types": "index.d.ts" }',
      [`node_modules/${name}/index.d.ts`]: `export type Item = { ${member}: string };\n`,
    });
  install("first", ".added-new");
  renameSync(join(modules, ".added-new"), join(modules, "added"));
  while (!existsSync(join(project.root, "src/generated/contracts.ts"))) await watching.line(WROTE);
  assert.match(contracts(), /name: "first"/);

  renameSync(join(modules, "added"), join(modules, ".added-old"));
  install("second");
  rmSync(join(modules, ".added-old"), { recursive: true });
  project.write({ "node_modules/.package-lock.json": "{}" });
  while (!/name: "second"/.test(contracts())) await watching.line(WROTE);

  renameSync(modules, `${modules}-away`);
  await watching.complaint(/SVC103/);
  renameSync(`${modules}-away`, modules);
  install("third");
  while (!/name: "third"/.test(contracts())) await watching.line(WROTE);
  assert.equal(await watching.interrupt(), EXIT.done);
});

test("a save writes only the files that it changes", PATIENCE, async () => {
  const watching = new CliRun(project.root, ["--watch", "--quiet"]);
  await watching.line(WROTE);
  const paths = ["contracts", "server"].map((name) => `src/generated/${name}.ts`);
  const stamps = () => paths.map((path) => statSync(join(project.root, path), { bigint: true }).mtimeNs);
  const before = stamps();

  const source = read("src/sum.ts");
  project.write({ "src/sum.ts": `${source}\n// Nothing that is generated.\n` });
  await watching.line(/^up to date in \d+ ms$/);
  assert.deepEqual(stamps(), before);

  project.write({ "src/sum.ts": source.replace('"A tool."', '"Sums."') });
  await watching.line(WROTE);
  assert.deepEqual(stamps().slice(1), before.slice(1));

  project.write({ "src/sum.ts": source });
  await watching.line(WROTE);
  assert.equal(await watching.interrupt(), EXIT.done);
});

test("with --json every run prints one line; the next run has nothing to write", PATIENCE, async () => {
  const watching = new CliRun(project.root, ["--watch", "--json"]);
  const first = JSON.parse(await watching.line(/^\{/));
  assert.deepEqual(first.diagnostics, []);
  assert.ok(first.wrote.includes("src/generated/contracts.ts"));
  project.write({ "src/one.ts": "export type One = { json: Map<string, string> };\n" });
  const faulty = JSON.parse(await watching.line(/^\{/));
  assert.deepEqual(
    faulty.diagnostics.map(({ code }: { code: string }) => code),
    ["SVC134"],
  );
  project.write({ "src/one.ts": "export type One = { json: Date };\n" });
  const { wrote } = JSON.parse(await watching.line(/^\{/));
  assert.deepEqual(wrote, ["src/generated/contracts.ts", "meta.json"]);
  assert.equal(await watching.interrupt(), EXIT.done);
  assert.equal(watching.complaints, "");

  assert.deepEqual(await svcGenIn(project.root, ["--quiet"]), { code: EXIT.done, out: "up to date\n", err: "" });
});

test("it ends with one message when a file cannot be written", PATIENCE, async () => {
  const watching = new CliRun(project.root, ["--watch"]);
  await watching.line(/up to date|wrote/);
  project.write({ "src/generated/contracts.ts": "export const mine = 1;\n" });
  assert.equal(await watching.exit(), EXIT.failure);
  assert.match(watching.complaints, /^svc-gen: "src\/generated\/contracts\.ts" was not written by svc-gen \(.*\n$/m);
  assert.equal(contracts(), "export const mine = 1;\n");
});
