/** The compiler: it is loaded once, and the runs of a process share what it parsed. */

import assert from "node:assert/strict";
import { createRequire, Module } from "node:module";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { generate } from "#generator/compile/generate.js";
import { ts } from "#generator/compile/project/typescript.js";
import { STRICT, ToolProject, toolSource } from "./project.js";

test("ts-morph's compiler is the only one, and typescript-json-schema uses it even if another one is loaded", () => {
  const require = createRequire(import.meta.url);
  assert.match(ts.version, /^6\.0\./);
  assert.ok(require("ts-morph").ts === ts);
  const path = createRequire(require.resolve("typescript-json-schema")).resolve("typescript");
  assert.equal(require.cache[path], undefined);
  const other = Object.assign(new Module(path), { exports: {}, loaded: true });
  require.cache[path] = other;
  const project = new ToolProject({ "src/a.ts": toolSource("A", '{ a: "x" | 1 | { b?: string[] } }') });
  assert.deepEqual(
    project.generate(true).diagnostics.filter(({ severity }) => severity !== "note"),
    [],
  );
  assert.equal(require.cache[path], other);
  delete require.cache[path];
});

test("the library is parsed once for all runs; its paths and errors are specific to each run", () => {
  const missing = "export const list: ArrayLike<string> = {};\n";
  const above = new ToolProject({
    "packages/one/package.json": '{ "name": "one", "type": "module" }',
    "packages/one/tsconfig.json": JSON.stringify({ compilerOptions: STRICT, include: ["src"] }),
    "packages/one/src/a.ts": `${toolSource("A", "{ a: string }")}${missing}`,
    "src/a.ts": `${toolSource("A", "{ a: string }")}${missing}`,
  });
  const below = new ToolProject({ "src/a.ts": toolSource("A", "{ a: string }") });
  const roots = [above.root, join(above.root, "packages/one")];
  const libraries = roots.map((root) => {
    const related = generate({ root }).diagnostics.flatMap((each) => each.related ?? []);
    const place = related[0]?.place ?? assert.fail("an error whose cause is in the library");
    assert.equal(basename(place.file), "lib.es5.d.ts");
    return join(root, dirname(place.file));
  });
  assert.equal(libraries[0], libraries[1]);
  assert.deepEqual(below.generate().diagnostics, []);
});
