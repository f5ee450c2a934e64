/** Formatters and linters, as an author may run them over the whole project, leave the generated files alone. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { format } from "prettier";
import { sourceOf, ZOO } from "../types/zoo.js";
import { REPOSITORY, ToolProject, toolSource } from "./project.js";

const GENERATED = ["contracts.ts", "server.ts"];
const committed = (...folders: string[]) => {
  const folder = join(REPOSITORY, ...folders, "src/generated");
  return GENERATED.map((name) => [join(...folders, name), readFileSync(join(folder, name), "utf8")] as const);
};

// Long names, quotes and much of everything, in folders whose names formatters would quote otherwise.
const zoo = new ToolProject({
  ...Object.fromEntries(ZOO.map((each, index) => [`src/tool${index}.ts`, sourceOf(each, index)])),
  [`src/${"a very long folder/".repeat(6)}it's.ts`]: toolSource(`Tool${"WithAVeryLongName".repeat(6)}`, "{ a: 1 }"),
  'src/say "when".ts': toolSource("Quoted", "{ a: 1 }"),
  'src/"it\'s".ts': toolSource("Both", "{ a: 1 }"),
});
after(() => zoo.remove());
const built = Object.entries(zoo.build()).filter(([path]) => path.endsWith(".ts"));

const FILES = new Map([
  ...readdirSync(join(REPOSITORY, "examples")).flatMap((name) => committed("examples", name)),
  ...committed("test/typescript/6"),
  ...built.map(([path, text]) => [path.replace("src/generated", "zoo"), text] as const),
]);

test("prettier, by default settings", async () => {
  for (const [path, text] of FILES) {
    assert.equal((await format(text, { parser: "typescript" })) === text, true, `prettier changes ${path}`);
  }
});

test("biome, by default settings: formatter, linter, order of imports", () => {
  const project = new ToolProject(Object.fromEntries([...FILES].map(([path, text]) => [join("checked", path), text])));
  try {
    const biome = join(REPOSITORY, "node_modules/@biomejs/biome/bin/biome");
    const options = ["check", "--write", "--unsafe", "--error-on-warnings", "--files-max-size=10000000", "checked"];
    const { status, stderr } = spawnSync(process.execPath, [biome, ...options], {
      cwd: project.root,
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    for (const [path, text] of FILES) {
      assert.equal(readFileSync(join(project.root, "checked", path), "utf8") === text, true, `biome changes ${path}`);
    }
  } finally {
    project.remove();
  }
});
