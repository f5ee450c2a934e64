/** After any sequence of edits `--watch` says what a first run says: the same files, the same diagnostics. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { type Diagnostic, hasErrors } from "#generator/compile/diagnostics/diagnostics.js";
import { type Generated, generate } from "#generator/compile/generate.js";
import { watchProject } from "#generator/compile/watch.js";
import { Random } from "../types/random.js";
import { STRICT, ToolProject, toolSource } from "./project.js";

const EDITS = process.env.SVC_TEST_FULL ? 120 : 3;
/** How long a result may take that does come. */
const PATIENCE_MS = 60_000;
const SEED = Number(process.env.SVC_TEST_SEED ?? 7);

const MEMBERS = ["string", "number", "Date", "One", "Two", "One[]", '"b" | "a"', "Ambient", "Record<string, Two>"];
const HEAD = 'import type { One } from "../shared/one.js";\nimport { type Two } from "../shared/two.js";';

/** A tool that uses the shared types; `text` stands for what an edit changes. */
function tool(number: number, type: string, text = "text"): string {
  return toolSource(
    `T${number}`,
    `{\n/** ${text} */\na: ${type}; b: string }`,
    '{ ok: { total: One } } | "none"',
    HEAD,
  );
}

const FILES: Readonly<Record<string, string>> = {
  "src/shared/one.ts": "export interface One { name: string; deep: Ambient }\n",
  "src/shared/two.ts": 'import type { One } from "./one.js";\nexport type Two = { one: One; back?: Two };\n',
  "src/ambient.d.ts": "interface Ambient { x: number }\n",
  "node_modules/lib/package.json": '{ "name": "lib", "version": "1.0.0", "types": "index.d.ts" }',
  "node_modules/lib/index.d.ts": "export interface Lib { l: boolean }\n",
  "src/idle.ts": 'import type { Lib } from "lib";\nexport const idle: Lib = { l: true };\n',
};

type Choose = (below: number) => number;
type Edit = readonly [name: string, change: (project: ToolProject, pick: Choose) => void];

const writing = (name: string, path: string, text: (pick: Choose) => string): Edit => [
  name,
  (project, pick) => project.write({ [path]: text(pick) }),
];
/** One of the twelve tools gets another text. */
const changing = (name: string, text: (number: number, pick: Choose) => string): Edit => [
  name,
  (project, pick) => project.write(toolFile(pick(12), (number) => text(number, pick))),
];
const removing = (name: string, path: string): Edit => [
  name,
  (project) => rmSync(join(project.root, path), { force: true, recursive: true }),
];
const renaming = (name: string, to: (pick: Choose) => string): Edit => [
  name,
  (project, pick) => rename(project, `src/tools/t${pick(12)}.ts`, to(pick)),
];
const shared = 'import type { One } from "./one.js";\n';

