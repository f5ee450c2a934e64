/** Which classes are tools, by meaning; what they say about themselves, without being run. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Generated, generateTexts } from "#generator/compile/generate.js";
import { VERSION } from "#generator/process/version.js";
import { readJson } from "#generator/text/json.js";
import { proves } from "../proves.js";
import { REPOSITORY } from "../repository.js";
import { COMPILERS, compile, FASTEST } from "../typescript/compilers.js";
import { STRICT, ToolProject, table, toolSource } from "./project.js";

const body = (fqn: string, more = "") => `{
  static override fqn() { return "${fqn}"; }
  static override description() { return "A tool."; }
  static override path() { return "${fqn}"; }
  async health() { return StatusCode.OK; }
  ${more}
}`;
const invoke = 'async invoke() { return "done" as const; }';
const imports = 'import { SvcTool, StatusCode } from "svc-runtime";\n';

const generated = (files: Readonly<Record<string, string>>) => new ToolProject(files).generate();

function errorsOf({ diagnostics }: Generated): string[] {
  return diagnostics
    .filter(({ severity }) => severity === "error")
    .map(({ code, place, subject }) => `${code} ${place?.file}:${place?.line}:${place?.column} ${subject}`);
}

/** The codes that are reported for the only file of a project. */
const codesFor = (source: string) => generated({ "src/a.ts": source }).diagnostics.map(({ code }) => code);

function textOf({ files }: Generated, path: string): string {
  return files.find((file) => file.path === path)?.text ?? "";
}

