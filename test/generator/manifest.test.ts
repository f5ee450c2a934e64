// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a module as a text
/** Nothing changed: TypeScript is not loaded. Anything that the types reach changed: it is, and the result is right. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { run } from "#generator/cli.js";
import { unchanged } from "#generator/manifest.js";
import { REPOSITORY, ToolProject, toolSource } from "./project.js";

const project = new ToolProject({
  "src/sum.ts": toolSource("Sum", "{ a: One }", '"done"', 'import type { One } from "./one.js";'),
  "src/one.ts": 'import type { Two } from "./two.js";\nexport type One = { two: Two };',
  "src/two.ts": 'import type { Three } from "three";\nexport type Two = { three: Three };',
  "node_modules/three/package.json": '{ "name": "three", "version": "1.0.0", "types": "index.d.ts" }',
  "node_modules/three/index.d.ts": "export type Three = { deep: string };",
});
after(() => project.remove());

/** Runs the command line and says whether it had to read the project. */
async function svcGen(...args: string[]): Promise<{ code: number; out: string; read: boolean }> {
  const out = args[0] === "--out" ? { out: args[1] as string } : {};
  const read = unchanged(project.root, out) === undefined;
  let printed = "";
  const print = (text: string) => {
    printed += text;
  };
  const code = await run(["--quiet", ...args], { cwd: project.root, colour: false, print, complain: () => {} });
  return { code, out: printed, read };
}

/** Runs the executable in a process of its own and says whether it loaded the compiler. */
function loaded(): boolean {
  const probe = `data:text/javascript,${encodeURIComponent(
    'import { createRequire } from "node:module"; process.on("exit", () => { const { cache } = createRequire("/"); process.stdout.write(`loaded ${Object.keys(cache).some((path) => path.includes("ts-morph"))}`); });',
  )}`;
  const bin = join(REPOSITORY, "generator/bin.js");
  const { stdout } = spawnSync(process.execPath, ["--import", probe, bin, "--quiet"], {
    cwd: project.root,
    encoding: "utf8",
  });
  return stdout.endsWith("loaded true");
}

const contracts = () => readFileSync(join(project.root, "src/generated/contracts.ts"), "utf8");

test("the second run loads no compiler", async () => {
  assert.equal(loaded(), true);
  assert.equal(loaded(), false);
  assert.deepEqual(await svcGen(), { code: 0, out: "up to date\n", read: false });
  assert.deepEqual(await svcGen("--check"), { code: 0, out: "", read: false });
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

test("a file appears that shadows another", async () => {
  project.write({
    "src/node_modules/three/package.json": '{ "name": "three", "version": "2.0.0", "types": "index.d.ts" }',
    "src/node_modules/three/index.d.ts": "export type Three = { deep: null };",
  });
  assert.equal((await svcGen()).read, true);
  assert.match(contracts(), /\{ name: "deep", codec: \{ kind: "null" \} \}/);
  assert.equal((await svcGen()).read, false);
});

test("a tool is added in a new folder, then taken away", async () => {
  project.write({ "src/more/other.ts": toolSource("Other", "{ b: number }") });
  assert.equal((await svcGen()).read, true);
  assert.match(contracts(), /xyz\.test\.tool-other@1/);
  rmSync(join(project.root, "src/more"), { recursive: true });
  assert.equal((await svcGen()).read, true);
  assert.doesNotMatch(contracts(), /xyz\.test\.tool-other@1/);
});

test("a generated file is edited or deleted, or the options change", async () => {
  assert.equal((await svcGen()).read, false);
  project.write({ "src/generated/contracts.ts": "edited" });
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
