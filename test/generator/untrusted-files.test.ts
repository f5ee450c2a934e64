/** svc-gen in a checkout that is not trusted (SECURITY.md): no file, type or pattern in it hangs a command. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, truncateSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { EXIT } from "#generator/cli.js";
import { REPOSITORY, ToolProject, toolSource } from "./project.js";

const SUM = { "src/sum.ts": toolSource("Sum", "{ a: string }") };

describe("no file hangs a command", () => {
  /** One command line in a process of its own, since one that hangs would hang the test. */
  function run(root: string, ...args: string[]) {
    const bin = join(REPOSITORY, "generator/bin.js");
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, ["--max-old-space-size=512", bin, ...args], {
      cwd: root,
      encoding: "utf8",
      timeout: 60_000,
      killSignal: "SIGKILL",
    });
    assert.equal(signal, null, `${args.join(" ")}: it hung`);
    return { code: status, said: stdout + stderr };
  }

  const pipe = (path: string) => execFileSync("mkfifo", [path]);
  const endless = (path: string) => symlinkSync("/dev/zero", path);
  const posix = { skip: process.platform === "win32" };

  for (const [what, make] of [
    ["a pipe", pipe],
    ["a link to an endless device", endless],
  ] as const) {
    test(`${what}: tsconfig.json, what it extends, sources, meta.json, generated files, package.json`, posix, () => {
      const project = (path: string, files: Readonly<Record<string, string>> = {}) => {
        const made = new ToolProject({ ...SUM, ...files });
        rmSync(join(made.root, path), { force: true });
        mkdirSync(dirname(join(made.root, path)), { recursive: true });
        make(join(made.root, path));
        return made.root;
      };
      const tsconfig = (more: object) => ({
        "tsconfig.json": JSON.stringify({ compilerOptions: { strict: true }, include: ["src"], ...more }),
      });
      const refused = /is not a regular file/;
      for (const [root, args, said] of [
        [project("tsconfig.json"), [], refused],
        [project("base.json", tsconfig({ extends: "./base.json" })), [], refused],
        [project("src/odd.ts", tsconfig({ files: ["src/odd.ts"] })), [], refused],
        [project("node_modules/typescript/package.json"), [], refused],
        [project("src/generated/contracts.ts"), ["--check"], make === pipe ? refused : /contracts\.ts: missing/],
        [project("meta.json"), ["invoke", "{}"], make === pipe ? refused : /there is no meta\.json here/],
        [project("package.json"), ["openapi"], /"title": "tools"/],
        [project("old.json"), ["diff", "old.json", "old.json"], refused],
      ] as const) {
        assert.match(run(root, ...args).said, said, args.join(" "));
      }
    });
  }

  test("a file of gigabytes is refused by its size, and one without a size as it is read", posix, () => {
    const project = new ToolProject({ ...SUM, "src/large.ts": "" });
    truncateSync(join(project.root, "src/large.ts"), 3 * 2 ** 30);
    assert.match(run(project.root).said, /\/src\/large\.ts" has more than 67108864 bytes, which svc-gen does not read/);
    truncateSync(join(project.root, "src/large.ts"), 0);
    project.write({ "meta.json": "[]" });
    truncateSync(join(project.root, "meta.json"), 2 ** 30);
    assert.match(
      run(project.root, "diff", "meta.json", "meta.json").said,
      /\/meta\.json" has more than 67108864 bytes/,
    );
    const unsized = "/proc/self/pagemap";
    if (process.platform === "linux") {
      assert.match(run(project.root, "diff", unsized, unsized).said, /has more than 67108864 bytes|cannot read/);
    }
  });

  test("a stale file of millions of lines is not compared with the new one", () => {
    const project = new ToolProject({ ...SUM, "src/generated/contracts.ts": "\n".repeat(60 * 2 ** 20) });
    assert.match(
      run(project.root, "--check").said,
      /^src\/generated\/contracts\.ts: differs in more than 2000 lines$/m,
    );
  });

  test("an example whose pattern takes exponential time, and a deeply nested type, are errors", () => {
    const slow = `interface Input {\n/** @pattern ^(a+)+$\n * @example "${"a".repeat(60)}!" */\na: string }`;
    const project = new ToolProject({ "src/sum.ts": toolSource("Sum", "Input", '"done"', slow) });
    assert.match(run(project.root).said, /SVC173: .*its pattern takes longer than 2000 ms for it/);
    const deep = `{ a: ${"{ x: ".repeat(5_000)}string${" }".repeat(5_000)} }`;
    project.write({ "src/sum.ts": toolSource("Sum", deep) });
    const { code, said } = run(project.root);
    assert.deepEqual(
      [code, said],
      [EXIT.failure, "svc-gen: a type, an expression or a document nests too deeply to be read (nest less)\n"],
    );
  });
});
