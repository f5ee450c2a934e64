/** A tool project in a temporary folder, with this repository's runtime in its node_modules. */

import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Contract } from "#client/wire/codec/contract.js";
import { type Generated, generate } from "#generator/compile/generate.js";
import { ts } from "#generator/compile/project/typescript.js";
import { SecondReader } from "#generator/compile/second-reader/second-reader.js";
import { REPOSITORY } from "../repository.js";
import { atEnd } from "../teardown.js";

/**
 * The options of a careful author; `skipLibCheck` because two dependencies' declarations want the DOM. Without
 * `libReplacement` each run saves 80 lookups of packages, a fifth of its time.
 */
export const STRICT = {
  target: "ES2023",
  module: "NodeNext",
  lib: ["ES2023"],
  types: [] as string[],
  rootDir: "src",
  outDir: "dist",
  libReplacement: false,
  strict: true,
  skipLibCheck: true,
};

/** One for all projects of a file: half of the work is its own schema. No schema of a tool has an id that could clash. */
const ajv = new Ajv2020({ strict: true, strictTypes: false, strictTuples: false, validateFormats: false });

/** Texts of schemas that compile: most tools of the tests have one output. */
const compiled = new Set<string>();

/**
 * Compiles the schemas of a `meta.json` with ajv in strict mode, which refuses unknown keywords and keywords that can never
 * apply.
 */
export function compileSchemas(metaJson: string): void {
  for (const { fqn, input_schema, output_schema } of JSON.parse(metaJson)) {
    for (const schema of [input_schema, output_schema]) {
      const text = JSON.stringify(schema);
      if (compiled.has(text)) continue;
      assert.doesNotThrow(() => ajv.compile(schema), `${fqn}: ${text}`);
      ajv.removeSchema(schema);
      compiled.add(text);
    }
  }
}

export const secondReader = new SecondReader();

let tsx: Promise<unknown> | undefined;

export class ToolProject {
  readonly root: string;

  constructor(files: Readonly<Record<string, string>>, options: object = STRICT, name = "svc-gen-test-") {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), name)));
    atEnd(() => this.remove());
    this.write({
      "package.json": '{ "name": "tools", "version": "1.0.0", "type": "module" }\n',
      "tsconfig.json": `${JSON.stringify({ compilerOptions: options, include: ["src"] })}\n`,
      ...files,
    });
    const modules = join(this.root, "node_modules");
    mkdirSync(join(modules, "@types"), { recursive: true });
    const packages = {
      "svc-client": "runtime/client",
      "svc-runtime": "runtime",
      "svc-runtime-redis": "runtime/redis",
      "svc-runtime-storage": "runtime/storage",
    };
    for (const [name, folder] of Object.entries(packages)) symlinkSync(join(REPOSITORY, folder), join(modules, name));
    symlinkSync(join(REPOSITORY, "node_modules/@types/node"), join(modules, "@types/node"));
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.root, path)), { recursive: true });
      if (statSync(join(this.root, path), { throwIfNoEntry: false })?.isDirectory()) {
        rmSync(join(this.root, path), { recursive: true });
      }
      writeFileSync(join(this.root, path), text);
    }
  }

  /**
   * Generates. Every schema that is published compiles.
   *
   * @param twice whether every type is read a second time, as `--check` does, which takes most of the time of a small run
   */
  generate(twice = false): Generated {
    const generated = generate({ root: this.root }, twice ? (...tool) => secondReader.review(...tool) : undefined);
    const doubtful = generated.diagnostics.filter(({ code }) => code === "SVC180" || code === "SVC181");
    assert.deepEqual(doubtful, []);
    if (!twice) compileSchemas(generated.files.find(({ path }) => path === "meta.json")?.text ?? "[]");
    return generated;
  }

  /** Generates, expects no errors, and writes the files. */
  build(twice = false): Readonly<Record<string, string>> {
    const { files, diagnostics } = this.generate(twice);
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    if (errors.length > 0)
      throw new Error(errors.map((each) => `${each.code} ${each.subject}: ${each.message}`).join("\n"));
    const texts = Object.fromEntries(files.map(({ path, text }) => [path, text]));
    this.write(texts);
    return texts;
  }

  /** What the generated `contracts.ts` exports. */
  async contracts(): Promise<readonly Contract[]> {
    const text = readFileSync(join(this.root, "src/generated/contracts.ts"), "utf8");
    const { outputText } = ts.transpileModule(text, { compilerOptions: { module: ts.ModuleKind.ESNext } });
    const { contracts } = await import(`data:text/javascript,${encodeURIComponent(outputText)}`);
    return contracts;
  }

  /** Imports a module of the project. TypeScript is run by tsx, which the process of the test has only from then on. */
  async load(path: string): Promise<unknown> {
    tsx ??= import("tsx/esm/api").then(({ register }) => register());
    await tsx;
    return await import(pathToFileURL(join(this.root, path)).href);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Rows of a table in a text: a line each, with the columns between two semicolons. */
export function table(text: string): [string, string, ...string[]][] {
  const lines = text.trim().split("\n");
  return lines.map((line) => line.split(" ;; ") as [string, string, ...string[]]);
}

/** The source of one tool class. */
export function toolSource(name: string, input: string, output = '"done"', before = ""): string {
  return `import { SvcTool, StatusCode } from "svc-runtime";
${before}
export class ${name} extends SvcTool<${input}, ${output}> {
  static override fqn() { return "xyz.test.tool-${name.toLowerCase()}@1"; }
  static override description() { return "A tool."; }
  static override path() { return "${name}"; }
  override async invoke(): Promise<${output}> { throw new Error("not run"); }
  override async health() { return StatusCode.OK; }
}
`;
}
