/** What V8 has compiled is used when it was made of this text, whole, by this V8 with these flags; never believed otherwise. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { keepCompiled, requireCompiled } from "#generator/code-cache.js";
import { REPOSITORY, ToolProject, toolSource } from "./project.js";

const require = createRequire(import.meta.url);

describe("code cache", () => {
  let project: ToolProject;
  let path: string;
  let folder: string;
  beforeEach(() => {
    project = new ToolProject({ "part.cjs": "module.exports = 1;", "module.cjs": moduleOf("1") });
    path = join(project.root, "module.cjs");
    folder = join(project.root, "kept");
  });
  afterEach(() => project.remove());

  const moduleOf = (value: string) =>
    `exports.value = ${value}; exports.part = require("./part.cjs"); exports.here = [__filename, __dirname, this === exports];`;
  const load = () => {
    delete require.cache[path];
    const exports = requireCompiled(path, folder) as { value: number; part: number; here: unknown[] };
    assert.equal(require(path), exports);
    assert.deepEqual([exports.part, exports.here], [1, [path, project.root, true]]);
    return exports.value;
  };
  const kept = () => readdirSync(folder).map((name) => join(folder, name));
  /** Loads and keeps, and says whether what was kept before was of no use. */
  const wasMade = (value: number) => {
    const [before] = kept();
    const inode = before && statSync(before).ino;
    assert.equal(load(), value);
    keepCompiled();
    const [after = ""] = kept();
    return statSync(after).ino !== inode;
  };

  it("what was kept is used, and nothing is kept before it is asked for", () => {
    assert.equal(load(), 1);
    assert.throws(kept, { code: "ENOENT" });
    keepCompiled();
    assert.equal(kept().length, 1);
    assert.equal(wasMade(1), false);
  });

  it("a text that changes, also one of the same length, is compiled", () => {
    load();
    keepCompiled();
    project.write({ "module.cjs": moduleOf("2") });
    assert.equal(wasMade(2), true);
    assert.equal(wasMade(2), false);
  });

  it("what is damaged or cut short is made anew", () => {
    load();
    keepCompiled();
    const [file = ""] = kept();
    const whole = readFileSync(file);
    for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 50)) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] as number) ^ 1;
      writeFileSync(file, damaged);
      assert.equal(wasMade(1), true, `byte ${at}`);
    }
    for (const length of [0, 39, 40, 41, whole.length - 1]) {
      writeFileSync(file, whole.subarray(0, length));
      assert.equal(wasMade(1), true, `${length} bytes`);
    }
  });

  it("flags that change between loading and keeping: nothing is kept", () => {
    load();
    setFlagsFromString("--max-lazy");
    keepCompiled();
    setFlagsFromString("--no-max-lazy");
    assert.throws(kept, { code: "ENOENT" });
  });

  it("where nothing can be written, nothing is kept", () => {
    writeFileSync(folder, "");
    assert.equal(load(), 1);
    keepCompiled();
    assert.equal(readFileSync(folder, "utf8"), "");
    rmSync(folder);
    assert.equal(load(), 1);
  });

  it("of the files of other versions and flags the newest stay", () => {
    mkdirSync(folder);
    for (const age of [5, 1, 9, 3, 7, 2, 8, 6, 4]) {
      writeFileSync(join(folder, `old${age}`), "");
      utimesSync(join(folder, `old${age}`), 1_000 - age, 1_000 - age);
    }
    load();
    keepCompiled();
    const [made = "", ...old] = readdirSync(folder).sort();
    assert.match(made, /^module\.cjs\.\d+\.bin$/);
    assert.deepEqual(
      old,
      [1, 2, 3, 4, 5, 6, 7].map((age) => `old${age}`),
    );
  });

  it("a run keeps what it has compiled for the next one, in the build of svc-gen", () => {
    project.write({ "src/sum.ts": toolSource("Sum", "{ a: string }") });
    const build = join(REPOSITORY, "dist/code-cache");
    mkdirSync(build, { recursive: true });
    // Flags that nobody else runs with.
    const args = [`--stack-size=${900 + (process.pid % 80)}`, join(REPOSITORY, "generator/bin.js")];
    const svcGen = () => {
      rmSync(join(project.root, "node_modules/.cache"), { recursive: true, force: true });
      assert.equal(spawnSync(process.execPath, args, { cwd: project.root }).status, 0);
    };
    const before = new Set(readdirSync(build));
    svcGen();
    const [made = "", ...more] = readdirSync(build).filter((name) => !before.has(name) && name.endsWith(".bin"));
    assert.deepEqual([made.replace(/\d+/, "N"), more], ["typescript.js.N.bin", []]);
    const { ino, size } = statSync(join(build, made));
    assert.ok(size > 2 ** 20);
    svcGen();
    assert.equal(statSync(join(build, made)).ino, ino);
    rmSync(join(build, made));
  });
});
