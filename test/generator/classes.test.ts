/** Which classes are tools, by meaning; what they say about themselves, without being run. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Generated } from "#generator/compile/generate.js";
import { VERSION } from "#generator/process/version.js";
import { readJson } from "#generator/text/json.js";
import { proves } from "../proves.js";
import { REPOSITORY } from "../repository.js";
import { COMPILERS, compile, FASTEST } from "../typescript/compilers.js";
import { STRICT, ToolProject, toolSource } from "./project.js";

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
  });
  assert.deepEqual(errorsOf(project.generate()), [
    "SVC110 src/a.ts:2:7 A",
    "SVC110 src/b.ts:2:7 B",
    "SVC110 src/c.ts:2:35 C",
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

test("metadata is evaluated from constants; any other expression is an error at its position", () => {
  const facts = (name: string, members: string, before = "") => `${imports}${before}
/** Documented. */
export class ${name} extends SvcTool<{ a: string }, "done"> {
  ${members}
  async health() { return StatusCode.OK; }
  ${invoke}
}`;
  const good = {
    "src/constants.ts":
      'export const DOMAIN = "xyz.test";\nexport const enum Limits { Seconds = 5 }\nexport const O = { path: "of" } as const;',
    "src/one.ts": facts(
      "One",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
      "static override fqn() { return `${DOMAIN}.${this.short}@${VERSION}`; }\n static readonly short = 'one';\n static override path() { return O.path + '/' + this.tail(); }\n static tail() { return \"x\"; }\n static override timeout() { const second = 1_000; return Limits.Seconds * second - 1; }",
      'import { DOMAIN, Limits, O } from "./constants.js";\nconst VERSION = 0o3 + 4;\n',
    ),
  };
  const result = generated(good);
  assert.deepEqual(errorsOf(result), []);
  const contracts = textOf(result, "src/generated/contracts.ts");
  for (const line of ['fqn: "xyz.test.one@7"', 'description: "Documented."', 'path: "of/x"', "timeout: 4999"]) {
    assert.ok(contracts.includes(line), line);
  }
  const named = (name: string, member: string) => {
    const fqn = `static override fqn() { return "xyz.test.${name.toLowerCase()}x@1"; }`;
    return facts(name, `${fqn}\n static override ${member}`);
  };
  const bad = {
    "src/a.ts": facts(
      "A",
      "static override fqn() { return process.env.FQN!; }",
      "declare const process: { env: Record<string, string> };",
    ),
    "src/b.ts": facts("B", 'static override fqn() { return "two.parts@1"; }'),
    "src/c.ts": facts("C", ""),
    "src/d.ts": named("D", 'description() { return "  "; }'),
    "src/e.ts": named("E", "timeout() { return 2 ** 31; }"),
    "src/f.ts": named("F", 'path() { return "a?b"; }'),
    "src/colon.ts": named("Colon", 'path() { return "v1/:id"; }'),
    "src/star.ts": named("Star", 'path() { return "v1/*"; }'),
    "src/g.ts": facts("G", 'static override fqn() { return Math.random() > 2 ? "a" : "b"; }'),
    "src/h.ts": named("Same", 'path() { return "p//q"; }'),
    "src/i.ts": named("Same", 'path() { return "/p/q/"; }').replace("samex@1", "samex@01"),
    "src/half.ts": named("Half", 'description() { return "\\ud83d"; }'),
    "src/j.ts": `${imports}class J extends SvcTool<{ a: string }, "done"> ${body("xyz.test.jj@1", invoke)}\nexport {};`,
    "src/k.ts": `${imports}export class K<T> extends SvcTool<{ a: T }, "done"> ${body("xyz.test.kk@1", invoke)}`,
  };
  const refused = generated(bad);
  assert.deepEqual(refused.files, []);
  assert.deepEqual(errorsOf(refused), [
    "SVC113 src/a.ts:5:34 A.fqn()",
    "SVC114 src/b.ts:5:34 B.fqn()",
    "SVC112 src/c.ts:4:14 C",
    "SVC126 src/colon.ts:6:34 Colon.path()",
    "SVC115 src/d.ts:6:41 D.description()",
    "SVC118 src/e.ts:6:37 E.timeout()",
    "SVC122 src/f.ts:6:34 F.path()",
    "SVC113 src/g.ts:5:34 G.fqn()",
    "SVC125 src/half.ts:6:41 Half.description()",
    "SVC110 src/j.ts:2:7 J",
    "SVC111 src/k.ts:2:14 K",
    "SVC126 src/star.ts:6:34 Star.path()",
    "SVC119 src/i.ts:4:14 Same",
    "SVC120 src/i.ts:4:14 Same",
  ]);
  assert.equal(
    refused.diagnostics.find(({ code }) => code === "SVC114")?.message,
    'not a tool FQN: "two.parts" has two parts, expected three or more',
  );
  proves("1.23", "9.9");
});

test("the error for a static value of the wrong type contains the expected type", () => {
  const wrong = (name: string, member: string) =>
    `${imports}/** Documented. */
