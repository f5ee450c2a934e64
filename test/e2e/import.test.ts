/** The published tools, imported into an empty folder: a project whose tests pass. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { REPOSITORY, ToolProject } from "../generator/project.js";
import { svcGenIn } from "../generator/run-cli.js";

test("all imported classes and their tests compile with literals, and the tests pass", async () => {
  const { root } = new ToolProject({});
  for (const each of readdirSync(root)) rmSync(join(root, each), { recursive: true });
  const meta = join(REPOSITORY, "test/generator/published/meta.json");
  const { out } = await svcGenIn(root, ["import", meta]);
  assert.match(out, /^wrote package\.json and the files of a project around it$/m);
  mkdirSync(join(root, "node_modules/@types"), { recursive: true });
  const link = (name: string, to: string) => symlinkSync(join(REPOSITORY, to), join(root, "node_modules", name));
  link("svc-runtime", "runtime");
  link("svc-gen", ".");
  link("@types/node", "node_modules/@types/node");
  assert.equal((await svcGenIn(root, ["--quiet"])).code, 0);
  const node = (...args: string[]) => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    return spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", env });
  };
  const compiled = node(join(REPOSITORY, "node_modules/typescript/bin/tsc"), "-p", "test");
  assert.equal(compiled.status, 0, compiled.stdout);
  // One process for all of them, which generates once.
  const tests = readdirSync(join(root, "dist-test/test")).filter((name) => name.endsWith(".test.js"));
  writeFileSync(join(root, "all.mjs"), tests.map((name) => `import "./dist-test/test/${name}";\n`).join(""));
  const { stdout } = node("--test-reporter=tap", "--test", "all.mjs");
  assert.match(stdout, /^# pass 62\n# fail 0$/m, stdout);
});
