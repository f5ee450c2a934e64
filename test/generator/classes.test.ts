/** Which classes are tools, by meaning; what they say about themselves, without being run. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { Generated } from "#generator/generate.js";
import { readJson } from "#generator/json.js";
import { proves } from "../proves.js";
import { COMPILERS, compile } from "../typescript/compilers.js";
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

function generated(
  files: Readonly<Record<string, string>>,
  look: (result: Generated, project: ToolProject) => void,
): void {
  const project = new ToolProject(files);
  try {
    look(project.generate(), project);
  } finally {
    project.remove();
  }
}

function errorsOf({ diagnostics }: Generated): string[] {
  return diagnostics
    .filter(({ severity }) => severity === "error")
    .map(({ code, place, subject }) => `${code} ${place?.file}:${place?.line}:${place?.column} ${subject}`);
}

function textOf({ files }: Generated, path: string): string {
  return files.find((file) => file.path === path)?.text ?? "";
}

test("tools are found by what they extend, wherever that is", () => {
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
    "src/defaulted.ts": `${imports}export class Defaulted<T = string> extends SvcTool<{ d: T; list: T[] }, "done"> ${body("xyz.test.defaulted@1", invoke)}`,
    "src/inferred.ts": `${imports}export class Inferred extends SvcTool<{ i: number }, { ok: { x: number } } | { err: { reason: string } }> ${body("xyz.test.inferred@1", "async invoke() { return { ok: { x: 1 } }; }")}`,
    "src/other.ts":
      "export class SvcTool<I, O> { declare readonly __io: { input: I; output: O } }\nexport class NotATool extends SvcTool<string, number> {}",
    "src/skipped.test.ts": `${imports}class InATest extends SvcTool<{ t: number }, "done"> ${body("xyz.test.skipped@1", invoke)}\nexport {};`,
  };
  generated(files, (result) => {
    assert.deepEqual(errorsOf(result), []);
    const meta = readJson(textOf(result, "meta.json"));
    assert.ok(Array.isArray(meta));
    assert.equal(meta.length, 8);
    const server = textOf(result, "src/generated/server.ts");
    assert.match(server, /^import anonymous from "\.\.\/anonymous\.js";$/m);
    assert.match(server, /^import \{ Direct \} from "\.\.\/deep\/kept\.js";$/m);
    assert.match(server, /^import \{ Direct as Direct2 \} from "\.\.\/direct\.js";$/m);
    assert.match(server, /^import \{ Outer \} from "\.\.\/renamed\.js";$/m);
    assert.match(
      server,
      /^bootstrap\(\[\n {2}anonymous,\n {2}Direct,\n {2}Defaulted,\n {2}Direct2,\n {2}Expression,\n {2}Generic,\n {2}Inferred,\n {2}Outer,\n\]\);$/m,
    );
    const contracts = textOf(result, "src/generated/contracts.ts");
    assert.match(
      contracts,
      /\{ name: "a", many: false, codec: \{ kind: "literal", values: \["second", "first"\] \} \}/,
    );
    assert.match(contracts, /\{ name: "d", many: false, codec: \{ kind: "string" \} \}/);
    assert.match(contracts, /\{ name: "err", ports: \[\{ name: "reason"/);
  });
});

test("names that no import can have are changed, and an export of a type alone is none", () => {
  const tool = (name: string, base: string) =>
    `class ${name} extends SvcTool<{ list: string[] }, "done"> ${body(base, invoke)}`;
  const files = {
    "src/a.ts": `${imports}${tool("A", "xyz.test.aa@1")}\nexport { A as class };`,
    "src/b.ts": `${imports}export const B = ${tool("", "xyz.test.bb@1")};\nexport { B as await };`,
    "src/c.ts": `${imports}export ${tool("Array", "xyz.test.cc@1")}`,
  };
  const project = new ToolProject(files, { ...STRICT, noEmit: true });
  try {
    const server = project.build()["src/generated/server.ts"] ?? "";
    assert.match(server, /^import \{ class as class2 \} from "\.\.\/a\.js";$/m);
    assert.match(server, /^import \{ Array \} from "\.\.\/c\.js";$/m);
    assert.equal(compile(COMPILERS[0], project.root), "");
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
  } finally {
    project.remove();
  }
});

test("facts are worked out from constants, and anything else is refused at its place", () => {
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
  generated(good, (result) => {
    assert.deepEqual(errorsOf(result), []);
    const contracts = textOf(result, "src/generated/contracts.ts");
    for (const line of ['fqn: "xyz.test.one@7"', 'description: "Documented."', 'path: "of/x"', "timeout: 4999"]) {
      assert.ok(contracts.includes(line), line);
    }
  });
  const bad = {
    "src/a.ts": facts(
      "A",
      "static override fqn() { return process.env.FQN!; }",
      "declare const process: { env: Record<string, string> };",
    ),
    "src/b.ts": facts("B", 'static override fqn() { return "two.parts@1"; }'),
    "src/c.ts": facts("C", ""),
    "src/d.ts": facts(
      "D",
      'static override fqn() { return "xyz.test.dd@1"; }\n static override description() { return "  "; }',
    ),
    "src/e.ts": facts(
      "E",
      'static override fqn() { return "xyz.test.ee@1"; }\n static override timeout() { return 2 ** 31; }',
    ),
    "src/f.ts": facts(
      "F",
      'static override fqn() { return "xyz.test.ff@1"; }\n static override path() { return "a?b"; }',
    ),
    "src/g.ts": facts("G", 'static override fqn() { return Math.random() > 2 ? "a" : "b"; }'),
    "src/h.ts": facts(
      "H",
      'static override fqn() { return "xyz.test.same@1"; }\n static override path() { return "p//q"; }',
    ),
    "src/i.ts": facts(
      "I",
      'static override fqn() { return "xyz.test.same@01"; }\n static override path() { return "/p/q/"; }',
    ),
    "src/j.ts": `${imports}class J extends SvcTool<{ a: string }, "done"> ${body("xyz.test.jj@1", invoke)}\nexport {};`,
    "src/k.ts": `${imports}export class K<T> extends SvcTool<{ a: T }, "done"> ${body("xyz.test.kk@1", invoke)}`,
  };
  generated(bad, (result) => {
    assert.deepEqual(result.files, []);
    assert.deepEqual(errorsOf(result), [
      "SVC113 src/a.ts:5:34 A.fqn()",
      "SVC114 src/b.ts:5:34 B.fqn()",
      "SVC112 src/c.ts:4:14 C",
      "SVC115 src/d.ts:6:41 D.description()",
      "SVC118 src/e.ts:6:37 E.timeout()",
      "SVC122 src/f.ts:6:34 F.path()",
      "SVC113 src/g.ts:5:34 G.fqn()",
      "SVC110 src/j.ts:2:7 J",
      "SVC111 src/k.ts:2:14 K",
      "SVC119 src/i.ts:4:14 I",
      "SVC120 src/i.ts:4:14 I",
    ]);
  });
  proves("1.23", "9.9");
});

test("a project without tools, without tsconfig, or without strict null checks says so", () => {
  generated({ "src/a.ts": "export const a = 1;" }, (result) =>
    assert.deepEqual(errorsOf(result), ["SVC100 undefined:undefined:undefined undefined"]),
  );
  const loose = new ToolProject(
    { "src/sum.ts": toolSource("Sum", "{ a: string }") },
    { target: "ES2023", module: "NodeNext", strict: false },
  );
  assert.equal(loose.generate().diagnostics[0]?.code, "SVC102");
  loose.write({ "tsconfig.json": '{ "extends": "./missing.json" }' });
  assert.equal(loose.generate().diagnostics[0]?.code, "SVC101");
  loose.remove();
});

test("TypeScript's own errors come first and in its form", () => {
  const files = { "src/a.ts": `${toolSource("A", "{ a: Map<string, string> }")}\nconst x: number = "x";\n` };
  generated(files, ({ diagnostics }) => {
    assert.deepEqual(
      diagnostics.map(({ code, place }) => `${code} ${place?.line}:${place?.column}`),
      ["TS2322 11:7", "SVC134 3:34"],
    );
  });
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
  try {
    const texts = project.build();
    const { contracts } = (await import(join(project.root, "src/generated/contracts.ts"))) as {
      contracts: readonly { inputSchema: string }[];
    };
    assert.match(contracts[0]?.inputSchema ?? "", /"10".*"9".*"e\\n\\""/);
    assert.match(texts["meta.json"] ?? "", /"10": \{[\s\S]*"9": \{[\s\S]*"e\\n\\"": \{/);
  } finally {
    project.remove();
  }
});