test("tools are found by the class that they extend, wherever it is declared", () => {
  const files = {
    "src/direct.ts": toolSource("Direct", "{ a: string }"),
    "src/base.ts": `${imports}
export abstract class Base<I, O = { ok: { echoed: I } }> extends SvcTool<I, O | { err: { reason: string } }> {
  async health() { return StatusCode.OK; }
}
export abstract class Middle<T extends object> extends Base<{ z: T; a: "second" | "first" }> {}`,
    "src/generic.ts": `${imports}import { Middle } from "./base.js";
interface Secret { hidden: number }
export class Generic extends Middle<Secret> ${body("xyz.test.generic@1", "async invoke() { throw new Error(); return undefined as never; }")}`,
    "src/anonymous.ts": `${imports}export default class extends SvcTool<{ n: number }, "done"> ${body("xyz.test.anonymous@1", invoke)}`,
    "src/expression.ts": `${imports}export const Expression = class extends SvcTool<{ e: number }, "done"> ${body("xyz.test.expression@1", invoke)};`,
    "src/renamed.ts": `${imports}class Inner extends SvcTool<{ r: number }, "done"> ${body("xyz.test.renamed@1", invoke)}\nexport { Inner as Outer };`,
    "src/deep/kept.ts": `${imports}export class Direct extends SvcTool<{ k: number }, "done"> ${body("xyz.test.kept@1", invoke)}`,
    "src/inferred.ts": `${imports}export class Inferred extends SvcTool<{ i: number }, { ok: { x: number } } | { err: { reason: string } }> ${body("xyz.test.inferred@1", "async invoke() { return { ok: { x: 1 } }; }")}`,
    "src/other.ts":
      "export class SvcTool<I, O> { declare readonly __io: { input: I; output: O } }\nexport class NotATool extends SvcTool<string, number> {}",
    "src/skipped.test.ts": `${imports}class InATest extends SvcTool<{ t: number }, "done"> ${body("xyz.test.skipped@1", invoke)}\nexport {};`,
  };
  const result = generated(files);
  assert.deepEqual(errorsOf(result), []);
  const meta = readJson(textOf(result, "meta.json"));
  assert.ok(Array.isArray(meta));
  assert.equal(meta.length, 7);
  const server = textOf(result, "src/generated/server.ts");
  assert.match(server, /^import anonymous from "\.\.\/anonymous\.js";$/m);
  assert.match(server, /^import \{ Direct \} from "\.\.\/deep\/kept\.js";$/m);
  assert.match(server, /^import \{ Direct as Direct2 \} from "\.\.\/direct\.js";$/m);
  assert.match(server, /^import \{ Outer \} from "\.\.\/renamed\.js";$/m);
  assert.match(
    server,
    /^bootstrap\(\[\n {2}anonymous,\n {2}Direct,\n {2}Direct2,\n {2}Expression,\n {2}Generic,\n {2}Inferred,\n {2}Outer,\n\] as const\);$/m,
  );
  const contracts = textOf(result, "src/generated/contracts.ts");
  assert.match(contracts, /\{ name: "a", many: false, codec: \{ kind: "literal", values: \["second", "first"\] \} \}/);
  assert.match(contracts, /\{ name: "err", ports: \[\{ name: "reason"/);
});

test("names that an import cannot have are replaced, and a type-only export is not an export", () => {
  const tool = (name: string, base: string) =>
    `class ${name} extends SvcTool<{ list: string[] }, "done"> ${body(base, invoke)}`;
  const files = {
    "src/a.ts": `${imports}${tool("A", "xyz.test.aa@1")}\nexport { A as class };`,
    "src/b.ts": `${imports}export const B = ${tool("", "xyz.test.bb@1")};\nexport { B as await };`,
    "src/c.ts": `${imports}export ${tool("Array", "xyz.test.cc@1")}`,
  };
  const project = new ToolProject(files, { ...STRICT, noEmit: true });
  const server = project.build()["src/generated/server.ts"] ?? "";
  assert.match(server, /^import \{ class as class2 \} from "\.\.\/a\.js";$/m);
  assert.match(server, /^import \{ Array \} from "\.\.\/c\.js";$/m);
  assert.equal(compile(FASTEST, project.root), "");
  project.write({
    "src/a.ts": `${imports}${tool("A", "xyz.test.aa@1")}\nexport type { A };`,
    "src/b.ts": `${imports}${tool("B", "xyz.test.bb@1")}\nexport { type B };`,
    "src/c.ts": `${imports}export namespace N { export ${tool("C", "xyz.test.cc@1")} }`,
    "src/d.ts": `${imports}export ${tool("D<T>", "xyz.test.dd@1")}`,
  });
  assert.deepEqual(errorsOf(project.generate()), [
    "SVC110 src/a.ts:2:7 A",
    "SVC110 src/b.ts:2:7 B",
    "SVC110 src/c.ts:2:35 C",
    "SVC111 src/d.ts:2:14 D",
  ]);
});

test("an exported tool class that a call returns is reported; one that extends it is a tool", () => {
  const made = `(rate: number) => class extends SvcTool<{ r: number }, "done"> ${body("xyz.test.made@1", invoke)};`;
  const abstracted = `() => { abstract class Base extends SvcTool<{ r: number }, "done"> {} return Base; };`;
  const result = generated({
    "src/a.ts": `${imports}const made = ${made}
export const Eu = made(1);
const Us = made(2);
export { Us };
export class Uk extends made(3) {}
const abstracted = ${abstracted}
export const Base = abstracted();`,
  });
  assert.deepEqual(errorsOf(result), ["SVC110 src/a.ts:9:19 Eu", "SVC110 src/a.ts:10:12 Us"]);
  assert.equal(result.diagnostics[0]?.hint, "declare it: export class Eu extends made(…) {}");
});

test("metadata is evaluated from constants", () => {
  const constants =
    'export const DOMAIN = "xyz.test";\nexport const enum Limits { Seconds = 5 }\nexport const O = { path: "of" } as const;';
  const source = `${imports}import { DOMAIN, Limits, O } from "./constants.js";
const VERSION = 0o3 + 4;
/** Documented. */
export class One extends SvcTool<{ a: string }, "done"> {
  static override fqn() { return \`\${DOMAIN}.\${this.short}@\${VERSION}\`; }
  static readonly short = "one";
  static override path() { return O.path + "/" + this.tail(); }
  static tail() { return "x"; }
  static override timeout() { const second = 1_000; return Limits.Seconds * second - 1; }
  async health() { return StatusCode.OK; }
  ${invoke}
}`;
  const { contracts, diagnostics } = generateTexts(
    new Map([
      ["src/constants.ts", constants],
      ["src/one.ts", source],
    ]),
  );
  assert.deepEqual(diagnostics, []);
  const { fqn, description, path, timeout } = contracts?.[0] ?? assert.fail();
  assert.deepEqual([fqn, description, path, timeout], ["xyz.test.one@7", "Documented.", "of/x", 4999]);
});

/** Base class, or - for SvcTool; members of a class; and what is reported: code, marked text, detail. */
const CLASSES = table(String.raw`
- ;; static override fqn() { return process.env.FQN!; } ;; SVC113 process.env.FQN!
- ;; static override fqn() { return Math.random() > 2 ? "a" : "b"; } ;; SVC113 Math.random() > 2 ? "a" : "b"
- ;; static override fqn() { return "two.parts@1"; } ;; SVC114 "two.parts@1": "two.parts" has two parts, expected three or more
- ;; /* no fqn */ ;; SVC112 class
- ;; fqn() { return ""; } ;; SVC112 fqn() { return ""; }: the method must be static
- ;; static FQN() { return ""; } ;; SVC112 static FQN() { return ""; }: the class has FQN()
- ;; static override fqn() { return "xyz.test.same@1"; } static override path() { return "p//q"; }
- ;; static override fqn() { return "xyz.test.same@01"; } static override path() { return "/p/q/"; } ;; SVC119 class: "xyz.test.same@1", also of T6 at src/a.ts:41:14 ;; SVC120 class: "p/q", also of T6 at src/a.ts:41:14
- ;; static override description() { return "  "; } ;; SVC115 "  "
- ;; static override description() { return "\ud83d"; } ;; SVC125 "\ud83d"
- ;; static override description() { return 5; } ;; SVC115 5: expected text, got a number
- ;; static description = "Text."; ;; SVC113 description: it is a property, not a method
- ;; static override path() { return "a?b"; } ;; SVC122 "a?b"
- ;; static override path() { return "v1/:id"; } ;; SVC126 "v1/:id": "v1/:id"
- ;; static override path() { return "v1/*"; } ;; SVC126 "v1/*": "v1/*"
- ;; static override variables() { return ["RATES_TOKEN"]; } ;; SVC116 ["RATES_TOKEN"]: expected an object of names and descriptions, got an array
- ;; static override timeout() { return 2 ** 31; } ;; SVC118 2 ** 31: 2147483648 is out of range or not an integer
- ;; static override timeout() { return 1.5; } ;; SVC118 1.5: 1.5 is out of range or not an integer
- ;; static override timeout() { return Infinity; } ;; SVC113 Infinity
- ;; static override timeout() { return "5s"; } ;; SVC118 "5s": expected milliseconds as a number, got the text "5s"
- ;; static override timeout() { return 999; } ;; SVC117 999: 999 ms
- ;; static override timeout() { return 1_000; }
- ;; static override timeout() { return 120_000; }
- ;; static override timeout() { return 120_001; } ;; SVC117 120_001: 120001 ms
- ;; static override meta() { return ""; } ;; SVC121 meta
- ;; path() { return "instance"; } ;; SVC128 path: it is not static
- ;; static async health() { return 1; } ;; SVC128 health: it is static
- ;; authorise() {} ;; SVC128 authorise: SvcTool has authorize()
- ;; authorized() {} mine() { this.authorized(); }
- ;; private authorizes() {} authority() {} private close() {} timeout = 5;
- ;; override authorize(context: unknown, input?: unknown) {}
- ;; override authorize(context = {}) {}
- ;; override authorize(context: unknown, input: unknown, more = 1) {}
- ;; override authorize(context: unknown, input = {}) {} ;; SVC201 input = {}
- ;; override authorize(context = {}, input: any) {} ;; SVC201 context = {}
- ;; override authorize(...all: any[]) {} ;; SVC201 ...all: any[]
- ;; constructor(readonly db: Map<string, string>) { super(); } ;; SVC123 readonly db: Map<string, string>: the constructor needs db: Map<string, string>, but new() passes no arguments
Needs ;; /* no constructor */ ;; SVC123 class: the constructor of Needs needs db: string, but new() passes no arguments
- ;; constructor(...all: [string, number]) { super(); } ;; SVC123 ...all: [string, number]: the constructor needs all: [string, number], but new() passes no arguments
- ;; constructor(a = 1, { b }: { b: string }) { super(); } ;; SVC123 { b }: { b: string }: the constructor needs { b }: { b: string; }, but new() passes no arguments
- ;; constructor(a: string); constructor(b: number); constructor(_: unknown) { super(); } ;; SVC123 a: string: the constructor needs a: string, but new() passes no arguments
- ;; constructor(readonly db?: string, n = 1, ...rest: string[]) { super(); }
- ;; constructor(a: string | undefined, b: undefined) { super(); }
Gives ;; /* no constructor */
- ;; private constructor() { super(); }
- ;; private constructor(n: number) { super(); } static override async new() { return new this(1); }
- ;; constructor(); constructor(n: number); constructor(_?: number) { super(); }
- ;; constructor(...all: [string?]) { super(); }
- ;; constructor(n: number); constructor(); constructor(_?: number) { super(); }
Mixed ;; /* no constructor */
`);

const BASES = `declare const process: { env: Record<string, string> };
type Base = SvcTool<{ a: string }, "done">;
abstract class Needs extends SvcTool<{ a: string }, "done"> { constructor(readonly db: string, readonly n = 1) { super(); } }
abstract class Gives extends Needs { static override async new() { return Reflect.construct(this, ["x"]) as Gives; } }
abstract class Root extends SvcTool<{ a: string }, "done"> {}
type Abstract = abstract new (...given: any[]) => Base;
function mix<T extends Abstract>(root: T) { abstract class Mixed extends root { extra = 1; } return Mixed; }
const Mixed = mix(Root);
`;

test("static members, hooks and constructors that do not work as intended are reported at their position", () => {
  const classes = CLASSES.map(([base, members], i) => {
    const fqn = /fqn/i.test(members) ? "" : `static override fqn() { return "xyz.test.t-${i}@1"; }`;
    const path = /path\(\) \{ return ".*[^x]"/.test(members) ? "" : `static override path() { return "${i}"; }`;
    return `/** Documented. */
export class T${i} extends ${base === "-" ? 'SvcTool<{ a: string }, "done">' : base} {
  ${fqn} ${path} async health() { return StatusCode.OK; } ${invoke}
  ${members}
}`;
  });
  const { diagnostics } = generateTexts(new Map([["src/a.ts", `${imports}${BASES}${classes.join("\n")}`]]));
  const found = CLASSES.map(([base, members], i) => {
    const own = diagnostics.filter(({ code, subject }) => code.startsWith("SVC") && subject?.split(".")[0] === `T${i}`);
    const texts = own.map(({ code, place, message }) => {
      const marked = place?.source.slice(place.column - 1, place.column - 1 + place.length);
      return `${code} ${marked === `T${i}` ? "class" : marked}${message.replace(/^.*?(?=: |$)/, "")}`;
    });
    return [base, members, ...texts];
  });
  assert.deepEqual(found, CLASSES);
  proves("1.23", "9.9");
});

test("a project without tools, without tsconfig, or without strict null checks says so", () => {
  assert.deepEqual(codesFor("export const a = 1;"), ["SVC100"]);
  const abstract = `${imports}export abstract class Base extends SvcTool<{ a: string }, "done"> {}
export abstract class Other extends Base {}
export abstract class NoTool {}`;
  const result = generated({ "src/a.ts": abstract });
  assert.deepEqual(errorsOf(result), ["SVC100 src/a.ts:2:23 undefined"]);
  const detail = "Base is abstract: remove `abstract`, or export a class that extends Base";
  assert.equal(result.diagnostics[0]?.message, `no tool class was found: in the only file of tsconfig.json; ${detail}`);
  const loose = new ToolProject(
    { "src/sum.ts": toolSource("Sum", "{ a: string }") },
    { target: "ES2023", module: "NodeNext", strict: false },
  );
  loose.write({ "base.json": '{ "compilerOptions": { "strict": false } }' });
  for (const config of [
    '{ "compilerOptions": { "strict": true, "strictNullChecks": false } }',
    '{ "extends": "./base.json" }',
  ]) {
    loose.write({ "tsconfig.json": config });
    const found = loose.generate().diagnostics.map(({ code, message }) => `${code} ${message}`);
    assert.deepEqual(found, ["SVC102 strictNullChecks is off: tsconfig.json"]);
  }
  loose.write({ "tsconfig.json": '{ "extends": "./missing.json" }' });
  assert.equal(loose.generate().diagnostics[0]?.code, "SVC101");
});

test("an error in tsconfig.json or in its base is shown at its position", () => {
  const project = new ToolProject({ "src/a.ts": toolSource("A", "{ a: string }") });
  const found = (config: string, base = "{}") => {
    project.write({ "tsconfig.json": config, "base.json": base });
    return project.generate().diagnostics.map(({ code, severity, place, message, hint }) => {
      if (severity === "error") assert.equal(hint, "correct the file at this position");
      return `${severity} ${code} ${place?.file}:${place?.line}:${place?.column} ${message.replace(/^.*?: /, "")}`;
    });
  };
  const good = JSON.stringify(STRICT);
  assert.deepEqual(found(`{\n  "compilerOptions": ${good}\n  "include": ["src"]\n}`), [
    "error SVC101 tsconfig.json:3:3 ',' expected.",
  ]);
  assert.deepEqual(found('{\n  "compilerOptions": { "strict": "true" }\n}'), [
    "error SVC101 tsconfig.json:2:34 Compiler option 'strict' requires a value of type boolean.",
  ]);
  assert.deepEqual(found(`{ "extends": "./base.json", "compilerOptions": ${good} }`, '{\n  "compilerOptions": [\n'), [
    "error SVC101 base.json:3:1 ']' expected.",
  ]);
  assert.deepEqual(found(`{\n  "compilerOptions": ${good}, // a comment,\n}`), []);
});

test("package.json and the packages installed with it are checked before the tools", () => {
  const project = new ToolProject({ "src/a.ts": toolSource("A", "{ a: string }") });
  const found = (manifest: string) => {
    project.write({ "package.json": manifest });
    return project.generate().diagnostics.map(({ code, severity, place, message }) => {
      return `${severity} ${code} ${place?.line}:${place?.column} ${message}`;
    });
  };
  assert.deepEqual(found('{\n  "type": "module",\n}\n'), [
    "error SVC101 undefined:undefined the project cannot be read: package.json is not valid JSON",
  ]);
  assert.deepEqual(found('\ufeff{ "type": "module", "scripts": { "build": "svc-gen && esbuild src/a.ts" } }'), []);
  const compiled = '{ "type": "module", "scripts": { "build": "svc-gen && tsc" } }';
  const runtime = join(project.root, "node_modules/svc-runtime");
  const manifest = readFileSync(join(runtime, "package.json"), "utf8");
  rmSync(runtime);
  mkdirSync(runtime);
  symlinkSync(join(REPOSITORY, "runtime/dist"), join(runtime, "dist"));
  writeFileSync(join(runtime, "package.json"), manifest.replace(/"version": "[^"]+"/, '"version": "9.9.9"'));
  assert.deepEqual(found(compiled), [
    `warning SVC108 undefined:undefined svc-gen and svc-runtime have different versions: svc-gen is ${VERSION}, svc-runtime is 9.9.9`,
  ]);
});

test("without svc-runtime there is one diagnostic instead of TypeScript's errors", () => {
  const files = { "src/a.ts": toolSource("A", "{ a: string }"), "src/b.ts": toolSource("B", "{ b: string }") };
  const project = new ToolProject(files, { ...STRICT, types: ["node"] });
  const found = () =>
    project.generate().diagnostics.map(({ code, place, message, hint }) => {
      return `${code} ${place?.file}:${place?.line}:${place?.column} ${message} (${hint})`;
    });
  const modules = join(project.root, "node_modules");
  symlinkSync(COMPILERS[0].folder, join(modules, "typescript"));
  for (const options of [{ module: "ESNext" }, { module: "CommonJS", moduleResolution: "node10" }]) {
    project.write({ "tsconfig.json": JSON.stringify({ compilerOptions: { ...STRICT, ...options } }) });
    assert.match(
      found()[0] ?? "",
      /^SVC103 src\/a\.ts:1:37 .* does not find it \(set "module": "NodeNext" in tsconfig\.json\)$/,
    );
  }
  project.write({ "tsconfig.json": JSON.stringify({ compilerOptions: { ...STRICT, types: ["node"] } }) });
  assert.deepEqual(found(), []);
  rmSync(modules, { recursive: true });
  const missing = "SVC103 src/a.ts:1:37 svc-runtime is not found";
  assert.deepEqual(found(), [
    `${missing} (run npm install, or npm install svc-runtime if package.json does not list it; with yarn, set nodeLinker: node-modules in .yarnrc.yml)`,
  ]);
  project.write({
    "node_modules/svc-runtime/package.json": '{ "name": "svc-runtime", "exports": "./dist/index.js" }',
  });
  assert.deepEqual(found(), [
    `${missing}: node_modules/svc-runtime exists, but is not built: it has no dist/index.d.ts (build the package, or install it again)`,
  ]);
});

test("a CommonJS package is accepted under NodeNext, and otherwise causes a hint about the setting", () => {
  const files = { "src/a.ts": toolSource("A", "{ a: string }"), "package.json": '{ "name": "tools" }' };
  const hintsOf = (module: string) => {
    const project = new ToolProject(files, { ...STRICT, module });
    return project.generate().diagnostics.map(({ code, hint }) => `${code} ${hint}`);
  };
  assert.deepEqual(hintsOf("NodeNext"), []);
  assert.deepEqual(hintsOf("Node16"), [
    'TS1479 set "module": "NodeNext" in tsconfig.json, or "type": "module" in package.json',
  ]);
});

test("TypeScript's own errors come first, in TypeScript's format", () => {
  const files = { "src/a.ts": `${toolSource("A", "{ a: Map<string, string> }")}\nconst x: number = "x";\n` };
  const { diagnostics } = generated(files);
  assert.deepEqual(
    diagnostics.map(({ code, place }) => `${code} ${place?.line}:${place?.column}`),
    ["TS2322 11:7", "SVC134 3:34"],
  );
});

test("a class that resembles a tool is an error, and each removed tool is reported", () => {
  const tool = (name: string) =>
    `${imports}\nexport class ${name.toUpperCase()} extends SvcTool<{ a: string }, "done"> ${body(`xyz.test.${name}${name}@1`, invoke)}`;
  const [other, own] = [tool("o"), tool("r")];
  const project = new ToolProject({ "src/o.ts": other, "src/r.ts": own });
  const after = (text: string | undefined) => {
    project.write({ "src/r.ts": own });
    project.build();
    if (text === undefined) rmSync(join(project.root, "src/r.ts"));
    else project.write({ "src/r.ts": text });
    return project
      .generate()
      .diagnostics.map(({ code, place, message }) => `${code} ${place?.file}:${place?.line}: ${message}`);
  };
  const alike = "the class looks like a tool, but does not extend SvcTool of svc-runtime";
  assert.deepEqual(after(own.replace("extends SvcTool", "extends Svctool")), [
    "TS2552 src/r.ts:3: Cannot find name 'Svctool'. Did you mean 'SvcTool'?",
    `SVC105 src/r.ts:3: ${alike}`,
  ]);
  const without = own.replace(' extends SvcTool<{ a: string }, "done">', "");
  assert.deepEqual(after(without), [`SVC105 src/r.ts:3: ${alike}`]);
  const untyped = own.replace('<{ a: string }, "done">', "");
  assert.deepEqual(after(untyped), [`SVC105 src/r.ts:3: ${alike}: SvcTool has no <Input, Output>`]);
  assert.deepEqual(after(without.replaceAll("static override ", "")), [
    "SVC106 undefined:undefined: the tool is removed from meta.json: xyz.test.rr@1",
  ]);
  assert.deepEqual(after(undefined), ["SVC106 undefined:undefined: the tool is removed from meta.json: xyz.test.rr@1"]);
});

test("a file that does not parse has only syntax errors, before all other errors", () => {
  const project = new ToolProject({
    "src/a.ts": `${imports}const n: number = "text";`,
    "src/b.ts": 'const x: = "text";\nconst y: number = "text";',
  });
  const found = project.generate().diagnostics.map(({ code, severity, place }) => `${code} ${severity} ${place?.file}`);
  assert.deepEqual(found.slice(0, 2), ["TS1110 error src/b.ts", "TS2322 error src/a.ts"]);
  assert.equal(found.filter((each) => each.startsWith("TS2322")).length, 1);
});

test("an input may be an intersection with object; an index signature beside its members is ignored with a note", () => {
  const project = new ToolProject({
    "src/a.ts": toolSource("A", "object & { a: string; [name: string]: unknown }"),
  });
  const { diagnostics, contracts } = project.generate();
  assert.deepEqual(
    diagnostics.map(({ code, severity }) => [code, severity]),
    [["SVC200", "note"]],
  );
  assert.deepEqual(
    contracts?.[0]?.input.map(({ name }) => name),
    ["a"],
  );
});
