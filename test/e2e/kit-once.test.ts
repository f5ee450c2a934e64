/** The test kit in several processes: one of them runs the generator, until the sources change. */

import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { ToolProject, toolSource } from "../generator/project.js";
import { REPOSITORY } from "../repository.js";

const PROCESSES = 4;
const SOURCE = toolSource("Echo", "{ n: number }", "{ ok: { n: number } }");

/** A test file: the input ports of the contract, and whether the compiler was loaded to get it. */
const TEST = `
import module from "node:module";
import { SvcTool } from "svc-runtime";
import { createHarness } from "svc-runtime/testing";

class Echo extends SvcTool {
  static fqn() { return "xyz.test.tool-echo@1"; }
  static description() { return "A tool."; }
  static path() { return "Echo"; }
  invoke(input) { return { ok: { n: input.n } }; }
}
const harness = await createHarness(Echo, { project: new URL(".", import.meta.url) });
await harness.close();
const names = Object.keys(Echo.meta("https://example.com/").input_schema.properties).join();
console.log(names, Object.keys(module._cache).some((path) => path.includes("/ts-morph/")) ? "generated" : "kept");
`;

/** A project with the test file, and what runs of it print. */
function projectWithTest() {
  const project = new ToolProject({ "src/echo.ts": SOURCE, "kit.mjs": TEST });
  symlinkSync(REPOSITORY, join(project.root, "node_modules/svc-gen"));
  const runs = async (count: number) => {
    const started = Array.from({ length: count }, () =>
      promisify(execFile)(process.execPath, ["kit.mjs"], { cwd: project.root }),
    );
    return (await Promise.all(started)).map(({ stdout }) => stdout.trim()).sort();
  };
  return { project, runs };
}

test("if several processes start at once, only one generates the contracts; after a change, one generates them again", async () => {
  const { project, runs } = projectWithTest();
  assert.deepEqual(await runs(PROCESSES), ["n generated", ...Array(PROCESSES - 1).fill("n kept")]);
  assert.deepEqual(await runs(1), ["n kept"]);
  project.write({ "src/echo.ts": SOURCE.replace("{ n: number }", "{ n: number; m: number }") });
  assert.deepEqual(await runs(2), ["n,m generated", "n,m kept"]);
  const cache = join(project.root, "node_modules/.cache/svc-gen");
  assert.ok(
    readdirSync(cache).every((name) => name.endsWith(".json")),
    "no lock is left",
  );
});

test("the test kit uses the contracts of a build, and the lock of a killed process blocks nothing", async () => {
  const { project, runs } = projectWithTest();
  await runs(1);
  const cache = join(project.root, "node_modules/.cache/svc-gen");
  const [info = ""] = readdirSync(cache);
  project.write({ "src/echo.ts": SOURCE.replace("{ n: number }", "{ m: number; n: number }") });
  const ended = spawnSync(process.execPath, ["--eval", ""]);
  writeFileSync(join(cache, `${info}.lock`), String(ended.pid));
  assert.deepEqual(await runs(1), ["m,n generated"]);
  project.write({ "src/echo.ts": SOURCE });
  const built = spawnSync(process.execPath, [join(REPOSITORY, "generator/bin.js")], { cwd: project.root });
  assert.equal(built.status, 0, String(built.stderr));
  assert.deepEqual(await runs(1), ["n kept"]);
});
