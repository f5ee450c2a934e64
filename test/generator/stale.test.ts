/** What an earlier run found is not believed once anything that the types rest on is another: through the command line. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { EXIT } from "#generator/cli.js";
import { COMPILERS } from "../typescript/compilers.js";
import { REPOSITORY, STRICT, ToolProject, toolSource } from "./project.js";
import { svcGenIn } from "./run-cli.js";

const BIN = join(REPOSITORY, "generator/bin.js");

const projects: ToolProject[] = [];
after(() => {
  for (const project of projects) project.remove();
});

/** A project of two tools, of which one takes a type that no file imports. */
function projectOf(files: Readonly<Record<string, string>>, options: object = STRICT): ToolProject {
  const project = new ToolProject(
    {
      "src/one.ts": toolSource("One", "{ value: Ambient }"),
      "src/two.ts": toolSource("Two", "{ value: string }"),
      ...files,
    },
    options,
  );
  projects.push(project);
  return project;
}

/** Runs the command line; gives its exit code. */
async function svcGen({ root }: ToolProject, ...args: string[]): Promise<number> {
  const { code, err } = await svcGenIn(root, ["--quiet", ...args]);
  assert.ok(code === EXIT.done || code === EXIT.stale, err);
  return code;
}

/** The properties that a caller of the first tool has to send within `value`. */
function required({ root }: ToolProject): readonly string[] {
  const [{ input_schema }] = JSON.parse(readFileSync(join(root, "meta.json"), "utf8"));
  const { value } = input_schema.properties;
  return (value.$ref === undefined ? value : input_schema.$defs.Ambient).required;
}

const typed = (member: string) => `interface Ambient { ${member}: string }\n`;
const manifest = (name: string) => `{ "name": "${name}", "version": "1.0.0", "types": "index.d.ts" }`;

for (const [what, path, before, after, more = {}, options = STRICT] of [
  ["a global declaration file", "src/ambient.d.ts", typed("first"), typed("second")],
  [
    "a global that a module declares",
    "src/more.ts",
    `export {};\ndeclare global { ${typed("first")} }\n`,
    `export {};\ndeclare global { ${typed("second")} }\n`,
  ],
  [
    "the global types of a package",
    "node_modules/@types/globe/index.d.ts",
    typed("first"),
    typed("second"),
    { "node_modules/@types/globe/package.json": manifest("@types/globe") },
    { ...STRICT, types: ["globe"] },
  ],
] as const) {
  test(`${what} changes`, () => changes(projectOf({ [path]: before, ...more }, options), path, after));
}

/** Replaces a file of which the first tool's only member depends. */
async function changes(project: ToolProject, path: string, text: string): Promise<void> {
  assert.equal(await svcGen(project), EXIT.done);
  assert.deepEqual(required(project), ["first"]);
  assert.equal(await svcGen(project, "--check"), EXIT.done);
  project.write({ [path]: text });
  assert.equal(await svcGen(project, "--check"), EXIT.stale);
  assert.equal(await svcGen(project), EXIT.done);
  assert.deepEqual(required(project), ["second"]);
}

test("a library file of the project's own TypeScript changes", async () => {
  const ambient = "type Ambient = { [Name in Word]: string };\n";
  const project = projectOf({ "src/ambient.d.ts": ambient }, { ...STRICT, types: [] });
  const { folder } = COMPILERS[1];
  const copy = join(project.root, "node_modules/typescript");
  mkdirSync(copy);
  cpSync(join(folder, "package.json"), join(copy, "package.json"));
  cpSync(join(folder, "lib"), join(copy, "lib"), { recursive: true, filter: (path) => !/\.js$/.test(path) });
  const library = "node_modules/typescript/lib/lib.es5.d.ts";
  const text = readFileSync(join(project.root, library), "utf8");
  project.write({ [library]: `${text}\ntype Word = "first";\n` });
  await changes(project, library, `${text}\ntype Word = "second";\n`);
});

test("another version of Node runs", () => {
  const project = projectOf({ "src/ambient.d.ts": typed("first") });
  /** Whether the executable loads the compiler, in a process that says that it is this version. */
  const loads = (version: string) => {
    const preload = `
      import { createRequire } from "node:module";
      Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });
      process.on("exit", () => {
        const loaded = Object.keys(createRequire("/").cache).some((path) => path.includes("ts-morph"));
        process.stdout.write("loaded " + loaded);
      });`;
    const args = ["--import", `data:text/javascript,${encodeURIComponent(preload)}`, BIN, "--quiet"];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: project.root, encoding: "utf8" });
    assert.equal(status, 0, stderr);
    return stdout.endsWith("loaded true");
  };
  assert.deepEqual([loads("20.99.0"), loads("20.99.0"), loads("20.99.1")], [true, false, true]);
});
