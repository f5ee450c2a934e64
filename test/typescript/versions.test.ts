/** Projects on TypeScript 7: what its tsc takes, refuses and compiles. test/e2e/typescript.test.ts has the versions before. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { STRICT, ToolProject } from "../generator/project.js";
import { COMPILERS, projectWith } from "./compilers.js";
import { codes, config, nodenext, TOOL, testOptions } from "./option-tests.js";
import { testStrictest } from "./strictest-tests.js";

const [oldest, , newest] = COMPILERS;

testOptions([newest]);
testStrictest([newest]);

test("TypeScript 5.9 is not strict by itself, and svc-gen knows; 6 and 7 are, and may be told otherwise", () => {
  const loose = config({ ...nodenext, target: "es2023", lib: ["es2023"], types: [] });
  for (const compiler of COMPILERS) {
    const project = projectWith(compiler, { "src/sum.ts": TOOL, "tsconfig.json": loose });
    const expected = compiler === oldest ? ["SVC102"] : [];
    assert.deepEqual(codes(project.generate().diagnostics), expected, compiler.version);
    project.write({ "tsconfig.json": config({ ...nodenext, target: "es2023", strict: false }) });
    assert.deepEqual(codes(project.generate().diagnostics), ["SVC102"], compiler.version);
    project.remove();
  }
});

test("a value that nobody here knows is left out with a note, and unknown targets are the newest", () => {
  const project = new ToolProject({ "src/sum.ts": TOOL }, { ...STRICT, target: "es2099", lib: ["es2098"] });
  try {
    const { diagnostics, files } = project.generate();
    assert.deepEqual(
      diagnostics.map(({ code, severity, message }) => `${severity} ${code} ${message}`),
      ["note SVC104 svc-gen does not know this option of tsconfig.json, or its value: lib"],
    );
    assert.equal(files.length, 3);
  } finally {
    project.remove();
  }
});
