/** After each edit, `--watch` reports the files and diagnostics of a first run. */

import assert from "node:assert/strict";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { type Diagnostic, hasErrors } from "#generator/compile/diagnostics/diagnostics.js";
import { type Generated, generate } from "#generator/compile/generate.js";
import { watchProject } from "#generator/compile/watch.js";
import { STRICT, ToolProject, toolSource } from "./project.js";

/** How long a result may take that does come. */
const PATIENCE_MS = 60_000;

/** Watches a project in this process, without writing anything. */
class Following {
  #files: Generated["files"] = [];
  #diagnostics: readonly Diagnostic[] = [];
  #heard: () => void = () => {};
  #stop: () => void = () => {};
  readonly #ended: Promise<void>;

  readonly #root: string;

  /** @param onWrite called whenever files would be written */
  constructor(root: string, onWrite: () => void = () => {}) {
    this.#root = root;
    const end = new Promise<void>((resolve) => {
      this.#stop = resolve;
    });
    const write = (files: Generated["files"]) => {
      this.#files = files;
      onWrite();
      return [];
    };
    const tell = ({ diagnostics }: { readonly diagnostics: readonly Diagnostic[] }) => {
      this.#diagnostics = diagnostics;
      this.#heard();
    };
    this.#ended = watchProject({ root }, { write, tell }, end);
  }

