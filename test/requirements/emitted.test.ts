/** What svc-gen emits for a class, in one process that loads the compiler (protocol.md sections 2 and 9). */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import type { Contract } from "#client/wire/codec/contract.js";
import { OutputEncoder, resultJson } from "#runtime/server/wire/output.js";
import { ToolProject, toolSource } from "../generator/project.js";
import { svcGenIn } from "../generator/run-cli.js";
import { proves } from "../proves.js";

describe("emitted schemas", () => {
  let contracts: readonly Contract[];
  before(async () => {
    const ported = "{ a?: string; b?: string[]; c: string[]; d: { e?: number; f: number } }";
    const project = new ToolProject({
      "src/a.ts": toolSource("A", ported, "{ ok: { g?: boolean } }"),
      "src/b.ts": toolSource("B", "{ a: string }", '"done" | { ok: { a: string } }'),
    });
    project.build();
    ({ contracts } = (await project.load("src/generated/contracts.ts")) as { contracts: readonly Contract[] });
  });

  it("an optional member admits null and is not required; an optional array is a one", () => {
    const { inputSchema, input } = contracts[0] ?? assert.fail();
    const { properties, required } = JSON.parse(inputSchema) as {
      properties: Record<string, { type: unknown; required?: unknown; properties: Record<string, { type: unknown }> }>;
      required: unknown;
    };
    assert.deepEqual(properties.a?.type, ["string", "null"]);
    assert.deepEqual(properties.b?.type, ["array", "null"]);
    assert.equal(properties.c?.type, "array");
    assert.deepEqual(properties.d?.properties.e?.type, ["number", "null"]);
    assert.deepEqual(properties.d?.required, ["f"]);
    assert.deepEqual(required, ["c", "d"]);
    assert.deepEqual(
      input.map(({ name, many }) => (many ? `${name}[]` : name)),
      ["a", "b", "c[]", "d"],
    );
    proves("2.12");
  });

  it("a string literal is a const, and leaves as its tag without ports", () => {
    const contract = contracts[1] ?? assert.fail();
    const { oneOf } = JSON.parse(contract.outputSchema) as { oneOf: object[] };
    assert.deepEqual(oneOf[0], { const: "done" });
    const encoder = new OutputEncoder(contract);
    const result = encoder.encode("done");
    assert.deepEqual([result.tag, result.ports], ["done", []]);
    assert.equal(resultJson(result), '"done"');
    proves("2.15");
  });
});

describe("errEval", () => {
  it("fits every Output, annotated or inferred, where a text does not", () => {
    const tool = (name: string, output: string, body: string) =>
      toolSource(name, "{ a: string }", output).replace(/override async invoke\(.*$/m, () => body);
    const outputs = ['"done"', "{ ok: { a: number } }", '{ ok: { a: string } } | { err: {} } | "done"'];
    const files = Object.fromEntries(
      outputs.flatMap((output, i) => [
        [`src/a${i}.ts`, tool(`A${i}`, output, `override async invoke(): Promise<${output}> { return errEval("x"); }`)],
        [`src/i${i}.ts`, tool(`I${i}`, output, 'override async invoke() { return errEval("x"); }')],
        [`src/w${i}.ts`, tool(`W${i}`, output, 'override async invoke() { return "x"; }')],
      ]),
    );
    const project = new ToolProject(
      Object.fromEntries(
        Object.entries(files).map(([path, source]) => [path, source.replace("{ SvcTool,", "{ errEval, SvcTool,")]),
      ),
    );
    const complaints = project
      .generate()
      .diagnostics.filter(({ severity }) => severity === "error")
      .map(({ code, place }) => `${code.replace(/\d+/, "")} ${place?.file}`);
    assert.deepEqual(complaints.sort(), ["TS src/w0.ts", "TS src/w1.ts", "TS src/w2.ts"]);
    proves("2.16");
  });
});

describe("svc-gen", () => {
  it("writes meta.json without running the tool", () => {
    const marker = 'writeFileSync(new URL("ran", import.meta.url), "");';
    const source = toolSource(
      "Tool",
      "{ a: string }",
      '"done"',
      `import { writeFileSync } from "node:fs";\n${marker}\nif (1 < 2) throw new Error("run");`,
    );
    const project = new ToolProject({
      "src/tool.ts": source.replace("static override path() {", `static { ${marker} }\n static override path() {`),
      // Reading the declarations of node would take most of the time.
      "src/node.d.ts": `declare module "node:fs" { export function writeFileSync(path: unknown, text: string): void }
        declare class URL { constructor(path: string, base: string) }
        interface ImportMeta { url: string }`,
    });
    const [document] = JSON.parse(project.build()["meta.json"] ?? "") as [{ fqn: string; url: string }];
    assert.deepEqual([document.fqn, document.url], ["xyz.test.tool-tool@1", "http://localhost/Tool"]);
    for (const path of ["src/ran", "ran", "src/generated/ran"]) assert.ok(!existsSync(join(project.root, path)), path);
    proves("9.9");
  });

  it("cannot judge meta.json of a tool that overrides meta, until its author has read so", async () => {
    const source = toolSource("Tool", "{ a: string }").replace(
      "  static override path()",
      "  static override meta(url: string) { return { ...super.meta(url), more: 1 }; }\n  static override path()",
    );
    const project = new ToolProject({ "src/tool.ts": source });
    const said = project.generate().diagnostics.map(({ code, place, subject }) => {
      return `${code} ${place?.file}:${place?.line} ${subject}`;
    });
    assert.deepEqual(said, ["SVC121 src/tool.ts:6 Tool.meta()"]);
    project.build();
    const check = (...args: string[]) => svcGenIn(project.root, ["--check", ...args]);
    const { code, err } = await check();
    assert.equal(code, 1);
    assert.match(
      err,
      /warning SVC121: Tool\.meta\(\): meta\.json may differ from what the tool serves, because meta\(\) is overridden\n/,
    );
    assert.match(err, /register the output of `node dist\/generated\/server\.js --meta`/);
    project.write({ "src/tool.ts": source.replace("export class", "/** @acknowledge SVC121 */\nexport class") });
    project.build();
    assert.equal((await check()).code, 0);
    proves("9.9");
  });
});
