/** Where the files go: beside the sources, outside of the project, and where nothing can be written. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs, { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { EXIT } from "#generator/cli/cli.js";
import { makeFolders } from "#generator/files/atomic-write.js";
import { REPOSITORY } from "../repository.js";
import { compile, FASTEST } from "../typescript/compilers.js";
import { STRICT, ToolProject, toolSource } from "./project.js";
import { svcGenIn } from "./run-cli.js";

let project: ToolProject;
beforeEach(() => {
  project = new ToolProject({ "src/sum.ts": toolSource("Sum", "{ a: string }") });
});

async function svcGen(...args: string[]): Promise<{ code: number; said: string }> {
  const { code, out, err } = await svcGenIn(project.root, ["--quiet", ...args]);
  return { code, said: out + err };
}

const compiled = (options: object = {}) => {
  project.write({
    "tsconfig.json": JSON.stringify({ compilerOptions: { ...STRICT, ...options }, include: ["src", "made"] }),
  });
  return compile(FASTEST, project.root);
};

test("next to the sources, which are followed; outside of rootDir; outside of the package", async () => {
  assert.equal((await svcGen("--out", "src")).code, EXIT.done);
  assert.equal((await svcGen("--out", "src")).said, "up to date\n");
  assert.equal(compiled(), "");
  assert.equal((await svcGen("--out", "src")).code, EXIT.done);
  project.write({ "src/sum.ts": toolSource("Sum", "{ a: string; b: bigint }") });
  assert.equal(
    (await svcGen("--out", "src")).said,
    ["src/contracts.ts", "meta.json"].map((path) => `wrote ${path}\n`).join(""),
  );
  project.write({ "src/more.ts": toolSource("More", "{ a: string }") });
  assert.match((await svcGen("--out", "src")).said, /^wrote src\/contracts\.ts$/m);

  assert.equal((await svcGen("--out", "made")).code, EXIT.done);
  assert.equal(compiled({ rootDir: "." }), "");

  project.write({
    "package/package.json": '{ "type": "module" }',
    "package/tsconfig.json": '{ "extends": "../tsconfig" }',
  });
  project.write({ "package/src/sum.ts": toolSource("Sum", "{ a: string }") });
  project.write({ "package/tsconfig.json": JSON.stringify({ compilerOptions: STRICT, include: ["src"] }) });
  assert.equal((await svcGen("--project", "package", "--out", "../beside")).code, EXIT.done);
  assert.match(readFileSync(join(project.root, "beside/server.ts"), "utf8"), /from "\.\.\/package\/src\/sum\.js";/);
});

test("another process may create the folder in the same moment", (t) => {
  const folder = join(project.root, "made");
  const seenTooEarly = t.mock.method(fs, "lstatSync", () => undefined);
  syncBuiltinESMExports();
  t.after(() => {
    seenTooEarly.mock.restore();
    syncBuiltinESMExports();
  });
  mkdirSync(folder);
  assert.equal(makeFolders(project.root, join(folder, "server.ts")), undefined);
});

test("a file that svc-gen did not write is not replaced", async () => {
  project.write({ "src/server.ts": "export const mine = 1;\n" });
  const { code, said } = await svcGen("--out", "src");
  assert.equal(code, EXIT.failure);
  assert.match(said, /"src\/server\.ts" was not written by svc-gen \(move it, or pass another folder: --out FOLDER\)/);
  assert.equal(readFileSync(join(project.root, "src/server.ts"), "utf8"), "export const mine = 1;\n");
  assert.equal(existsSync(join(project.root, "src/contracts.ts")), false);
  const other = new ToolProject({
    "src/sum.ts": toolSource("Sum", "{ a: string }"),
    "meta.json": '{ "title": "A site" }',
  });
  const refused = await svcGenIn(other.root, []);
  assert.deepEqual(refused, {
    code: EXIT.failure,
    out: "",
    err: 'svc-gen: "meta.json" was not written by svc-gen (move it)\n',
  });
  for (const text of ["[]\n", '[\n<<<<<<< HEAD\n  { "fqn": "xyz.demo.a@1" }\n=======\n>>>>>>> b\n]\n']) {
    other.write({ "meta.json": text });
    assert.equal((await svcGenIn(other.root, [])).code, EXIT.done);
  }
});

test("if files cannot be written, one message says so, and no file remains", async () => {
  project.write({ file: "x" });
  mkdirSync(join(project.root, "taken/server.ts"), { recursive: true });
  for (const [out, sentence] of [
    ["file", /^svc-gen: cannot write "\S+\/file\/contracts\.ts": its folder is a file \(nothing was replaced\)\n$/],
    [
      "file/deeper",
      /^svc-gen: cannot write "\S+\/file\/deeper\/contracts\.ts": its folder is a file \(nothing was replaced\)\n$/,
    ],
    ["taken", /^svc-gen: cannot write "\S+\/taken\/server\.ts": it is a folder \(nothing was replaced\)\n$/],
  ] as const) {
    const { code, said } = await svcGen("--out", out);
    assert.match(said, sentence);
    assert.equal(code, EXIT.failure);
    assert.equal(existsSync(join(project.root, out, "contracts.ts")), false);
  }
  project.write({ "src/sum.ts": toolSource("Sum", "{ a: any }") });
  const { err } = await svcGenIn(project.root, ["--out", "taken"]);
  assert.match(err, /SVC190[\s\S]*svc-gen: cannot write/, "what the run found is said too");
  const names = readdirSync(project.root, { recursive: true, encoding: "utf8" });
  assert.deepEqual(
    names.filter((name) => name.endsWith(".tmp")),
    [],
  );
});

test("a full disk does not change the old files", { skip: process.platform !== "linux" }, async () => {
  await svcGen();
  const read = () =>
    ["contracts", "server"].map((name) => readFileSync(join(project.root, `src/generated/${name}.ts`)));
  const before = read();
  project.write({ "src/sum.ts": toolSource("Sum", "{ a: string; b: bigint; c: string[] }") });
  // Simulates a disk that is full after the first few kilobytes, by a limit on the size of files.
  const bin = join(REPOSITORY, "generator/bin.js");
  const { status, stderr } = spawnSync(
    "sh",
    ["-c", `ulimit -f 1; trap '' XFSZ; exec "$0" "$1" --quiet`, process.execPath, bin],
    {
      cwd: project.root,
      encoding: "utf8",
    },
  );
  assert.equal(status, EXIT.failure, stderr);
  assert.match(
    stderr,
    /^svc-gen: cannot write "\S+\/src\/generated\/\w+\.ts": the file is larger than the system allows \(nothing was replaced\)\n$/,
  );
  assert.deepEqual(read(), before);
  assert.equal(readdirSync(join(project.root, "src/generated")).length, 2);
});

test("a full disk behind standard output causes one message", { skip: process.platform !== "linux" }, () => {
  const full = openSync("/dev/full", "w");
  const { status, stderr } = spawnSync(process.execPath, [join(REPOSITORY, "generator/bin.js"), "--help"], {
    stdio: ["ignore", full, "pipe"],
    encoding: "utf8",
  });
  closeSync(full);
  assert.deepEqual([status, stderr], [EXIT.failure, "svc-gen: cannot write to standard output: ENOSPC\n"]);
});
