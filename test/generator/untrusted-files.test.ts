/** svc-gen in a checkout that is not trusted (SECURITY.md): no file, type or pattern in it hangs a command. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, truncateSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { EXIT } from "#generator/cli/cli.js";
import { STRICT, ToolProject, toolSource } from "./project.js";

const SUM = { "src/sum.ts": toolSource("Sum", "{ a: string }") };

describe("no file blocks a command", () => {
  /** A command line, by the root of its project, and what it prints. */
  type Case = readonly [root: string, args: readonly string[], said: RegExp];

  /** Command lines one after the other in a process of their own, since one that hangs would hang the test. */
  function run(...lines: readonly (readonly [root: string, args: readonly string[], ...unknown[]])[]) {
    const cli = new URL("../../dist/generator/cli/cli.js", import.meta.url);
    const script = `import { run } from ${JSON.stringify(cli)};
      for (const [cwd, args] of ${JSON.stringify(lines)}) {
        let said = "";
        const print = (text) => { said += text; };
        const code = await run(args, { cwd, env: {}, colour: false, print, complain: print });
        process.stdout.write(JSON.stringify({ code, said }) + "\\n");
      }`;
    const { signal, stdout, stderr } = spawnSync(
      process.execPath,
      ["--max-old-space-size=512", "--input-type=module", "--eval", script],
      { encoding: "utf8", timeout: 240_000, killSignal: "SIGKILL" },
    );
    const ran = stdout.split("\n").slice(0, -1);
    assert.deepEqual(
      [signal, ran.length],
      [null, lines.length],
      `${lines[ran.length]?.[1].join(" ")}: it hung\n${stderr}`,
    );
    return ran.map((line) => JSON.parse(line) as { readonly code: number; readonly said: string });
  }

  function assertSaid(cases: readonly Case[]): void {
    for (const [index, { said }] of run(...cases).entries()) {
      const [, args, expected] = cases[index] as Case;
      assert.match(said, expected, args.join(" "));
    }
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
    assertSaid([
      [project(pipe, "tsconfig.json"), [], REFUSED],
      [project(pipe, "base.json", { extends: "./base.json" }), [], REFUSED],
      [project(pipe, "src/odd.ts", { files: ["src/odd.ts"] }), [], REFUSED],
      [project(pipe, "node_modules/typescript/package.json"), [], REFUSED],
      [project(pipe, "src/generated/contracts.ts"), ["--check"], REFUSED],
      [project(pipe, "meta.json"), ["invoke", "{}"], REFUSED],
      [project(pipe, "package.json"), [], REFUSED],
      [project(pipe, "old.json"), ["diff", "old.json", "old.json"], REFUSED],
    ]);
  });

  test("a link to an endless device: tsconfig.json, a source, meta.json", posix, () => {
    assertSaid([
      [project(endless, "tsconfig.json"), [], REFUSED],
      [project(endless, "src/odd.ts", { files: ["src/odd.ts"] }), [], REFUSED],
      [project(endless, "meta.json"), ["invoke", "{}"], /the project has no meta\.json/],
      [project(endless, "old.json"), ["diff", "old.json", "old.json"], REFUSED],
    ]);
  });

  test(
    "a file of several GB is refused because of its size; a file without a size is refused during reading",
    posix,
    () => {
      const [large, meta] = [new ToolProject({ ...SUM, "src/large.ts": "" }), new ToolProject({ "meta.json": "[]" })];
      truncateSync(join(large.root, "src/large.ts"), 3 * 2 ** 30);
      truncateSync(join(meta.root, "meta.json"), 2 ** 30);
      const unsized = "/proc/self/pagemap";
      const cases: Case[] = [
        [large.root, [], /\/src\/large\.ts" is larger than 67108864 bytes, the limit of svc-gen/],
        [meta.root, ["diff", "meta.json", "meta.json"], /\/meta\.json" is larger than 67108864 bytes/],
        [meta.root, ["diff", unsized, unsized], /has more than 67108864 bytes|cannot read/],
      ];
      assertSaid(process.platform === "linux" ? cases : cases.slice(0, 2));
    },
  );

  test("a stale file of millions of lines is not compared with the new one", () => {
    const stale = new ToolProject({ ...SUM, "src/generated/contracts.ts": "\n".repeat(4 * 2 ** 20) });
    assertSaid([[stale.root, ["--check"], /^src\/generated\/contracts\.ts: more than 2000 lines differ$/m]]);
  });

  test("an example whose pattern takes exponential time, and a deeply nested type, are errors", () => {
    const slow = `interface Input {\n/** @pattern ^(a+)+$\n * @example "${"a".repeat(60)}!" */\na: string }`;
    const pattern = new ToolProject({ "src/sum.ts": toolSource("Sum", "Input", '"done"', slow) });
    const deep = `{ a: ${"{ x: ".repeat(5_000)}string${" }".repeat(5_000)} }`;
    const nested = new ToolProject({ "src/sum.ts": toolSource("Sum", deep) });
    const [first, second] = run([pattern.root, []], [nested.root, []]);
    assert.match(first?.said ?? "", /SVC173: .*matching it against the pattern takes longer than 2000 ms/);
    assert.deepEqual(second, {
      code: EXIT.failure,
      said: "svc-gen: a type, an expression or a document is nested too deeply (reduce its nesting)\n",
    });
  });
});
