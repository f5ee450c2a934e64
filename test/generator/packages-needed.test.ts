/** With a part of ts-morph disabled a user misses the result that each test names. test/packages.test.ts removes all of it. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { generate } from "#generator/compile/generate.js";
import { ToolProject, toolSource } from "./project.js";

const morph: typeof import("ts-morph") = createRequire(import.meta.url)("ts-morph");

const project = new ToolProject({
  "src/a.ts": `${toolSource("A", "{ a: string }")}
abstract class Base<T> extends SvcTool<{ b: string }, T> {
  static override fqn() { return "xyz.test.tool-b@1"; }
  static override description() { return "Another tool."; }
  static override path() { return "B"; }
  override async invoke(): Promise<T> { throw new Error("not run"); }
  override async health() { return StatusCode.OK; }
}
export class B extends Base<"second" | "first"> {}
`,
});

/** The code and the subject of each diagnostic. */
const found = () => generate({ root: project.root }).diagnostics.map(({ code, subject }) => `${code} ${subject ?? ""}`);

test("with ts-morph, all tools are read", () => {
  assert.deepEqual(found(), []);
});

test("without its heritage clauses, a tool class only resembles one", (t) => {
  t.mock.method(morph.ClassDeclaration.prototype, "getHeritageClauses", () => []);
  assert.deepEqual(found(), ["SVC105 A"]);
});

test("without its static members, the name of a tool is unknown", (t) => {
  t.mock.method(morph.MethodDeclaration.prototype, "getBody", () => undefined);
  const keys = ["fqn", "description", "path"];
  assert.deepEqual(
    found(),
    ["A", "B"].flatMap((name) => keys.map((key) => `SVC113 ${name}.${key}()`)),
  );
});

test("without the base of a class, the variants of a tool lose their declared order", (t) => {
  const order = () => {
    const [, tool] = generate({ root: project.root }).contracts ?? [];
    return tool?.output.map(({ name }) => name);
  };
  const declared = order();
  t.mock.method(morph.ClassDeclaration.prototype, "getExtends", () => undefined);
  assert.notDeepEqual(order(), declared);
});
