/** Tests of tsconfig.json as some versions of TypeScript read it: svc-gen sees a project as the project's own tsc does. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Diagnostic } from "#generator/compile/diagnostics/diagnostics.js";
import { ts } from "#generator/compile/project/typescript.js";
import { toolSource } from "../generator/project.js";
import { COMPILERS, type Compiler, compile, projectWith } from "./compilers.js";

const [fiveNine, six, seven, sevenOne] = COMPILERS;
const newer = [six, seven, sevenOne];

export const TOOL = toolSource(
  "Sum",
  "{ a: number; when: Date; raw: Uint8Array; note?: string }",
  "{ ok: { sum: number } }",
);

export const config = (options: object, more: object = {}) =>
  JSON.stringify({ compilerOptions: { outDir: "dist", ...options }, include: ["src"], ...more });

export const codes = (diagnostics: readonly Diagnostic[]) => diagnostics.map(({ code }) => code);

interface Case {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /** The versions that know its options. */
  readonly on: readonly Compiler[];
}

export const nodenext = { rootDir: "src", module: "nodenext", skipLibCheck: true };

/** Projects that their own tsc takes. */
const TAKEN: readonly Case[] = [
  {
    name: "everything is left to the compiler: strict, module, target, no types",
    files: {
      "tsconfig.json": config({ skipLibCheck: true, rootDir: "src" }),
      "src/big.ts": "export const big = 2n ** 64n;\nexport const list: string[] = [];\n",
    },
    on: newer,
  },
  {
    name: "an edition, libraries and an option that TypeScript 5.9 does not have, a proposal that has moved",
    files: {
      "tsconfig.json": config({
        ...nodenext,
        target: "es2025",
        lib: ["es2024", "es2025.regexp", "esnext.temporal", "esnext.promise", "esnext.iterator"],
        stableTypeOrdering: true,
      }),
      "src/new.ts": [
        "export const day = Temporal.Now.plainDateISO().day;",
        'export const dot = RegExp.escape(".");',
        "export const later = Promise.try(() => [1].values().map(String));",
        "",
      ].join("\n"),
    },
    on: newer,
  },
  {
    name: "no library named: all that the newest knows; all installed types by a star",
    files: {
      "tsconfig.json": config({ ...nodenext, target: "esnext", types: ["*"] }),
      "src/map.ts": 'export const one = new Map<string, Buffer>().getOrInsert("a", Buffer.from([1]));\n',
    },
    on: newer,
  },
  {
    name: "deprecated options, the deprecation silenced",
    files: {
      "tsconfig.json": config({
        rootDir: "src",
        ignoreDeprecations: "6.0",
        baseUrl: ".",
        module: "commonjs",
        moduleResolution: "bundler",
        esModuleInterop: false,
        target: "es2022",
        lib: ["es2022"],
        skipLibCheck: true,
      }),
      "src/named.ts": 'export type { Input } from "src/types.js";\n',
      "src/types.ts": "export interface Input { a: string }\n",
    },
    on: [six],
  },
  {
    name: "several bases, configDir, node20, erasable syntax only",
    files: {
      "base/strict.json": JSON.stringify({ compilerOptions: { strict: true, erasableSyntaxOnly: true } }),
      "base/node.json": JSON.stringify({
        compilerOptions: {
          module: "node20",
          target: "es2023",
          lib: ["es2023"],
          types: [],
          skipLibCheck: true,
          rootDir: "$DIR/src",
          outDir: "$DIR/dist",
        },
        include: ["$DIR/src"],
      }).replaceAll("$DIR", "$" + "{configDir}"),
      "tsconfig.json": JSON.stringify({ extends: ["./base/strict.json", "./base/node.json"] }),
    },
    on: [fiveNine, seven],
  },
  {
    name: "imports of the package by #/, methods whose types follow from each other",
    files: {
      "tsconfig.json": config({ ...nodenext, lib: ["es2023"] }),
      "package.json": JSON.stringify({ type: "module", imports: { "#/*": "./src/*" } }),
      "src/types.ts": "export interface Item { a: string }\n",
      "src/one.ts": toolSource("One", "{ item: Item }", undefined, 'import type { Item } from "#/types.js";\n'),
      "src/methods.ts": [
        "declare function run<T>(pair: { take: (one: T) => void; make: (from: number) => T }): void;",
        "run({ take(one) { one.toFixed(); }, make(from: number) { return from * 2; } });",
        "export {};",
        "",
      ].join("\n"),
    },
    on: newer,
  },
];

