/** `.env` as `svc-gen dev` reads it. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readEnvFile } from "#generator/files/env-file.js";
import { scratchFolder } from "../scratch-folder.js";

const root = scratchFolder();

const read = (text: string) => {
  writeFileSync(join(root, ".env"), text);
  return readEnvFile(root);
};

test("values with quotes, comments and several lines", () => {
  const text = `\ufeff# first
export A=1

  B = two # a comment
C="line 1
line 2 without an equals sign" # more
D='it # is'
E="unclosed
F=a=b
G=`;
  assert.deepEqual(
    { ...read(text) },
    { A: "1", B: "two", C: "line 1\nline 2 without an equals sign", D: "it # is", E: '"unclosed', F: "a=b", G: "" },
  );
});

test("a line without = is refused with its number: Node would drop it together with the next one", () => {
  assert.throws(() => read('A="x\ny"\n# z\nTOKEN\nB=1\n'), /^Error: \.env:4: expected NAME=value or a comment \(#\)$/);
  assert.throws(() => read("A=1\r\nB: 2"), /^Error: \.env:2: /);
});
