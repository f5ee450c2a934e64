/** svc-gen in a checkout that is not trusted (SECURITY.md): no file, type or pattern in it hangs a command. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, truncateSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { EXIT } from "#generator/cli/cli.js";
import { REPOSITORY, STRICT, ToolProject, toolSource } from "./project.js";

const SUM = { "src/sum.ts": toolSource("Sum", "{ a: string }") };

describe("no file blocks a command", () => {
  /** One command line in a process of its own, since one that hangs would hang the test. */
  function run(root: string, ...args: string[]) {
    const bin = join(REPOSITORY, "generator/bin.js");
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, ["--max-old-space-size=512", bin, ...args], {
      cwd: root,
      encoding: "utf8",
      timeout: 120_000,
      killSignal: "SIGKILL",
    });
    assert.equal(signal, null, `${args.join(" ")}: it hung`);
    return { code: status, said: stdout + stderr };
  }

  const pipe = (path: string) => execFileSync("mkfifo", [path]);
  const endless = (path: string) => symlinkSync("/dev/zero", path);
  const posix = { skip: process.platform === "win32" };

  /** A project in which one path is something other than a file. */
  function project(make: (path: string) => unknown, path: string, config: object = {}): string {
    const tsconfig = JSON.stringify({ compilerOptions: STRICT, include: ["src"], ...config });
    const { root } = new ToolProject({ ...SUM, "tsconfig.json": tsconfig });
    rmSync(join(root, path), { force: true });
    mkdirSync(dirname(join(root, path)), { recursive: true });
    make(join(root, path));
    return root;
  }

  const REFUSED = /is not a regular file/;

  test("a pipe: tsconfig.json, its base, sources, meta.json, generated files, manifests", posix, () => {
    for (const [root, args, said] of [
      [project(pipe, "tsconfig.json"), [], REFUSED],
      [project(pipe, "base.json", { extends: "./base.json" }), [], REFUSED],
      [project(pipe, "src/odd.ts", { files: ["src/odd.ts"] }), [], REFUSED],
      [project(pipe, "node_modules/typescript/package.json"), [], REFUSED],
      [project(pipe, "src/generated/contracts.ts"), ["--check"], REFUSED],
      [project(pipe, "meta.json"), ["invoke", "{}"], REFUSED],
      [project(pipe, "package.json"), [], REFUSED],
      [project(pipe, "old.json"), ["diff", "old.json", "old.json"], REFUSED],
    ] as const) {
      assert.match(run(root, ...args).said, said, args.join(" "));
    }
  });

  test("a link to an endless device: tsconfig.json, a source, meta.json", posix, () => {
    for (const [root, args, said] of [
      [project(endless, "tsconfig.json"), [], REFUSED],
      [project(endless, "src/odd.ts", { files: ["src/odd.ts"] }), [], REFUSED],
      [project(endless, "meta.json"), ["invoke", "{}"], /this folder has no meta\.json/],
      [project(endless, "old.json"), ["diff", "old.json", "old.json"], REFUSED],
    ] as const) {
      assert.match(run(root, ...args).said, said, args.join(" "));
    }
  });

  test(
    "a file of several GB is refused because of its size; a file without a size is refused during reading",
    posix,
    () => {
      const large = new ToolProject({ ...SUM, "src/large.ts": "" });
      truncateSync(join(large.root, "src/large.ts"), 3 * 2 ** 30);
      assert.match(run(large.root).said, /\/src\/large\.ts" is larger than 67108864 bytes, the limit of svc-gen/);
      truncateSync(join(large.root, "src/large.ts"), 0);
      large.write({ "meta.json": "[]" });
      truncateSync(join(large.root, "meta.json"), 2 ** 30);
      assert.match(
        run(large.root, "diff", "meta.json", "meta.json").said,
        /\/meta\.json" is larger than 67108864 bytes/,
      );
      const unsized = "/proc/self/pagemap";
      if (process.platform === "linux") {
        assert.match(run(large.root, "diff", unsized, unsized).said, /has more than 67108864 bytes|cannot read/);
      }
    },
  );

  test("a stale file of millions of lines is not compared with the new one", () => {
    const stale = new ToolProject({ ...SUM, "src/generated/contracts.ts": "\n".repeat(60 * 2 ** 20) });
    assert.match(run(stale.root, "--check").said, /^src\/generated\/contracts\.ts: more than 2000 lines differ$/m);
  });

  test("an example whose pattern takes exponential time, and a deeply nested type, are errors", () => {
    const slow = `interface Input {\n/** @pattern ^(a+)+$\n * @example "${"a".repeat(60)}!" */\na: string }`;
    const made = new ToolProject({ "src/sum.ts": toolSource("Sum", "Input", '"done"', slow) });
    assert.match(run(made.root).said, /SVC173: .*matching it against the pattern takes longer than 2000 ms/);
    const deep = `{ a: ${"{ x: ".repeat(5_000)}string${" }".repeat(5_000)} }`;
    made.write({ "src/sum.ts": toolSource("Sum", deep) });
    const { code, said } = run(made.root);
    assert.deepEqual(
      [code, said],
      [EXIT.failure, "svc-gen: a type, an expression or a document is nested too deeply (reduce its nesting)\n"],
    );
  });
});
