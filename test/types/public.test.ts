/** What a program that imports the runtime takes in, few declarations beside those of its metrics, and the types that it gets. */

import assert from "node:assert/strict";
import { relative } from "node:path";
import { test } from "node:test";
import { ts } from "#generator/compile/project/typescript.js";
import { ToolProject } from "../generator/project.js";
import { REPOSITORY } from "../repository.js";
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
export const options: BootstrapOptions = { maxRuns: 8 };
export const running: Promise<RunningServer> = serve([Sum], options);
export const contracts: readonly Contract[] = [];
provideContracts(contracts);
bootstrap(Sum);
`;

const DOM_SOURCE = `
import type { InvokeContext } from "svc-runtime";
declare const context: InvokeContext;
export const signal: AbortSignal = context.signal;
`;

function read(source: string, options: ts.CompilerOptions): { readonly errors: string[]; readonly files: string[] } {
  const project = new ToolProject({ "src/main.ts": source });
  const program = programOf([`${project.root}/src/main.ts`], options);
  // Of all files but the library's, whose check is TypeScript's affair and most of the work.
  const sources = program.getSourceFiles().filter((file) => !program.isSourceFileDefaultLibrary(file));
  const errors = [
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...sources.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]),
  ].map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`);
  const files = sources.map(({ fileName }) => relative(REPOSITORY, fileName));
  return { errors, files };
}

