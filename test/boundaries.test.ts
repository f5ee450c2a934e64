/** The imports of the source: .dependency-cruiser.mjs has the layers, and what each may import. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { cruise, type ICruiseResult } from "dependency-cruiser";
import extractConfiguration from "dependency-cruiser/config-utl/extract-depcruise-config";
import { scratchFolder } from "./scratch-folder.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const { options, ...ruleSet } = await extractConfiguration(join(ROOT, ".dependency-cruiser.mjs"));

async function importsOf(baseDir: string): Promise<ICruiseResult> {
  const folders = ["runtime", "generator", "examples"];
  const { output } = await cruise(folders, { ...options, ruleSet, validate: true, baseDir });
  return output as ICruiseResult;
}

const violationsOf = ({ summary }: ICruiseResult): string[] =>
  summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`).sort();

/** The packages of a manifest that no file of the folder imports. */
function unusedPackages({ modules }: ICruiseResult, folder: string, manifest: object): string[] {
  const used = modules.filter(({ source }) => source.startsWith(folder)).flatMap(({ dependencies }) => dependencies);
  const names = ["dependencies", "optionalDependencies", "peerDependencies"].flatMap((kind) =>
    Object.keys((manifest as Record<string, object>)[kind] ?? {}),
  );
  return names.filter((name) => !used.some(({ module }) => module === name || module.startsWith(`${name}/`)));
}

