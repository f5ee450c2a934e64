// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a module as a text
/** Nothing changed: TypeScript is not loaded. Anything that the types reach changed: it is, and the result is right. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { EXIT } from "#generator/cli/cli.js";
import { freshBuildInfo } from "#generator/compile/project/build-info.js";
import { REPOSITORY } from "../repository.js";
import { COMPILERS } from "../typescript/compilers.js";
import { STRICT, ToolProject, toolSource } from "./project.js";
import { svcGenIn } from "./run-cli.js";

const project = new ToolProject({
  "src/sum.ts": toolSource("Sum", "{ a: One }", '"done"', 'import type { One } from "./one.js";'),
  "src/one.ts": 'import type { Two } from "./two.js";\nexport type One = { two: Two };',
  "src/two.ts": 'import type { Three } from "three";\nexport type Two = { three: Three };',
  "node_modules/three/package.json": '{ "name": "three", "version": "1.0.0", "types": "index.d.ts" }',
  "node_modules/three/index.d.ts": "export type Three = { deep: string };",
});

/** Runs the command line and says whether it had to read the project. */
async function svcGen(...args: string[]): Promise<{ code: number; out: string; read: boolean }> {
  const out = args[0] === "--out" ? { out: args[1] as string } : {};
  const read = freshBuildInfo(project.root, out) === undefined;
  const { code, out: printed } = await svcGenIn(project.root, ["--quiet", ...args]);
  return { code, out: printed, read };
}

/** Runs the executable in a process of its own and returns the libraries that it loaded. */
function loaded(...args: string[]): readonly string[] {
  const probe = `data:text/javascript,${encodeURIComponent(
    'import { createRequire } from "node:module"; process.on("exit", () => { const paths = Object.keys(createRequire("/").cache); process.stdout.write("loaded " + ["ts-morph", "typescript-json-schema", "ajv"].filter((name) => paths.some((path) => path.includes("/node_modules/" + name + "/")))); });',
  )}`;
  const bin = join(REPOSITORY, "generator/bin.js");
  const { stdout } = spawnSync(process.execPath, ["--import", probe, bin, "--quiet", ...args], {
    cwd: project.root,
    encoding: "utf8",
  });
  return stdout.split("loaded ")[1]?.split(",").filter(Boolean) ?? [stdout];
}

const contracts = () => readFileSync(join(project.root, "src/generated/contracts.ts"), "utf8");

test("the second run loads no compiler", async () => {
  assert.equal((await svcGen()).read, true);
  assert.deepEqual(loaded(), []);
  assert.deepEqual(await svcGen(), { code: 0, out: "up to date\n", read: false });
  assert.deepEqual(await svcGen("--check"), { code: 0, out: "", read: false });
});

test("generation loads neither typescript-json-schema nor ajv; --check loads both", () => {
  project.write({ "src/one.ts": 'import type { Two } from "./two.js";\nexport type One = { two: Two }; // again' });
  assert.deepEqual(loaded(), ["ts-morph"]);
  assert.deepEqual(loaded("--check"), ["ts-morph", "typescript-json-schema", "ajv"]);
});

test("--check reads the project again after a run without the second reader, but only once", () => {
  // After the runs of the last test.
  assert.deepEqual(loaded("--check"), []);
  assert.deepEqual(loaded(), []);
});

test("server-options.ts appears, and disappears", async () => {
  const server = () => readFileSync(join(project.root, "src/generated/server.ts"), "utf8");
  project.write({
    "src/server-options.ts":
      'import type { BootstrapOptions } from "svc-runtime";\nexport const options: BootstrapOptions = { maxConnections: 5 };\n',
  });
  assert.equal((await svcGen()).out, "wrote src/generated/server.ts\n");
  assert.match(server(), /bootstrap\(Sum, options\);/);
  assert.equal((await svcGen()).read, false);
  rmSync(join(project.root, "src/server-options.ts"));
  assert.equal((await svcGen()).out, "wrote src/generated/server.ts\n");
  assert.match(server(), /bootstrap\(Sum\);/);
});