export class ${name} extends SvcTool<{ a: string }, "done"> {
  static override fqn() { return "xyz.test.wrong-${name.toLowerCase()}@1"; }
  static override path() { return "${name}"; }
  ${member}
  async health() { return StatusCode.OK; }
  ${invoke}
}`;
  const files = {
    "src/a.ts": wrong("A", 'static override timeout() { return "5s"; }'),
    "src/b.ts": wrong("B", 'static override timeout() { return "5_000"; }'),
    "src/c.ts": wrong("C", "static override timeout() { return 1.5; }"),
    "src/d.ts": wrong("D", "static override description() { return 5; }"),
    "src/e.ts": wrong("E", 'static override timeout() { return "2.5 min"; }'),
    "src/f.ts": wrong("F", "static override timeout() { return Infinity; }"),
    "src/g.ts": wrong("G", 'static description = "Text.";'),
    "src/h.ts": wrong("H", 'static override variables() { return ["RATES_TOKEN"]; }'),
  };
  const { diagnostics } = generated(files);
  assert.deepEqual(
    diagnostics
      .filter(({ code }) => code.startsWith("SVC"))
      .map(({ code, place, message }) => `${code} ${place?.line}:${place?.column} ${message}`),
    [
      'SVC118 6:38 not a timeout: expected milliseconds as a number, got the text "5s"',
      'SVC118 6:38 not a timeout: expected milliseconds as a number, got the text "5_000"',
      "SVC118 6:38 not a timeout: 1.5 is out of range or not an integer",
      "SVC115 6:42 the description is missing or blank: expected text, got a number",
      'SVC118 6:38 not a timeout: expected milliseconds as a number, got the text "2.5 min"',
      "SVC113 6:38 the value cannot be read without running code",
      "SVC113 6:10 the value cannot be read without running code: it is a property, not a method",
      "SVC116 6:40 a variable is not declared as its name and a description: expected an object of names and descriptions, got an array",
    ],
  );
});

test("a constructor with arguments that nothing passes is an error at its position", () => {
  const base = 'SvcTool<{ a: string }, "done">';
  const tool = (name: string, members: string, extended = base, before = "") =>
    `${imports}${before}export class ${name} extends ${extended} ${body(`xyz.test.made-${name.toLowerCase()}@1`, `${invoke}\n  ${members}`)}`;
  const bases = `export abstract class Needs extends ${base} { constructor(readonly db: string, readonly n = 1) { super(); } }