/** What may happen to a project. Some are faults; a later edit of the same file mends them. */
const CHANGES: readonly Edit[] = [
  changing("a comment", (n, pick) => tool(n, "string", `text ${pick(99)}`)),
  changing("a member", (n, pick) => tool(n, MEMBERS[pick(MEMBERS.length)] as string)),
  writing(
    "a shared type",
    "src/shared/one.ts",
    (pick) => `export interface One { name${pick(3)}: string; deep: Ambient }\n`,
  ),
  writing(
    "a shared alias",
    "src/shared/two.ts",
    (pick) => `${shared}export type Two = { one: One; n${pick(3)}: number };\n`,
  ),
  writing("an ambient type", "src/ambient.d.ts", (pick) => `interface Ambient { x${pick(3)}: number }\n`),
  writing(
    "a library",
    "node_modules/lib/index.d.ts",
    (pick) => `export interface Lib { l: boolean; m${pick(2)}?: 1 }\n`,
  ),
  changing("the import of a library", (n) => tool(n, 'import("lib").Lib')),
  writing(
    "an augmentation",
    "src/more.ts",
    (pick) => `declare module "./shared/one.js" { interface One { added${pick(2)}: boolean } }\nexport {};\n`,
  ),
  writing("no augmentation", "src/more.ts", () => "export {};\n"),
  writing(
    "a global from a module",
    "src/shared/global.ts",
    (pick) => `declare global { interface Ambient { g${pick(2)}: string } }\nexport {};\n`,
  ),
  removing("no global from a module", "src/shared/global.ts"),
  changing("a syntax error", (n) => `${tool(n, "string")}export const = ;\n`),
  writing("a type error far away", "src/idle.ts", () => "export const idle: string = 1;\n"),
  writing("no type error far away", "src/idle.ts", () => "export const idle = 1;\n"),
  changing("a refused type", (n) => tool(n, "Map<string, One>")),
  changing("a name that another tool has", (n) => tool(n, "string").replaceAll(`tool-t${n}@1`, "tool-t3@1")),
  ["a new tool", (project, pick) => project.write({ [`src/tools/n${pick(3)}.ts`]: tool(20 + pick(3), "Two") })],
  [
    "a tool in a new folder",
    (project, pick) => project.write({ [`src/far/f${pick(2)}.ts`]: tool(30 + pick(2), "One") }),
  ],
  ["a deleted tool", (project, pick) => rmSync(join(project.root, `src/tools/n${pick(3)}.ts`), { force: true })],
  removing("a deleted folder", "src/far"),
  renaming("a file by another name", (pick) => `src/tools/r${pick(3)}.ts`),
  removing("a shared type that is gone", "src/shared/two.ts"),
  writing("a file that shadows another", "src/shared/one.d.ts", () => "export interface One { shadow: 1 }\n"),
  [
    "a package that shadows another",
    (project) =>
      project.write({
        "src/node_modules/lib/package.json": '{ "name": "lib", "types": "x.d.ts" }',
        "src/node_modules/lib/x.d.ts": "export interface Lib { shadow: 1 }\n",
      }),
  ],
  removing("no file that shadows another", "src/shared/one.d.ts"),
  removing("a shared type that only its shadow is left of", "src/shared/one.ts"),
  writing(
    "a declaration file between",
    "src/shared/two.d.ts",
    (pick) => `${shared}export type Two = { between${pick(2)}: One };\n`,
  ),
  removing("no declaration file between", "src/shared/two.d.ts"),
  [
    "a tool behind an index",
    (project, pick) =>
      project.write({
        "src/tools/behind.ts": `${tool(40, MEMBERS[pick(MEMBERS.length)] as string).replace("export class", "class")}export const holder = { T40 };\n`,
        "src/tools/index.ts": 'export { T40 as Behind } from "./home.js";\nexport * from "./behind.js";\n',
        "src/tools/home.ts": tool(40, "string")
          .replace("export class T40", "export default class")
          .replace("T40", "T41"),
      }),
  ],
  writing(
    "a tool by two names",
    "src/tools/index.ts",
    (pick) => `export { T${pick(12)} as Named } from "./t${pick(12)}.js";\n`,
  ),
  removing("no index", "src/tools/index.ts"),
  renaming("a file by another case", (pick) => `src/tools/T${pick(12)}.ts`),
  ["a file that becomes a folder", (project, pick) => swap(project, `src/tools/t${pick(12)}.ts`)],
  changing(
    "other ends of lines, and a mark",
    (n) => `\uFEFF${tool(n, "One", "more\n * text").replaceAll("\n", "\r\n")}`,
  ),
  [
    "many at once",
    (project, pick) => {
      for (let n = 0; n < 12; n += 1 + pick(3)) project.write(toolFile(n, () => tool(n, MEMBERS[pick(8)] as string)));
      project.write({ "src/shared/one.ts": `export interface One { many${pick(3)}: string; deep: Ambient }\n` });
    },
  ],
  writing("a module in place of a script, or the other way", "src/more.ts", (pick) =>
    pick(2) === 0 ? "interface Ambient { script: 1 }\n" : "export {};\n",
  ),
  changing(
    "a library of the language",
    (n, pick) => `/// <reference lib="${pick(2) ? "dom" : "es2024"}" />\n${tool(n, "Two")}`,
  ),
  writing("another kind of package", "src/package.json", (pick) => `{ "type": "${pick(2) ? "commonjs" : "module"}" }`),
  removing("no package of its own", "src/package.json"),
  ["other options", (project, pick) => project.write({ "tsconfig.json": config(pick(2) === 0) })],
];

const toolFile = (number: number, text: (number: number) => string) => ({ [`src/tools/t${number}.ts`]: text(number) });

function rename(project: ToolProject, from: string, to: string): void {
  if (existsSync(join(project.root, from))) renameSync(join(project.root, from), join(project.root, to));
}

/** The same text as a file in a folder of that name, or back. */
function swap({ root }: ToolProject, path: string): void {
  const aside = join(root, "aside");
  if (!existsSync(join(root, path))) return;
  renameSync(join(root, path), aside);
  if (statSync(aside).isDirectory()) {
    renameSync(join(aside, "inner.ts"), join(root, path));
    rmSync(aside, { recursive: true });
  } else {
    mkdirSync(join(root, path));
    renameSync(aside, join(root, path, "inner.ts"));
  }
}

function config(exact: boolean): string {
  const compilerOptions = { ...JSON.parse(CONFIG).compilerOptions, exactOptionalPropertyTypes: exact };
  return `${JSON.stringify({ compilerOptions, include: ["src"] })}\n`;
}