test("a type three imports away changes", async () => {
  project.write({ "node_modules/three/index.d.ts": "export type Three = { deep: boolean };" });
  assert.equal((await svcGen("--check")).code, 3);
  const { read, out } = await svcGen();
  assert.equal(read, true);
  assert.match(out, /wrote src\/generated\/contracts\.ts/);
  assert.match(contracts(), /\{ name: "deep", codec: \{ kind: "boolean" \} \}/);
  assert.equal((await svcGen()).read, false);
});

test("a package is linked to another folder, and no file changes", async () => {
  const linked = new ToolProject({
    "src/a.ts": toolSource("A", "{ x: Linked }", undefined, 'import type { Linked } from "linked";'),
    "packages/one/package.json": '{ "name": "linked", "types": "index.d.ts" }',
    "packages/one/index.d.ts": "export interface Linked { one: string }\n",
    "packages/two/package.json": '{ "name": "linked", "types": "index.d.ts" }',
    "packages/two/index.d.ts": "export interface Linked { two: number }\n",
  });
  const link = (to: string) => {
    rmSync(join(linked.root, "node_modules/linked"), { force: true });
    symlinkSync(join(linked.root, "packages", to), join(linked.root, "node_modules/linked"));
  };
  const said = async () => (await svcGenIn(linked.root, ["--quiet"])).out;
  link("one");
  await said();
  assert.equal(await said(), "up to date\n");
  link("two");
  assert.match(await said(), /^wrote src\/generated\/contracts\.ts$/m);
  assert.match(readFileSync(join(linked.root, "src/generated/contracts.ts"), "utf8"), /name: "two"/);
});

test("a new file shadows another", async () => {
  project.write({
    "src/node_modules/three/package.json": '{ "name": "three", "version": "2.0.0", "types": "index.d.ts" }',
    "src/node_modules/three/index.d.ts": "export type Three = { deep: null };",
  });
  assert.equal((await svcGen()).read, true);
  assert.match(contracts(), /\{ name: "deep", codec: \{ kind: "null" \} \}/);
  assert.equal((await svcGen()).read, false);
});

test("a tool is added in a new folder, then removed", async () => {
  project.write({ "src/more/other.ts": toolSource("Other", "{ b: number }") });
  assert.equal((await svcGen()).read, true);
  assert.match(contracts(), /xyz\.test\.tool-other@1/);
  rmSync(join(project.root, "src/more"), { recursive: true });
  assert.equal((await svcGen()).read, true);
  assert.doesNotMatch(contracts(), /xyz\.test\.tool-other@1/);
});

test("a folder at the path of a module that is looked up as a file", async () => {
  project.write({
    "node_modules/punycode/package.json": '{ "name": "punycode", "version": "2.0.0", "types": "index.d.ts" }',
    "node_modules/punycode/index.d.ts": "export type Code = string;",
    "src/code.ts": 'export type { Code } from "punycode/";\n',
  });
  assert.equal((await svcGen()).read, true);
  assert.equal((await svcGen()).read, false);
});

test("a new file that no lookup has searched for", async () => {
  project.write({ "dist/sum.js": "", "notes.md": "" });
  assert.equal((await svcGen()).read, false);
});

test("a generated file is edited or deleted, or the options change", async () => {
  assert.equal((await svcGen()).read, false);
  project.write({ "src/generated/contracts.ts": "// Generated by svc-gen and edited" });
  assert.match((await svcGen()).out, /^wrote src\/generated\/contracts\.ts\n$/);
  rmSync(join(project.root, "meta.json"));
  assert.match((await svcGen()).out, /^wrote meta\.json\n$/);
  assert.match((await svcGen("--out", "src/other")).out, /wrote src\/other\/contracts\.ts/);
  rmSync(join(project.root, "src/other"), { recursive: true });
  const config = readFileSync(join(project.root, "tsconfig.json"), "utf8");
  project.write({ "tsconfig.json": config.replace('"strict":true', '"strict":true,"noImplicitAny":true') });
  assert.equal((await svcGen()).read, true);
  assert.equal((await svcGen()).read, false);
});