export abstract class Gives extends Needs { static override async new() { return Reflect.construct(this, ["x"]) as Gives; } }
abstract class Root extends ${base} {}
type Abstract = abstract new (...given: any[]) => ${base};
function mix<T extends Abstract>(root: T) { abstract class Mixed extends root { extra = 1; } return Mixed; }
export const Mixed = mix(Root);
`;
  const from = (name: string) => `import { ${name} } from "./bases.js";\n`;
  const bad = {
    "src/bases.ts": imports + bases,
    "src/a.ts": tool("A", "constructor(readonly db: Map<string, string>) { super(); }"),
    "src/b.ts": tool("B", "", "Needs", from("Needs")),
    "src/c.ts": tool("C", "constructor(...all: [string, number]) { super(); }"),
    "src/d.ts": tool("D", "constructor(a = 1, { b }: { b: string }) { super(); }"),
    "src/e.ts": tool("E", "constructor(a: string); constructor(b: number); constructor(_: unknown) { super(); }"),
  };
  const result = generated(bad);
  assert.deepEqual(errorsOf(result), [
    "SVC123 src/a.ts:8:15 A",
    "SVC123 src/b.ts:3:14 B",
    "SVC123 src/c.ts:8:15 C",
    "SVC123 src/d.ts:8:22 D",
    "SVC123 src/e.ts:8:15 E",
  ]);
  const details = result.diagnostics.map(({ message }) =>
    message.replace("the runtime cannot construct the tool: ", ""),
  );
  assert.equal(details[0], "the constructor needs db: Map<string, string>, but new() passes no arguments");
  assert.equal(details[1], "the constructor of Needs needs db: string, but new() passes no arguments");
  assert.equal(details[3], "the constructor needs { b }: { b: string; }, but new() passes no arguments");
  const good = {
    "src/bases.ts": imports + bases,
    "src/a.ts": tool("A", "constructor(readonly db?: string, n = 1, ...rest: string[]) { super(); }"),
    "src/b.ts": tool("B", "constructor(a: string | undefined, b: undefined) { super(); }"),
    "src/c.ts": tool("C", "", "Gives", from("Gives")),
    "src/d.ts": tool("D", "private constructor() { super(); }"),
    "src/e.ts": tool(
      "E",
      "private constructor(n: number) { super(); } static override async new() { return new E(1); }",
    ),
    "src/f.ts": tool("F", "constructor(); constructor(n: number); constructor(_?: number) { super(); }"),
    "src/g.ts": tool("G", "constructor(...all: [string?]) { super(); }"),
    "src/i.ts": tool("I", "constructor(n: number); constructor(); constructor(_?: number) { super(); }"),
    "src/h.ts": tool("H", "", "Mixed", from("Mixed")),
  };
  assert.deepEqual(errorsOf(generated(good)), []);
});

test("a method named like one of SvcTool's that is static while SvcTool's is not, or the reverse, or is misspelt", () => {
  const parts = `private authorizes() {} authorise() {} authority() {} path() { return "x"; } static async health() { return 1; } private close() {} timeout = 5; ${invoke}`;
  const source = `${imports}export class A extends SvcTool<{ a: string }, "done"> {
  static override fqn() { return "xyz.test.aa@1"; }
  static override description() { return "A tool."; }
  ${parts}
}`;
  const said = ({ diagnostics }: Generated) =>
    diagnostics.map(({ code, severity, subject, message }) => `${code} ${severity} ${subject} ${message}`);
  assert.deepEqual(said(generated({ "src/a.ts": source })), [
    "SVC128 warning A.path() the method is never called: it is not static",
    "SVC128 warning A.health() the method is never called: it is static",
    "SVC128 warning A.authorise() the method is never called: SvcTool has authorize()",
  ]);
  for (const [fqn, detail] of [
    ["fqn", /SVC112 error A fqn\(\) is missing: the method must be static/],
    ["static FQN", /SVC112 error A fqn\(\) is missing: the class has FQN\(\)/],
  ] as const) {
    assert.match(said(generated({ "src/a.ts": source.replace("static override fqn", fqn) })).join(), detail);
  }
});

test("an authorize that would miss the input", () => {
  for (const [parameters, codes] of [
    ["context: unknown, input?: unknown", []],
    ["context = {}", []],
    ["context: unknown, input: unknown, more = 1", []],
    ["context: unknown, input = {}", ["SVC201"]],
    ["context = {}, input: any", ["SVC201"]],
    ["...all: any[]", ["SVC201"]],
  ] as const) {
    const tool = body("xyz.test.aa@1", `override authorize(${parameters}) {} ${invoke}`);
    const source = `${imports}export class A extends SvcTool<{ a: string }, "done"> ${tool}`;
    assert.deepEqual(codesFor(source), codes, parameters);
  }
});

test("a timeout that the network does not register, causes a note", () => {
  const timeout = (value: number) =>
    `${imports}export class A extends SvcTool<{ a: string }, "done"> ${body("xyz.test.aa@1", `static override timeout() { return ${value}; } ${invoke}`)}`;
  for (const [value, codes] of [
    [999, ["SVC117"]],
    [1_000, []],
    [120_000, []],
    [120_001, ["SVC117"]],
  ] as const) {
    assert.deepEqual(codesFor(timeout(value)), codes);
  }
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
  const loosely = (text: string) => {
    loose.write({ "tsconfig.json": text });
    return loose.generate().diagnostics.map(({ code, place, message }) => {
      return `${code} ${place?.file}:${place?.line}:${place?.column}:${place?.length} ${message}`;
    });
  };
  const off = "strictNullChecks is off";
  const options = '"target": "ES2023", "module": "NodeNext"';
  assert.deepEqual(loosely(`{ "compilerOptions": { ${options}, "strict": false } }`), [
    `SVC102 tsconfig.json:1:66:15 ${off}`,
  ]);
  assert.deepEqual(loosely(`{ "compilerOptions": { "strict": true, "strictNullChecks": false } }`), [
    `SVC102 tsconfig.json:1:40:25 ${off}`,
  ]);
  // Where a base turns them off, the place is the one to turn them on.
  loose.write({ "base.json": '{ "compilerOptions": { "strict": false } }' });
  assert.deepEqual(loosely(`{ "compilerOptions": { ${options} }, "extends": "./base.json" }`), [
    `SVC102 tsconfig.json:1:3:17 ${off}`,
  ]);
  assert.deepEqual(loosely('{ "extends": "./base.json" }'), [
    `SVC102 undefined:undefined:undefined:undefined ${off}: tsconfig.json`,
  ]);
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
  project.write({ "tsconfig.json": JSON.stringify({ compilerOptions: { ...STRICT, module: "ESNext" } }) });
  assert.match(
    found()[0] ?? "",
    /^SVC103 src\/a\.ts:1:37 .* does not find it \(set "module": "NodeNext" in tsconfig\.json\)$/,
  );
  project.write({
    "tsconfig.json": JSON.stringify({
      compilerOptions: { ...STRICT, module: "CommonJS", moduleResolution: "node10" },
    }),
  });
  assert.match(
    found()[0] ?? "",
    /^SVC103 src\/a\.ts:1:37 .* does not find it \(set "module": "NodeNext" in tsconfig\.json\)$/,
  );
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

test("meta.json is what the generated server prints", async () => {
  const files = {
    "src/a.ts": toolSource(
      "A",
      '{ "10": string; "9": number; "e\\n\\"": boolean }',
      '{ ok: { z: Record<string, never>; "1": null } }',
    ),
  };
  const project = new ToolProject(files);
  const texts = project.build();
  const contracts = await project.contracts();
  assert.match(contracts[0]?.inputSchema ?? "", /"10".*"9".*"e\\n\\""/);
  assert.match(texts["meta.json"] ?? "", /"10": \{[\s\S]*"9": \{[\s\S]*"e\\n\\"": \{/);
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