test("a program without DOM and Node types includes only the declarations of the runtime", () => {
  const { errors, files } = read(SOURCE, OPTIONS);
  assert.deepEqual(errors, []);
  const [own = [], foreign = []] = [true, false].map((wanted) =>
    files.filter((file) => /^runtime\/(?:client\/)?dist\//.test(file) === wanted),
  );
  assert.equal(foreign.length, 1, `beside the program itself: ${foreign.join(", ")}`);
  assert.ok(own.length > 0 && own.length <= 40, `${own.length} files: ${own.join(", ")}`);
});

test("with DOM types, a signal is the platform's AbortSignal", () => {
  assert.deepEqual(read(DOM_SOURCE, { ...OPTIONS, lib: ["lib.es2023.d.ts", "lib.dom.d.ts"] }).errors, []);
});

/** A page: the client, without the types of Node. */
const PAGE_SOURCE = `
import { LeaderClient, type LeaderOptions, outputHash, publicKeyOf, type TlsOptions } from "svc-runtime/leader";
export const tls: TlsOptions = { ca: new Uint8Array() };
export async function hash(options: LeaderOptions): Promise<Uint8Array> {
  const client = await LeaderClient.connect(new URL("https://tools.example/sum"), options);
  const { bcs, toolSignature } = await client.invoke({ a: 1n }, { signal: AbortSignal.timeout(1000) });
  const bytes: readonly (Uint8Array | undefined)[] = [client.sign({}).body, toolSignature, publicKeyOf(new Uint8Array(32))];
  return bytes.length > 0 ? outputHash(bcs) : bcs;
}
`;

test("a page needs no types of Node for the client", () => {
  const { errors, files } = read(PAGE_SOURCE, {
    ...OPTIONS,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  });
  assert.deepEqual(errors, []);
  assert.deepEqual(
    files.filter((file) => file.includes("@types/node")),
    [],
  );
});

test("the HTTP framework has its own entry point", async () => {
  const { default: whole, fastify } = await import("svc-runtime/fastify");
  assert.equal(typeof fastify, "function");
  assert.equal(whole, fastify);
});

// The test kit and the typed client: the types of the tool's class, and nothing else.

const TOOL = `
import { type DataRef, StatusCode, SvcTool } from "svc-runtime";
export interface Report { rows: string[] }
export interface Input { a: bigint; when?: Date; tags: string[] }
export type Output =
  | { ok: { sum: bigint; at: Date; bytes: Uint8Array; report: DataRef<Report>; parts: DataRef<Report>[] } }
  | { err: { reason: string } }
  | "done";
export class Sum extends SvcTool<Input, Output> {
  static override fqn() { return "xyz.test.sum@1"; }
  override async invoke(): Promise<Output> { return "done"; }
  override async health() { return StatusCode.OK; }
}
export class Purge extends SvcTool<{ all?: boolean; names?: string[] }, { purged: { count: number; next?: Date } }> {
  static override fqn() { return "xyz.test.purge@1"; }
  override async invoke() { return { purged: { count: 0 } }; }
  override async health() { return StatusCode.OK; }
}
export class Plain extends SvcTool<{}, "done"> {
  static override fqn() { return "xyz.test.plain@1"; }
  override async invoke() { return "done" as const; }
  override async health() { return StatusCode.OK; }
}
`;

/** Each line with a comment must be refused, every other line accepted. */
const USE = `
import { JsonText, LeaderClient, type CallResult, type SignedRequest, WalrusValue } from "svc-runtime/leader";
import { createHarness, type Harness, type OutputOf } from "svc-runtime/testing";
import type { Contract } from "svc-runtime/v1";
import { Plain, type Purge, type Report, Sum } from "./tool.js";

declare const contracts: readonly Contract[];

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Expected =
  | { ok: { sum: bigint; at: Date; bytes: Uint8Array; report: Report | WalrusValue; parts: (Report | WalrusValue)[] } }
  | { err: { reason: string } }
  | "done"
  | { _err_eval: { reason: string } };
type Fits<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

const harness = await createHarness(Sum, { signed: true });
const output = await harness.invoke({ a: 1n, tags: ["x"], when: new Date() });
export const same: Fits<typeof output, Expected> = true;
export const alias: Same<typeof output, OutputOf<typeof Sum>> = true;
if (output !== "done" && "ok" in output) {
  const sum: bigint = output.ok.sum;
  output.ok.at.toISOString();
  const wrong: number = output.ok.sum; // bigint
}
if (output !== "done" && "_err_eval" in output) output._err_eval.reason.trim();
if (output !== "done") output.pear; // no such variant
harness.invoke({ a: 1, tags: ["x"] }); // number for bigint
harness.invoke({ a: 1n }); // tags are missing
harness.invoke({ a: 1n, tags: ["x"], pear: 1 }); // unknown member
const call = await harness.invokeSigned({ a: 1n, tags: [] }, { leader: "alice" });
export const signed: Same<typeof call.output, typeof output> = true;
export const bytes: Uint8Array = call.request.body;
harness.invokeRaw({ headers: { A: ["1", "2"] }, body: "{}" });
const both = await createHarness([Sum, Plain]);
const plain: Harness<typeof Plain> = both.of(Plain);
const done: "done" | { _err_eval: { reason: string } } = await plain.invoke({});
createHarness(class {}); // no tool
createHarness([]); // no tool at all
await using disposed = harness;

const client = await LeaderClient.connect<typeof Sum>("http://localhost", { contracts });
LeaderClient.connect<typeof Sum>("http://localhost"); // no contracts
LeaderClient.connect<typeof Sum>("http://localhost", {}); // no contracts
LeaderClient.connect<typeof Sum>("http://localhost", { contracts: undefined }); // no contracts
LeaderClient.fromMetadata<typeof Sum>("{}"); // no contracts
export const made: LeaderClient<typeof Sum> = LeaderClient.fromMetadata<typeof Sum>("{}", { contracts });
const result = await client.invoke({ a: 1n, tags: ["x", new JsonText('"y"')], when: new JsonText("null") });
export const untyped: Readonly<Record<string, unknown>> = result.value;
const request: SignedRequest = client.sign({ a: 1n, tags: [] });
const again: CallResult<typeof Sum> = await client.send(request);
client.sign({ a: 1, tags: [] }); // number for bigint
client.invokeUnsigned({ a: 1n, tags: "x" }); // no list
const any: LeaderClient = await LeaderClient.connect("http://localhost");
const loose = await any.invoke({ whatever: 1 });
export const value: unknown = loose.value.sum;
loose.value.sum.trim(); // not known
export const notTyped: LeaderClient<typeof Sum> = any; // its output is unknown
const decoded = await LeaderClient.connect("http://localhost", { contracts });
export const notKnown: Same<typeof decoded, LeaderClient> = true;
any.invoke("text"); // no object

const purge = await LeaderClient.connect<typeof Purge>("http://localhost", { contracts });
await purge.invoke({});
await purge.invoke({ all: true, names: ["x", new JsonText('"y"')] });
purge.invoke({ al: true }); // no such port
purge.invoke({ all: "yes" }); // no boolean
purge.invoke([]); // no object
const purged = await purge.invoke({});
if (purged.tag === "purged") {
  const count: number = purged.value.count;
  purged.value.reason; // another variant
}
purged.value.count; // the variant is not known
const bare = await LeaderClient.connect<typeof Plain>("http://localhost", { contracts });
await bare.invoke({});
bare.invoke({ more: 1 }); // no port at all
if (result.tag === "ok") {
  const sum: bigint = result.value.sum;
  const at: Date = result.value.at;
  const bytes: Uint8Array = result.value.bytes;
  const report: Report | WalrusValue = result.value.report;
  const wrong: number = result.value.sum; // bigint
  result.value.reason; // of another variant
}
if (result.tag === "done") result.value.sum; // a variant without ports
if (result.tag === "_err_eval") { const reason: string = result.value.reason; }
result.tag === "other"; // no such variant
const resolved = await client.resolve(result);
if (resolved.tag === "ok") {
  const rows: string[] = resolved.value.report.rows;
  const text: JsonText = resolved.texts.report;
  const texts: readonly JsonText[] = resolved.texts.parts;
  resolved.texts.nothing; // no such port
  await any.invoke({ report: text, parts: texts });
}
`;

test("inputs and results have the types of the class", () => {
  const project = new ToolProject({ "src/tool.ts": TOOL, "src/use.ts": USE });
  const program = programOf([`${project.root}/src/use.ts`], {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
    types: ["node"],
    typeRoots: [`${project.root}/node_modules/@types`],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
  });
  const wrong = ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1;
    return { line, text: `${file?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, "\n")}` };
  });
  const lines = USE.split("\n");
  const refused = lines.flatMap((line, i) => (/; \/\/ /.test(line) ? [i + 1] : []));
  const unexpected = wrong.filter(({ line }) => !refused.includes(line)).map(({ text }) => text);
  assert.deepEqual(unexpected, []);
  assert.deepEqual(
    [...new Set(wrong.map(({ line }) => line))].sort((a, b) => a - b),
    refused,
  );
});
