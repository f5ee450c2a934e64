/** Projects as they lie on disk: workspaces, pnpm's links, other source folders, several tsconfigs. Each generates, compiles and serves. */

import assert from "node:assert/strict";
import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { EXIT } from "#generator/cli/cli.js";
import { generate } from "#generator/compile/generate.js";
import { startServer } from "../e2e/process.js";
import { compile, FASTEST } from "../typescript/compilers.js";
import { STRICT, ToolProject, toolSource } from "./project.js";
import { svcGenIn } from "./run-cli.js";

/** Generates below `root`, writes, lets the author's tsc compile, and starts what it has made. */
async function built(
  project: ToolProject,
  folder: string,
  options: { tsconfig?: string; out?: string } = {},
  args = ["-p", "."],
  server = "dist/generated/server.js",
): Promise<string[]> {
  const root = join(project.root, folder);
  const { files, diagnostics } = generate({ root, ...options });
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === "error").map(({ code, message }) => `${code} ${message}`),
    [],
  );
  project.write(Object.fromEntries(files.map(({ path, text }) => [join(folder, path), text])));
  assert.equal(compile(FASTEST, root, args), "");
  await serves(join(root, server));
  return files.map(({ path }) => path);
}

/** The server starts, answers and stops. */
async function serves(entrypoint: string): Promise<void> {
  const server = await startServer(entrypoint, {});
  try {
    assert.equal((await fetch(`${server.url}/Sum/health`)).status, 200);
  } finally {
    assert.equal(await server.stop(), 0);
  }
}

const config = (options: object = {}, more: object = {}) =>
  JSON.stringify({ compilerOptions: { ...STRICT, ...options }, include: ["src"], ...more });

test("a workspace: the runtime is hoisted, types come from a sibling package, its tsconfig is referenced and not built", async () => {
  const project = new ToolProject({
    "tsconfig.json": JSON.stringify({
      files: [],
      references: [{ path: "packages/types" }, { path: "packages/tools" }],
    }),
    "packages/types/package.json":
      '{ "name": "@w/types", "version": "1.0.0", "type": "module", "exports": "./dist/index.js" }',
    "packages/types/tsconfig.json": config({ composite: true, declaration: true }),
    "packages/types/src/index.ts": "export interface Shared { z: string; a: number }\n",
    "packages/tools/package.json": '{ "name": "@w/tools", "version": "1.0.0", "type": "module" }',
    "packages/tools/tsconfig.json": config({ composite: true }, { references: [{ path: "../types" }] }),
    "packages/tools/src/sum.ts": toolSource("Sum", "Shared", '"done"', 'import type { Shared } from "@w/types";'),
  });
  mkdirSync(join(project.root, "node_modules/@w"), { recursive: true });
  symlinkSync("../../packages/types", join(project.root, "node_modules/@w/types"));
  const files = await built(project, "packages/tools", {}, ["-b"]);
  assert.deepEqual(files, ["src/generated/contracts.ts", "src/generated/server.ts", "meta.json"]);
});

test("a tsconfig with only references: the referenced one with files is read", async () => {
  const project = new ToolProject({
    "tsconfig.json": JSON.stringify({ files: [], references: [{ path: "./tsconfig.src.json" }] }),
    "tsconfig.src.json": config({ composite: true }),
    "src/sum.ts": toolSource("Sum", "{ a: string }"),
  });
  await built(project, ".", {}, ["-b"]);
});

test("tsconfigs without files that refer to each other", async () => {
  const project = new ToolProject({
    "tsconfig.json": '{ "files": [], "references": [{ "path": "./other" }] }',
    "other/tsconfig.json": '{ "files": [], "references": [{ "path": "." }, { "path": ".." }] }',
  });
  const [wrong] = generate({ root: project.root }).diagnostics;
  assert.match(`${wrong?.code} ${wrong?.message}`, /^SVC101 .*other\/tsconfig\.json includes no files$/);
});

test("broken and circular links next to a tool", () => {
  const project = new ToolProject({ "src/sum.ts": toolSource("Sum", "{ a: string }") });
  for (const [link, target] of [
    ["circle", "circle"],
    ["nowhere", "gone"],
    ["above", ".."],
  ] as const)
    symlinkSync(target, join(project.root, "src", link));
  assert.notDeepEqual(project.build(), {});
});

test("pnpm's links: the packages are in a store next to the links", async () => {
  const project = new ToolProject({
    "src/sum.ts": toolSource("Sum", "Shared", '"done"', 'import type { Shared } from "shared";'),
  });
  const store = join(project.root, "node_modules/.pnpm/shared@1.0.0/node_modules/shared");
  project.write({
    "node_modules/.pnpm/shared@1.0.0/node_modules/shared/package.json":
      '{ "name": "shared", "version": "1.0.0", "types": "i.d.ts" }',
    "node_modules/.pnpm/shared@1.0.0/node_modules/shared/i.d.ts": "export interface Shared { b: string; a: number }",
  });
  symlinkSync(store, join(project.root, "node_modules/shared"));
  const runtime = join(project.root, "node_modules/.pnpm/svc-runtime@0.1.0/node_modules");
  mkdirSync(runtime, { recursive: true });
  renameSync(join(project.root, "node_modules/svc-runtime"), join(runtime, "svc-runtime"));
  symlinkSync(join(runtime, "svc-runtime"), join(project.root, "node_modules/svc-runtime"));
  assert.ok(realpathSync(join(project.root, "node_modules/svc-runtime")).endsWith("runtime"));
  await built(project, ".");
});

test("sources elsewhere, output elsewhere, a named tsconfig", async () => {
  const project = new ToolProject({
    "config/tsconfig.build.json": JSON.stringify({
      compilerOptions: { ...STRICT, rootDir: "../lib dir", outDir: "../dist" },
      include: ["../lib dir"],
    }),
    "lib dir/tools/sum.ts": toolSource("Sum", "{ a: string }"),
  });
  rmSync(join(project.root, "tsconfig.json"));
  const options = { tsconfig: "config/tsconfig.build.json", out: "lib dir/made" };
  const files = await built(project, ".", options, ["-p", "config/tsconfig.build.json"], "dist/made/server.js");
  assert.ok(files.includes("lib dir/made/server.ts"));
});

test("a monorepo's root with --project; spaces and other alphabets in every path", async () => {
  const project = new ToolProject(
    {
      "pakker/æ øl/package.json": '{ "name": "tools", "type": "module" }',
      "pakker/æ øl/tsconfig.json": config(),
      "pakker/æ øl/src/日本 語/summe.ts": toolSource("Sum", "{ a: string }"),
    },
    STRICT,
    "svc gen ünï ",
  );
  const { code, err } = await svcGenIn(project.root, ["--project", "pakker/æ øl"]);
  assert.equal(code, EXIT.done, err);
  const root = join(project.root, "pakker/æ øl");
  assert.equal(compile(FASTEST, root), "");
  await serves(join(root, "dist/generated/server.js"));
});
