/** The test kit in several processes: the generator runs only after a change. */

import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
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

test("the test kit generates after a change, and uses the contracts of a build or of another process", async () => {
  const { project, runs } = projectWithTest();
  const [first, ...others] = await runs(PROCESSES);
  assert.equal(first, "n generated");
  for (const each of others) assert.match(each, /^n (?:generated|kept)$/);
  assert.deepEqual(await runs(PROCESSES), Array(PROCESSES).fill("n kept"));
  project.write({ "src/echo.ts": SOURCE.replace("{ n: number }", "{ m: number; n: number }") });
  assert.deepEqual(await runs(1), ["m,n generated"]);
  assert.deepEqual(await runs(1), ["m,n kept"]);
  project.write({ "src/echo.ts": SOURCE });
  const built = spawnSync(process.execPath, [join(REPOSITORY, "generator/bin.js")], { cwd: project.root });
  assert.equal(built.status, 0, String(built.stderr));
  assert.deepEqual(await runs(1), ["n kept"]);
});
