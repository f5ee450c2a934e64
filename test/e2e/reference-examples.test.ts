/** The examples in docstrings of public symbols: all of them compile, and those that need no other server run. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { STRICT, ToolProject } from "../generator/project.js";
import { GUIDE_FILES } from "../guide.js";
import { REPOSITORY } from "../repository.js";

interface Example {
  /** `runtime/tool.ts:118`. */
  readonly place: string;
  readonly text: string;
  readonly runs: boolean;
}

function sourcesUnder(folder: string): string[] {
  return readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path).replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts") && !/\/(?:dist|node_modules)\//.test(path));
}

const EXAMPLES: readonly Example[] = [...sourcesUnder("runtime"), "generator/api.ts"].flatMap((file) => {
  const source = readFileSync(join(REPOSITORY, file), "utf8");
  return [...source.matchAll(/^( *) \* ```ts( run)?\n([\s\S]*?)^ *\* ```$/gm)].map(
    ({ 1: indent = "", 2: run, 3: lines = "", index }) => ({
      place: `${file}:${source.slice(0, index).split("\n").length}`,
      text: lines.replace(new RegExp(`^${indent} \\* ?`, "gm"), ""),
      runs: run !== undefined,
    }),
  );
});

const moduleOf = (at: number) => `example-${at}`;

describe("examples of the API reference", () => {
  let project: ToolProject;
  before(() => {
    project = new ToolProject(
      {
        "src/sum.ts": GUIDE_FILES["src/sum.ts"] ?? assert.fail(),
        ...Object.fromEntries(EXAMPLES.map(({ text }, at) => [`src/${moduleOf(at)}.ts`, `${text}export {};\n`])),
      },
      { ...STRICT, types: ["node"], noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
    );
    symlinkSync(REPOSITORY, join(project.root, "node_modules/svc-gen"));
  });

  it("at least twenty symbols have an example", () => {
    assert.ok(EXAMPLES.length >= 20, `${EXAMPLES.length}`);
    assert.ok(EXAMPLES.filter(({ runs }) => runs).length >= 5);
  });

  it("all compile", () => {
    // Only the tool itself is generated: examples have tool classes too.
    const only = { ...JSON.parse(readFileSync(join(project.root, "tsconfig.json"), "utf8")), include: undefined };
    project.write({ "tsconfig.sum.json": JSON.stringify({ ...only, files: ["src/sum.ts"] }) });
    const generated = spawnSync(
      process.execPath,
      [join(REPOSITORY, "generator/bin.js"), "--quiet", "--project", "tsconfig.sum.json"],
      { cwd: project.root, encoding: "utf8" },
    );
    assert.equal(generated.status, 0, generated.stderr);
    const tsc = join(REPOSITORY, "node_modules/typescript/bin/tsc");
    const { status, stdout } = spawnSync(process.execPath, [tsc], { cwd: project.root, encoding: "utf8" });
    const named = stdout.replace(/src\/example-(\d+)\.ts/g, (file, at) => `${EXAMPLES[Number(at)]?.place} (${file})`);
    assert.equal(status, 0, named);
  });

  for (const [at, { place, runs }] of EXAMPLES.entries()) {
    if (!runs) continue;
    it(`${place} runs`, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [`dist/${moduleOf(at)}.js`], {
        cwd: project.root,
        encoding: "utf8",
      });
      assert.equal(status, 0, stderr);
      assert.notEqual(stdout, "");
    });
  }
});