describe("boundaries", async () => {
  const imports = await importsOf(ROOT);
  const { modules } = imports;
  // Imports of svc-client, and of the platform's modules (`imports` of its package.json), lead to their builds.
  const sourceOf = (path: string) => path.replace(/^(runtime(?:\/client)?)\/dist\/(.*)\.js$/, "$1/$2.ts");
  const edges = modules.flatMap(({ source, dependencies }) => dependencies.map(({ resolved }) => [source, resolved]));

  it("every import is one that the layer of its file allows", () => {
    assert.deepEqual(violationsOf(imports), []);
    assert.ok(modules.length > 400);
  });

  it("every layer imports what it is allowed to", () => {
    const idle = (ruleSet.allowed ?? []).flatMap(({ from, to }) => {
      const [of, not] = [new RegExp(`${from.path}`), [from.pathNot ?? []].flat()];
      const targets = edges.filter(
        ([source = ""]) => of.test(source) && !not.some((each) => new RegExp(each).test(source)),
      );
      // The first is the layer itself.
      const [, ...allowed] = [to.path ?? []].flat();
      const isIdle = (path: string) => !targets.some(([, target = ""]) => new RegExp(path).test(target));
      return allowed.filter(isIdle).map((path) => `${from.path} → ${path}`);
    });
    assert.deepEqual(idle, []);
  });

  for (const [folder, manifest] of [
    ["runtime/client/", "runtime/client/package.json"],
    ["runtime/", "runtime/package.json"],
    ["runtime/redis/", "runtime/redis/package.json"],
    ["runtime/storage/", "runtime/storage/package.json"],
    ["generator/", "package.json"],
  ] as const) {
    it(`every dependency of ${manifest} is imported`, () => {
      const declared = JSON.parse(readFileSync(join(ROOT, manifest), "utf8")) as object;
      assert.deepEqual(unusedPackages(imports, folder, declared), []);
    });
  }

  it("a server without options loads few packages", () => {
    const loaded = new Set(["runtime/index.ts", "runtime/v1.ts", "runtime/internal/generator.ts"]);
    const packages = new Set<string>();
    for (const file of loaded) {
      for (const dependency of modules.find(({ source }) => source === file)?.dependencies ?? []) {
        const { coreModule, dependencyTypes, module, resolved } = dependency;
        const isLoaded = dependencyTypes.some((type) => type === "import" || type === "export");
        if (coreModule || !isLoaded || dependencyTypes.includes("type-only")) continue;
        if (resolved.startsWith("runtime/")) loaded.add(sourceOf(resolved));
        else packages.add(module);
      }
    }
    // And sodium-native, where it is installed.
    assert.deepEqual([...packages].sort(), [
      "@noble/ed25519",
      "@noble/hashes/sha2.js",
      "ajv-formats/dist/formats.js",
      "fastify",
      "pino",
    ]);
    assert.ok(loaded.has("runtime/client/wire/json/scan.ts"));
    assert.deepEqual(
      [...loaded].filter((file) => /^runtime\/(?:testing|redis|storage)/.test(file)),
      [],
    );
  });

  it("runtime/client/wire has no clock and no effects", () => {
    const effects =
      /\b(?:setTimeout|setInterval|setImmediate|queueMicrotask|fetch|console|process|performance|Date\.now)\b/;
    for (const { source } of modules.filter(({ source }) => source.startsWith("runtime/client/wire/"))) {
      const code = readFileSync(join(ROOT, source), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
      assert.equal(effects.exec(code)?.[0], undefined, source);
    }
  });
});

describe("planted violations", async () => {
  const root = scratchFolder();
  const FILES = {
    "runtime/client/wire/json.ts": "export const json = 1;\nexport type Json = 1;",
    "runtime/client/wire/up.ts":
      'import { json } from "./json.js";\nexport { tool } from "../../tool.js";\nexport default json;',
    "runtime/client/wire/type-up.ts": 'import type { Tool } from "../../tool.js";\nexport type Own = Tool;',
    "runtime/client/wire/inline-type-up.ts": 'export type Own = import("../../tool.js").Tool;',
    "runtime/client/wire/called-up.ts": 'export const load = () => import("../../tool.js");',
    "runtime/tool.ts":
      'import { json } from "./client/wire/json.js";\nexport const tool = json;\nexport type Tool = 1;',
    "runtime/client/wire/circle.ts": 'import "./circle-other.js";',
    "runtime/client/wire/circle-other.ts": 'import type {} from "./circle.js";',
    "runtime/client/wire/package.ts": 'import "left-pad";',
    "runtime/client/wire/type-package.ts": 'import type {} from "fastify";',
    "runtime/client/wire/required.ts":
      'const require = createRequire(import.meta.url);\nrequire("pino");\nrequire.resolve("piscina");',
    "runtime/client/wire/node.ts": 'import "node:fs";\nimport "node:crypto";',
    "runtime/server/storage.ts": 'import "../storage/store.js";',
    "runtime/storage/store.ts": 'import "node:fs/promises";\nimport "../client/wire/json.js";',
    "runtime/util/layerless.ts": 'import "../client/wire/json.js";',
    "runtime/orphan.ts": "export {};",
    "generator/compile/emit/source.ts": 'import "../../../runtime/client/wire/json.js";\nimport "ts-morph";',
    "generator/cli/help.ts": 'import "../commands/build.js";',
    "generator/commands/build.ts": 'import "diff";',
    "examples/one/src/one.ts": 'import "../../../runtime/tool.js";\nimport "svc-gen";',
  };
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const imports = await importsOf(root);

  it("are found", () => {
    assert.deepEqual(violationsOf(imports), [
      "no-circular: runtime/client/wire/circle-other.ts → runtime/client/wire/circle.ts",
      "no-orphans: runtime/orphan.ts → runtime/orphan.ts",
      "not-in-allowed: examples/one/src/one.ts → runtime/tool.ts",
      "not-in-allowed: examples/one/src/one.ts → svc-gen",
      "not-in-allowed: generator/cli/help.ts → generator/commands/build.ts",
      "not-in-allowed: generator/compile/emit/source.ts → runtime/client/wire/json.ts",
      "not-in-allowed: generator/compile/emit/source.ts → ts-morph",
      "not-in-allowed: runtime/client/wire/called-up.ts → runtime/tool.ts",
      "not-in-allowed: runtime/client/wire/inline-type-up.ts → runtime/tool.ts",
      "not-in-allowed: runtime/client/wire/node.ts → fs",
      "not-in-allowed: runtime/client/wire/package.ts → left-pad",
      "not-in-allowed: runtime/client/wire/required.ts → pino",
      "not-in-allowed: runtime/client/wire/required.ts → piscina",
      "not-in-allowed: runtime/client/wire/type-package.ts → fastify",
      "not-in-allowed: runtime/client/wire/type-up.ts → runtime/tool.ts",
      "not-in-allowed: runtime/client/wire/up.ts → runtime/tool.ts",
      "not-in-allowed: runtime/server/storage.ts → runtime/storage/store.ts",
      "not-in-allowed: runtime/storage/store.ts → runtime/client/wire/json.ts",
      "not-in-allowed: runtime/tool.ts → runtime/client/wire/json.ts",
      "not-in-allowed: runtime/util/layerless.ts → runtime/client/wire/json.ts",
    ]);
  });

  it("are found in a manifest", () => {
    const manifest = { dependencies: { "left-pad": "1", pin: "1" }, peerDependencies: { piscina: "1", diff: "9" } };
    assert.deepEqual(unusedPackages(imports, "runtime/", manifest), ["pin", "diff"]);
  });
});
