/** What a program takes in that imports the runtime: a few declarations of its own, and no package's. */

import assert from "node:assert/strict";
import { relative } from "node:path";
import { test } from "node:test";
import { ts } from "#generator/project/typescript.js";
import { REPOSITORY, ToolProject } from "../generator/project.js";
import { programOf } from "../typescript/program.js";

/** Neither DOM nor node, and declarations are checked too. */
const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  lib: ["lib.es2023.d.ts"],
  types: [],
  strict: true,
  skipLibCheck: false,
  noEmit: true,
};

const SOURCE = `
import { type BootstrapOptions, type InvokeContext, type RunningServer, StatusCode, SvcTool, serve } from "svc-runtime";
import { bootstrap, type Contract, provideContracts } from "svc-runtime/v1";
export class Sum extends SvcTool<{ a: number }, { ok: { sum: number } }> {
  static override fqn() { return "xyz.test.sum@1"; }
  override async invoke({ a }: { a: number }, { signal }: InvokeContext): Promise<{ ok: { sum: number } }> {
    signal.addEventListener("abort", () => {}, { once: true });
    signal.throwIfAborted();
    const { aborted }: { readonly aborted: boolean } = signal;
    return { ok: { sum: aborted ? 0 : a } };
  }
  override async health() { return StatusCode.OK; }
}
export const options: BootstrapOptions = { isolate: { entry: "file:///tools.js" } };
export const running: Promise<RunningServer> = serve([Sum], options);
export const contracts: readonly Contract[] = [];
provideContracts(contracts);
bootstrap(Sum);
`;

const DOM_SOURCE = `
import type { InvokeContext, IsolateOptions } from "svc-runtime";
declare const context: InvokeContext;
export const signal: AbortSignal = context.signal;
export const isolate: IsolateOptions = { entry: new URL("file:///tools.js") };
`;

function read(source: string, options: ts.CompilerOptions): { readonly errors: string[]; readonly files: string[] } {
  const project = new ToolProject({ "src/main.ts": source });
  const program = programOf([`${project.root}/src/main.ts`], options);
  const errors = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    return `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
  });
  const files = program
    .getSourceFiles()
    .filter((file) => !program.isSourceFileDefaultLibrary(file))
    .map(({ fileName }) => relative(REPOSITORY, fileName));
  project.remove();
  return { errors, files };
}

test("a program with the types of neither DOM nor node takes in the runtime's declarations and nothing else", () => {
  const { errors, files } = read(SOURCE, OPTIONS);
  assert.deepEqual(errors, []);
  const [own = [], foreign = []] = [true, false].map((wanted) =>
    files.filter((file) => file.startsWith("runtime/dist/") === wanted),
  );
  assert.equal(foreign.length, 1, `the program itself, and nothing of a package: ${foreign.join(", ")}`);
  assert.ok(own.length > 0 && own.length <= 32, `${own.length} files: ${own.join(", ")}`);
});

test("with DOM, a signal is the platform's", () => {
  assert.deepEqual(read(DOM_SOURCE, { ...OPTIONS, lib: ["lib.es2023.d.ts", "lib.dom.d.ts"] }).errors, []);
});

test("the HTTP framework has a door of its own", async () => {
  const { default: whole, fastify } = await import("svc-runtime/fastify");
  assert.equal(typeof fastify, "function");
  assert.equal(whole, fastify);
});