/** Syntax that svc-gen's compiler does not take, with the errors that it reports. */
const OTHER_SYNTAX: readonly (Case & { readonly notes: readonly string[] })[] = [
  {
    name: "a namespace by the keyword module",
    files: {
      "tsconfig.json": config({ ...nodenext, target: "es2023", strict: true, types: [] }),
      "src/legacy.ts": "module Legacy {\n  export const one = 1;\n}\nexport const { one } = Legacy;\n",
    },
    on: [fiveNine],
    notes: ["TS1540"],
  },
  {
    name: "an import of a module's source, in the file of a tool",
    files: {
      "tsconfig.json": config({ ...nodenext, lib: ["esnext"] }),
      "src/wasm.d.ts": 'declare module "*.wasm" { const m: object; export default m; }\n',
      "src/sum.ts": `import source adder from "./adder.wasm";\n${TOOL}export const kept = adder;\n`,
    },
    on: [sevenOne],
    notes: ["TS1005", "TS1005"],
  },
];

/** Projects that their own tsc refuses. */
const REFUSED: readonly (Case & { readonly isError?: true })[] = [
  {
    name: "an import without its extension",
    files: {
      "tsconfig.json": config({ ...nodenext, lib: ["es2023"] }),
      "src/lib.ts": "export const one = 1;\n",
      "src/wrong.ts": 'import { one } from "./lib"; export const two = one;\n',
    },
    on: newer,
    isError: true,
  },
  {
    name: "await outside of an async function",
    files: {
      "tsconfig.json": config({ ...nodenext, lib: ["es2023"] }),
      "src/wrong.ts": "export function one() { return await Promise.resolve(1); }\n",
    },
    on: newer,
    isError: true,
  },
  {
    name: "an import for its effects that leads nowhere",
    files: { "tsconfig.json": config({ ...nodenext, lib: ["es2023"] }), "src/wrong.ts": 'import "./nowhere.js";\n' },
    on: newer,
  },
  {
    name: "a library that the project does not name",
    files: {
      "tsconfig.json": config({ ...nodenext, lib: ["es2023"] }),
      "src/wrong.ts": "export const x = Promise.try(() => 1);\n",
    },
    on: newer,
  },
];

/** Registers the tests of these versions. */
export function testOptions(compilers: readonly Compiler[]): void {
  describe("what the project's own tsc takes is generated", () => {
    for (const { name, files, on } of TAKEN) {
      for (const compiler of on.filter((each) => compilers.includes(each))) {
        test(`${compiler.version}: ${name}`, () => {
          const project = projectWith(compiler, { "src/sum.ts": TOOL, ...files });
          try {
            const { files: generated, diagnostics } = project.generate();
            assert.deepEqual(codes(diagnostics), []);
            project.write(Object.fromEntries(generated.map(({ path, text }) => [path, text])));
            assert.equal(compile(compiler, project.root), "");
          } finally {
            project.remove();
          }
        });
      }
    }
  });

  describe("an error of svc-gen's compiler alone is a note, unless a contract depends on it", () => {
    for (const { name, files, on, notes } of OTHER_SYNTAX) {
      for (const compiler of on.filter((each) => compilers.includes(each))) {
        test(`${compiler.version}: ${name}`, () => {
          const project = projectWith(compiler, { "src/sum.ts": TOOL, ...files });
          const { files: generated, diagnostics } = project.generate();
          assert.deepEqual(
            diagnostics.map(({ code, severity }) => `${severity} ${code}`),
            notes.map((code) => `note ${code}`),
          );
          const { version } = JSON.parse(readFileSync(join(compiler.folder, "package.json"), "utf8"));
          for (const { hint } of diagnostics) assert.ok(hint?.includes(version) && hint.includes(ts.version), hint);
          project.write(Object.fromEntries(generated.map(({ path, text }) => [path, text])));
          assert.equal(compile(compiler, project.root), "");
        });
      }
    }
  });

  describe("what the project's own tsc refuses is refused", () => {
    for (const { name, files, on, isError } of REFUSED) {
      for (const compiler of on.filter((each) => compilers.includes(each))) {
        test(`${compiler.version}: ${name}`, () => {
          const project = projectWith(compiler, { "src/sum.ts": TOOL, ...files });
          try {
            const place = "src/wrong.ts:1";
            const said = compile(compiler, project.root).replace("(1,", ":1,");
            assert.ok(said.includes(place), said);
            const { diagnostics } = project.generate();
            const found = diagnostics.map((each) => `${each.place?.file}:${each.place?.line}`);
            assert.deepEqual(found, [place]);
            if (isError) assert.equal(diagnostics[0]?.severity, "error");
          } finally {
            project.remove();
          }
        });
      }
    }
  });
}