let CONFIG = "";

function start(): ToolProject {
  const tools = Array.from({ length: 12 }, (_, n) => toolFile(n, () => tool(n, MEMBERS[n % MEMBERS.length] as string)));
  const project = new ToolProject(Object.assign({}, FILES, ...tools), undefined, "svc-gen-again-");
  CONFIG = readFileSync(join(project.root, "tsconfig.json"), "utf8");
  return project;
}

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

test("after any edits", async () => {
  const project = start();
  const numbers = new Random(SEED);
  const random = (below: number) => numbers.below(below);
  const following = new Following(project.root);
  const names: string[] = [];
  try {
    let last = await following.settle("at the start");
    for (let step = 0; step < EDITS; step++) {
      // Faults are mended half of the time.
      if (random(2) === 0 && last.files.length === 0) mend(project);
      else {
        const [name, change] = CHANGES[random(CHANGES.length)] as Edit;
        change(project, random);
        names.push(name);
      }
      last = await following.settle(`seed ${SEED}, edits: ${names.join("; ")}`);
    }
  } finally {
    await following.close();
  }
});

/** Everything as it was at the start. */
function mend(project: ToolProject): void {
  for (const folder of ["src/tools", "src/far", "src/shared", "src/node_modules", "src/package.json"]) {
    rmSync(join(project.root, folder), { recursive: true, force: true });
  }
  mkdirSync(join(project.root, "src/tools"));
  project.write({ ...FILES, "src/more.ts": "export {};\n" });
  for (let n = 0; n < 12; n++) project.write(toolFile(n, () => tool(n, MEMBERS[n % MEMBERS.length] as string)));
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
  "a comment that a member inherits from another file changes": {
    files: {
      "src/base.ts": "export interface Base {\n  /** first */\n  x: string;\n}\n",
      "src/mid.ts":
        'import type { Base } from "./base.js";\nexport interface Mid extends Base { x: string; y: string }\n',
      "src/tool.ts": toolSource("A", "Mid", '"done"', 'import type { Mid } from "./mid.js";'),
    },
    happens: [writes("src/base.ts", "export interface Base {\n  /** second */\n  x: string;\n}\n")],
  },
  "a constant that a function in another file returns changes": {
    files: {
      "src/name.ts": 'export function describe() { return "first"; }\n',
      "src/tool.ts": toolSource("A", "{ a: string }", '"done"', 'import { describe } from "./name.js";').replace(
        '"A tool."',
        "describe()",
      ),
    },
    happens: [writes("src/name.ts", 'export function describe() { return "second"; }\n')],
  },
  "a file calls a method of a tool whose name is similar to one of SvcTool": {
    files: {
      "src/a.ts": toolSource("A", "{ a: string }").replace(/\}\s*$/, "  static closes() {}\n}\n"),
      "src/b.ts": "",
    },
    happens: [writes("src/b.ts", 'import { A } from "./a.js";\nA.closes();\n')],
  },
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
  test(name, async () => {
    const given = tsconfig === undefined ? {} : { "tsconfig.json": JSON.stringify(tsconfig) };
    const project = new ToolProject({ ...files, ...given });
    const following = new Following(project.root);
    try {
      await following.settle();
      for (const [index, change] of happens.entries()) {
        change(project);
        await following.settle(`after change ${index + 1}`);
      }
    } finally {
      await following.close();
    }
  });
}

test("the configuration is saved during a run", async () => {
  const project = new ToolProject({
    "src/a.ts": `${ONE["src/a.ts"]}export function f(x: 1 | 2) { if (x === 1) return 1; }\n`,
  });
  const compilerOptions = { ...STRICT, noImplicitReturns: true };
  const save = () => project.write({ "tsconfig.json": JSON.stringify({ compilerOptions, include: ["src"] }) });
  const following = new Following(project.root, save);
  try {
    const { diagnostics } = await following.settle();
    assert.deepEqual(
      diagnostics.map(({ code }) => code),
      ["TS7030"],
    );
  } finally {
    await following.close();
  }
});

test("a file of a referenced project is created and imported", async () => {
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
  try {
    await following.settle();
    project.write({ "packages/shared/src/one.ts": "export interface One { b: string }\n" });
    await following.settle();
    project.write({
      "packages/tools/src/a.ts": toolSource("A", "One", undefined, 'import type { One } from "shared/one";'),
    });
    const { files, diagnostics } = await following.settle();
    assert.deepEqual(diagnostics, []);
    assert.match(files.map(({ text }) => text).join(""), /name: "b"/);
  } finally {
    await following.close();
  }
});
