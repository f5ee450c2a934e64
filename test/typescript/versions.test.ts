/** Projects on TypeScript 7.0 and 7.1: what its tsc takes, refuses and compiles. test/e2e/typescript.test.ts has the versions before. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { STRICT, ToolProject, toolSource } from "../generator/project.js";
import { COMPILERS, projectWith } from "./compilers.js";
import { codes, config, nodenext, TOOL, testOptions } from "./option-tests.js";
import { testStrictest } from "./strictest-tests.js";

const [oldest, , seven, newest] = COMPILERS;

testOptions([seven, newest]);
testStrictest([seven, newest]);

test("where a contract depends on it, an error of svc-gen's compiler is an error for every version", () => {
  const other = { "src/wrong.ts": "export const size: string = 1;\n" };
  const item = 'import type { Item } from "./item.js";\n';
  const cases: readonly (readonly [string, string, string, Readonly<Record<string, string>>?])[] = [
    ["error TS2307", 'import type { Item } from "./nowhere.js";\n', "{ item: Item }"],
    ["error TS2307", item, "{ item: Item }", { "src/item.ts": 'export type { Item } from "./nowhere.js";\n' }],
    ["error TS2304", 'const read = () => ({ a: missing, b: "" });\n', '{ item: ReturnType<typeof read>["b"] }'],
    ["error TS2314", "interface Base<I> { one: I }\ninterface Next extends Base {}\n", "{ next: Next }"],
    ["note TS2304", "export class Plain { run() { return missing; } }\n", "{ a: string }"],
  ];
  for (const [expected, before, input, more = {}] of cases) {
    const project = projectWith(newest, { "src/a.ts": toolSource("A", input, undefined, before), ...more, ...other });
    const found = project.generate().diagnostics.filter(({ code }) => code.startsWith("TS"));
    const shown = found.map(({ code, severity }) => `${severity} ${code}`).sort();
    assert.deepEqual(shown, [expected, "note TS2322"].sort(), before);
  }
});

test("TypeScript 5.9 is not strict by itself, and svc-gen knows; 6 and 7 are, and may be told otherwise", () => {
  const loose = config({ ...nodenext, target: "es2023", lib: ["es2023"], types: [] });
  for (const compiler of COMPILERS) {
    const project = projectWith(compiler, { "src/sum.ts": TOOL, "tsconfig.json": loose });
    const expected = compiler === oldest ? ["SVC102"] : [];
    assert.deepEqual(codes(project.generate().diagnostics), expected, compiler.version);
    project.write({ "tsconfig.json": config({ ...nodenext, target: "es2023", strict: false }) });
    assert.deepEqual(codes(project.generate().diagnostics), ["SVC102"], compiler.version);
  }
});

test("an unknown value is left out, and an unknown target is the newest", () => {
  const project = new ToolProject({ "src/sum.ts": TOOL }, { ...STRICT, target: "es2099", lib: ["es2098"] });
  const { diagnostics, files } = project.generate();
  assert.deepEqual(diagnostics, []);
  assert.equal(files.length, 3);
});