test("a byte order mark before a generated file is removed", async () => {
  assert.equal((await svcGen()).read, false);
  project.write({ "src/generated/server.ts": `\uFEFF${readFileSync(join(project.root, "src/generated/server.ts"))}` });
  assert.equal((await svcGen("--check")).code, 3);
  assert.match((await svcGen()).out, /^wrote src\/generated\/server\.ts\n$/);
});

test("a damaged or truncated build info is ignored", async () => {
  const folder = join(project.root, "node_modules/.cache/svc-gen");
  rmSync(folder, { recursive: true });
  assert.equal((await svcGen()).read, true);
  const paths = readdirSync(folder).map((name) => join(folder, name));
  const whole = paths.map((path) => readFileSync(path));
  for (const [index, path] of paths.entries()) {
    const bytes = whole[index] as Buffer;
    for (let at = 0; at < bytes.length; at += Math.ceil(bytes.length / 50)) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] as number) ^ 1;
      writeFileSync(path, damaged);
      assert.equal(freshBuildInfo(project.root, {}), undefined, `byte ${at} of ${path}`);
    }
    for (const length of [0, 20, 40, 41, bytes.length - 1]) {
      writeFileSync(path, bytes.subarray(0, length));
      assert.equal(freshBuildInfo(project.root, {}), undefined, `${length} bytes of ${path}`);
    }
  }
  assert.equal((await svcGen()).read, true);
  assert.equal((await svcGen()).read, false);
});

test("a project with the `node_modules` of another one does not use that project's build info", async () => {
  assert.equal((await svcGen()).read, false);
  const copy = new ToolProject({});
  rmSync(join(copy.root, "node_modules"), { recursive: true });
  for (const name of ["src", "meta.json"]) cpSync(join(project.root, name), join(copy.root, name), { recursive: true });
  cpSync(join(project.root, "tsconfig.json"), join(copy.root, "tsconfig.json"));
  symlinkSync(join(project.root, "node_modules"), join(copy.root, "node_modules"));
  copy.write({ "src/sum.ts": toolSource("Sum", "{ other: string }") });
  assert.equal((await svcGenIn(copy.root, ["--check", "--quiet"])).code, 3);
  assert.equal((await svcGen()).read, false);
});

test("a project whose packages are in a parent folder has its build info there", async () => {
  const above = new ToolProject({
    "packages/one/package.json": '{ "name": "one", "type": "module" }',
    "packages/one/tsconfig.json": JSON.stringify({ compilerOptions: STRICT, include: ["src"] }),
    "packages/one/src/a.ts": toolSource("A", "{ a: string }"),
  });
  const root = join(above.root, "packages/one");
  for (const out of [/^wrote/, /^up to date$/m]) assert.match((await svcGenIn(root, ["--quiet"])).out, out);
  assert.equal(existsSync(join(root, "node_modules")), false);
});

test("a package with the name of a module of Node, as ESLint 9 brings punycode, changes nothing", async () => {
  const other = new ToolProject({
    "node_modules/punycode/package.json": '{ "name": "punycode", "version": "2.3.1", "main": "punycode.js" }',
    "node_modules/punycode/punycode.js": "module.exports = {};",
    "src/names.d.ts": 'declare module "punycode/" { export function toASCII(text: string): string; }',
    "src/sum.ts": toolSource("Sum", "{ a: string }", '"done"', 'export { toASCII } from "punycode/";'),
  });
  assert.equal((await svcGenIn(other.root, [])).code, 0);
  assert.notEqual(freshBuildInfo(other.root, {}), undefined);
});

test("a process that was started from another generator than the one on disk records its own identity", async () => {
  const copy = new ToolProject({});
  for (const name of ["package.json", "templates", "dist/generator"]) {
    cpSync(join(REPOSITORY, name), join(copy.root, name), { recursive: true });
  }
  const path = join(copy.root, "dist/generator/compile/project/build-info.js");
  const { buildInfoFile } = (await import(
    pathToFileURL(path).href
  )) as typeof import("#generator/compile/project/build-info.js");
  const generated = copy.generate();
  const record = () => buildInfoFile(join(copy.root, "run.json"), {}, { ...generated, checked: false });
  const before = record();
  utimesSync(path, 1_000, 1_000);
  assert.deepEqual(record(), before);
  rmSync(join(copy.root, "dist"), { recursive: true });
  assert.deepEqual(record(), before);
});