  /** Waits until the result is that of a first run, and returns it. */
  async settle(context = ""): Promise<Pick<Generated, "files" | "diagnostics">> {
    const { files, diagnostics } = generate({ root: this.#root });
    const wanted = { files, diagnostics };
    const said = () => ({ files: hasErrors(this.#diagnostics) ? [] : this.#files, diagnostics: this.#diagnostics });
    for (const begin = Date.now(); !isDeepStrictEqual(said(), wanted) && Date.now() - begin < PATIENCE_MS; ) {
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
        setTimeout(resolve, 100);
      });
    }
    assert.deepEqual(said(), wanted, context);
    return wanted;
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#ended;
  }
}

const TOOL_OF_ONE = {
  "src/tool.ts": toolSource("A", "One", '"done"', 'import type { One } from "./one.js";'),
  "src/one.ts": "export interface One { a: string }\n",
};

/** A project and what happens to it, one after the other. */
interface Case {
  readonly files: Readonly<Record<string, string>>;
  readonly tsconfig?: object;
  readonly happens: readonly ((project: ToolProject) => void)[];
}

const writes = (path: string, text: string) => (project: ToolProject) => project.write({ [path]: text });
const removes = (path: string) => (project: ToolProject) => rmSync(join(project.root, path));
const ONE = { "src/a.ts": toolSource("A", "{ a: string }") };
const OTHER = toolSource("B", "{ b: string }");
const ANYWHERE = { ...STRICT, rootDir: "." };

const IMPORT_H = 'import type { H } from "../far/h.js";\nexport type One = H;\n';

const CASES: Readonly<Record<string, Case>> = {
  "a file changes that nothing imported for a while": {
    files: { ...TOOL_OF_ONE, "far/h.ts": "export interface H { a: string }\n", "src/one.ts": IMPORT_H },
    tsconfig: { compilerOptions: ANYWHERE, include: ["src"] },
    happens: [
      writes("src/one.ts", `// ${IMPORT_H}`),
      writes("far/h.ts", "export interface H { a: string; b: number }\n"),
      writes("src/one.ts", IMPORT_H),
    ],
  },
  "a file that shadows another comes after a run with errors": {
    files: {
      ...TOOL_OF_ONE,
      "src/h.d.ts": "export interface H { old: string }\n",
      "src/one.ts": 'import type { H } from "./h.js";\nexport interface One { h: H; x: Missing }\n',
    },
    happens: [
      writes("src/one.ts", 'import type { H } from "./h.js";\nexport interface One { h: H }\n'),
      writes("src/h.ts", "export interface H { fresh: string }\n"),
    ],
  },
  "a file that is a module and part of the configuration changes": {
    files: {
      "src/base.json": JSON.stringify({ compilerOptions: { ...STRICT, resolveJsonModule: true } }),
      "src/a.ts": toolSource("A", "{ a: keyof typeof base }", undefined, 'import type base from "./base.json";'),
    },
    tsconfig: { extends: "./src/base.json", include: ["src"] },
    happens: [writes("src/base.json", JSON.stringify({ compilerOptions: { ...STRICT, strict: false } }))],
  },
  "the configuration and a source change at once": {
    files: { "src/a.ts": `${ONE["src/a.ts"]}export function f(x: 1 | 2) { if (x === 1) return 1; }\n` },
    happens: [
      (project) =>
        project.write({
          "src/b.ts": OTHER,
          "tsconfig.json": JSON.stringify({
            compilerOptions: { ...STRICT, noImplicitReturns: true },
            include: ["src"],
          }),
        }),
    ],
  },
  "a folder that `include` names by a pattern comes into being": {
    files: ONE,
    tsconfig: { compilerOptions: ANYWHERE, include: ["src/**/*", "lib/deep/**/*.ts"] },
    happens: [writes("lib/deep/b.ts", OTHER)],
  },
  "a file that `files` names comes into being and goes": {
    files: ONE,
    tsconfig: { compilerOptions: STRICT, files: ["src/a.ts", "src/b.ts"] },
    happens: [writes("src/b.ts", OTHER), removes("src/b.ts"), writes("src/b.ts", OTHER)],
  },
  "a file that is referred to comes into being": {
    files: { "src/a.ts": `/// <reference path="../far/x.d.ts" />\n${toolSource("A", "{ a: X }")}` },
    tsconfig: { compilerOptions: ANYWHERE, include: ["src"] },
    happens: [writes("far/x.d.ts", "interface X { x: string }\n")],
  },
  "a tool in a folder that is a link": {
    files: { ...ONE, "shared/x.ts": "export {};\n" },
    tsconfig: { compilerOptions: ANYWHERE, include: ["src"] },
    happens: [({ root }) => symlinkSync(join(root, "shared"), join(root, "src/linked")), writes("shared/b.ts", OTHER)],
  },
  "a tool in the folder that was made for the generated files": {
    files: ONE,
    happens: [writes("src/generated/contracts.ts", ""), writes("src/generated/b.ts", OTHER)],
  },
  "a base of the configuration is shadowed, and no more": {
    files: { ...ONE, "base.json": JSON.stringify({ compilerOptions: STRICT }) },
    tsconfig: { extends: "./base", include: ["src"] },
    happens: [writes("base", "{}"), removes("base")],
  },
  "a base of the configuration comes into being": {
    files: ONE,
    tsconfig: { extends: "./base", include: ["src"] },
    happens: [writes("base.json", JSON.stringify({ compilerOptions: STRICT }))],
  },
  "a package with a base of the configuration is installed": {
    files: ONE,
    tsconfig: { extends: "some/base.json", include: ["src"] },
    happens: [
      (project) =>
        project.write({
          "node_modules/some/package.json": '{ "name": "some" }',
          "node_modules/some/base.json": JSON.stringify({ compilerOptions: STRICT }),
        }),
    ],
  },
  "a file goes that shadowed another, and comes back": {
    files: {
      "src/a.ts": toolSource("A", "Outer", undefined, 'import type { Outer } from "./outer.js";'),
      "src/outer.d.ts": 'import type { One } from "./one.js";\nexport interface Outer { x: One; y: string }\n',
      "src/one.ts": "export type One = { one: string };\n",
      "src/one.d.ts": "export type One = { two: number };\n",
    },
    happens: [removes("src/one.ts"), writes("src/one.ts", "export type One = { three: string };\n")],
  },
  "a file goes whose absence is no error, and comes back": {
    files: {
      "src/a.ts": toolSource("A", "{ x: One }", undefined, '// @ts-ignore\nimport type { One } from "./one.js";'),
      "src/one.ts": "export type One = { one: string };\n",
    },
    happens: [removes("src/one.ts"), writes("src/one.ts", "export type One = { three: string };\n")],
  },
  "a package without types goes": {
    files: {
      "src/a.ts": toolSource("A", "{ a: string }", undefined, 'export * as untyped from "untyped";'),
      "node_modules/untyped/index.js": "exports.a = 1;\n",
    },
    tsconfig: { compilerOptions: { ...STRICT, noImplicitAny: false }, include: ["src"] },
    happens: [removes("node_modules/untyped/index.js"), writes("node_modules/untyped/index.js", "exports.a = 2;\n")],
  },
};

for (const [name, { files, tsconfig, happens }] of Object.entries(CASES)) {
  test(name, async (t) => {
    const given = tsconfig === undefined ? {} : { "tsconfig.json": JSON.stringify(tsconfig) };
    const project = new ToolProject({ ...files, ...given });
    const following = new Following(project.root);
    t.after(() => following.close());
    await following.settle();
    for (const [index, change] of happens.entries()) {
      change(project);
      await following.settle(`after change ${index + 1}`);
    }
  });
}

test("the configuration is saved during a run", async (t) => {
  const project = new ToolProject({
    "src/a.ts": `${ONE["src/a.ts"]}export function f(x: 1 | 2) { if (x === 1) return 1; }\n`,
  });
  const compilerOptions = { ...STRICT, noImplicitReturns: true };
  const save = () => project.write({ "tsconfig.json": JSON.stringify({ compilerOptions, include: ["src"] }) });
  const following = new Following(project.root, save);
  t.after(() => following.close());
  const { diagnostics } = await following.settle();
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ["TS7030"],
  );
});

test("a file of a referenced project is created and imported", async (t) => {
  const config = (more: object) =>
    JSON.stringify({ compilerOptions: { ...STRICT, composite: true }, include: ["src"], ...more });
  const project = new ToolProject({
    "packages/shared/package.json":
      '{ "name": "shared", "type": "module", "exports": { "./*": { "types": "./dist/*.d.ts" } } }',
    "packages/shared/tsconfig.json": config({}),
    "packages/shared/src/index.ts": "export {};\n",
    "packages/tools/package.json": '{ "name": "tools", "type": "module" }',
    "packages/tools/tsconfig.json": config({ references: [{ path: "../shared" }] }),
    "packages/tools/src/a.ts": ONE["src/a.ts"],
  });
  symlinkSync(join(project.root, "packages/shared"), join(project.root, "node_modules/shared"));
  const following = new Following(join(project.root, "packages/tools"));
  t.after(() => following.close());
  await following.settle();
  project.write({ "packages/shared/src/one.ts": "export interface One { b: string }\n" });
  await following.settle();
  project.write({
    "packages/tools/src/a.ts": toolSource("A", "One", undefined, 'import type { One } from "shared/one";'),
  });
  const { files, diagnostics } = await following.settle();
  assert.deepEqual(diagnostics, []);
  assert.match(files.map(({ text }) => text).join(""), /name: "b"/);
});