test("a manifest of TypeScript that is still being written is ignored", async () => {
  for (const text of ["", "null", "{}", '{ "version": 6 ']) {
    project.write({ "node_modules/typescript/package.json": text });
    assert.equal((await svcGen()).code, 0, text);
  }
  rmSync(join(project.root, "node_modules/typescript"), { recursive: true });
});

/** Files with declarations of the tool's types that no file imports. */
test("a file changes that nothing imports: ambient, a global of a module, types of a package, a library file", async () => {
  const part = (name: string) => `interface Ambient { ${name}: string }\n`;
  const library = "node_modules/typescript/lib/lib.es5.d.ts";
  const parts = new Map<string, (member: string) => string>([
    ["src/ambient.d.ts", part],
    ["src/more.ts", (member) => `export {};\ndeclare global { ${part(member)} }\n`],
    ["node_modules/@types/globe/index.d.ts", part],
  ]);
  const global = new ToolProject(
    {
      "src/one.ts": toolSource("One", "{ value: Ambient; word: { [Name in Word]: string } }"),
      "src/two.ts": toolSource("Two", "{ value: string }"),
      ...Object.fromEntries([...parts].map(([path, text], index) => [path, text(`first${index}`)])),
      "node_modules/@types/globe/package.json": '{ "name": "@types/globe", "version": "1.0.0", "types": "index.d.ts" }',
    },
    { ...STRICT, types: ["globe"] },
  );
  // A TypeScript of the project's own, without its compiler.
  const copy = join(global.root, "node_modules/typescript");
  mkdirSync(copy);
  cpSync(join(COMPILERS[1].folder, "package.json"), join(copy, "package.json"));
  const isKept = (path: string) => !path.endsWith(".js");
  cpSync(join(COMPILERS[1].folder, "lib"), join(copy, "lib"), { recursive: true, filter: isKept });
  const original = readFileSync(join(global.root, library), "utf8");
  const withWord = (word: string) => `${original}\ntype Word = "${word}";\n`;
  parts.set(library, withWord);
  global.write({ [library]: withWord("first3") });

  const run = async (...args: string[]) => (await svcGenIn(global.root, ["--quiet", ...args])).code;
  const members = (): string[] => {
    const [{ input_schema }] = JSON.parse(readFileSync(join(global.root, "meta.json"), "utf8"));
    const { value, word } = input_schema.properties;
    const ambient = value.$ref === undefined ? value : input_schema.$defs.Ambient;
    return [...ambient.required, ...word.required].sort();
  };
  const first = await svcGenIn(global.root, ["--quiet"]);
  assert.equal(first.code, EXIT.done, first.err);
  const wanted = ["first0", "first1", "first2", "first3"];
  assert.deepEqual(members(), wanted);
  for (const [index, [path, text]] of [...parts].entries()) {
    assert.equal(await run("--check"), EXIT.done);
    global.write({ [path]: text(`second${index}`) });
    assert.equal(await run("--check"), EXIT.stale, path);
    assert.equal(await run(), EXIT.done);
    wanted[index] = `second${index}`;
    assert.deepEqual(members(), [...wanted].sort());
  }
});

test("another version of Node runs", async () => {
  await svcGen();
  const module = pathToFileURL(join(REPOSITORY, "dist/generator/compile/project/build-info.js")).href;
  const versions = Object.getOwnPropertyDescriptor(process, "versions") as PropertyDescriptor;
  /** Whether a record of this version of Node, the actual one by default, is believed. A process computes its own once. */
  const isFreshOn = async (node: string = process.versions.node) => {
    Object.defineProperty(process, "versions", { ...versions, value: { ...process.versions, node } });
    try {
      const other = (await import(
        `${module}?node=${node}`
      )) as typeof import("#generator/compile/project/build-info.js");
      return other.freshBuildInfo(project.root, {}) !== undefined;
    } finally {
      Object.defineProperty(process, "versions", versions);
    }
  };
  assert.deepEqual([await isFreshOn(), await isFreshOn("20.99.1")], [true, false]);
});
