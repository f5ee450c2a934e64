/** `DataRef<T>`: where it may stand, what it makes of a port, and what the compiler takes for one. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type Diagnostic, formatDiagnostic } from "#generator/compile/diagnostics/diagnostics.js";
import { ts } from "#generator/compile/project/typescript.js";
import { readJson } from "#generator/text/json.js";
import { programOf } from "../typescript/program.js";
import { ToolProject, table, toolSource } from "./project.js";

const DECLARATIONS = `import type { DataRef, DataReference, NexusData } from "svc-runtime";
import type { StoredBlob } from "svc-runtime-storage";
/** A report. */
export interface Report { title: string; made?: Date }
/** One that is held. */
export type Held = DataRef<Report>;
export type ListOf<X> = DataRef<X[]>;
export enum Colour { Red = "red", Green = "green" }
`;

const REPORT =
  '{"kind":"object","members":[{"name":"title","codec":{"kind":"string"}},{"name":"made","optional":true,"codec":{"kind":"date"}}]}';
const HELD =
  '{"type":"object","properties":{"title":{"type":"string"},"made":{"type":["string","null"],"format":"date-time"}},"required":["title"],"description":"One that is held."}';
const REPORTED = HELD.replace("One that is held.", "A report.");

/** The type of the one output port `v`, its codec and schema, and what else the port has. */
const PORTS = table(`
DataRef<string> ;; {"kind":"string"} ;; {"type":"string"}
DataRef<string>[] ;; {"kind":"string"} ;; {"type":"array","items":{"type":"string"}} ;; {"many":true}
readonly DataRef<string>[] ;; {"kind":"string"} ;; {"type":"array","items":{"type":"string"}} ;; {"many":true}
DataRef<string[]> ;; {"kind":"array","item":{"kind":"string"}} ;; {"type":["array"],"items":{"type":"string"}}
ListOf<bigint> ;; {"kind":"array","item":{"kind":"bigint"}} ;; {"type":["array"],"items":{"type":"integer"}}
DataRef<[string, Date]> ;; {"kind":"tuple","items":[{"kind":"string"},{"kind":"date"}]} ;; {"type":["array"],"prefixItems":[{"type":"string"},{"type":"string","format":"date-time"}],"items":false,"minItems":2,"maxItems":2}
DataRef<Report> ;; ${REPORT} ;; ${REPORTED}
DataReference<Report> ;; ${REPORT} ;; ${REPORTED}
Held ;; ${REPORT} ;; ${HELD}
Held[] ;; ${REPORT} ;; {"type":"array","items":${HELD}} ;; {"many":true}
DataRef<string> | undefined ;; {"kind":"string"} ;; {"type":["string","null"]} ;; {"optional":true}
DataRef<boolean> ;; {"kind":"boolean"} ;; {"type":"boolean"}
DataRef<"b" | "a" | null> ;; {"kind":"literal","values":["b","a",null]} ;; {"type":["string","null"],"enum":["b","a",null]}
DataRef<Colour> ;; {"kind":"literal","values":["red","green"]} ;; {"type":"string","enum":["red","green"]}
DataRef<string | number[]> ;; {"kind":"union","branches":[{"kind":"string"},{"kind":"array","item":{"kind":"number"}}]} ;; {"anyOf":[{"type":"string"},{"type":"array","items":{"type":"number"}}]}
DataRef<unknown> ;; {"kind":"json"} ;; {}
DataRef<any>[] ;; {"kind":"json"} ;; {"type":"array","items":{}} ;; {"many":true}
`);

describe("a port of DataRef", () => {
  const project = new ToolProject(
    Object.fromEntries(
      PORTS.map(([type], i) => [
        `src/t${String(i).padStart(2, "0")}.ts`,
        toolSource(`T${String(i).padStart(2, "0")}`, "{ a: string }", `{ ok: { v: ${type} } }`, DECLARATIONS),
      ]),
    ),
  );
  const { diagnostics, files } = project.generate();
  project.write(Object.fromEntries(files.map(({ path, text }) => [path, text])));
  const contracts = project.contracts();

  it("is accepted with no diagnostics except notes about lists, any and bigint", () => {
    const said = diagnostics.map(({ code, place }) => `${code} ${place?.file}`);
    const notes = PORTS.flatMap(([type, , , more = ""], i) => {
      const codes = [
        ...(/\bany\b/.test(type) ? ["SVC190"] : []),
        ...(more.includes("many") ? ["SVC155"] : []),
        ...(/bigint/.test(type) ? ["SVC158"] : []),
      ];
      return codes.map((code) => `${code} src/t${String(i).padStart(2, "0")}.ts`);
    });
    assert.deepEqual(said, notes);
  });

  for (const [i, [type, codec, schema, more = "{}"]] of PORTS.entries()) {
    it(type, async () => {
      const { output, outputSchema } = (await contracts)[i] ?? assert.fail();
      assert.deepEqual(output[0]?.ports, [
        { name: "v", many: false, held: true, codec: JSON.parse(codec), ...JSON.parse(more) },
      ]);
      const text = `"properties":{"v":${schema}}`;
      assert.ok(outputSchema.includes(text), `expected ${text} in ${outputSchema}`);
      readJson(outputSchema);
    });
  }
});

describe("places where it is not allowed", () => {
  const port = "this is not an output port";
  const input = "the tool receives the data, not a reference: declare the type of the data";
  const beside = "it is in a union with another type: write DataRef<A | B>";
  const stored = "does not state the type of the data: write DataRef<T>";
  /** Input, Output, the member and what is said of it. */
  const cases = table(`
{ a: DataRef<string> } ;; "done" ;; Input.a ;; ${input}
{ a?: Held } ;; "done" ;; Input.a ;; ${input}
{ a: DataRef<unknown> } ;; "done" ;; Input.a ;; ${input}
{ a: { b: DataRef<string>[] } } ;; "done" ;; Input.a.b[] ;; ${input}
{} ;; { ok: { a: { b: DataRef<string> } } } ;; Output.ok.a.b ;; ${port}
{} ;; { ok: { a: { b?: DataRef<string> } } } ;; Output.ok.a.b ;; ${port}
{} ;; { ok: { a: { b: DataRef<any> } } } ;; Output.ok.a.b ;; ${port}
{} ;; { ok: { a: [DataRef<string>] } } ;; Output.ok.a[0] ;; ${port}
{} ;; { ok: { a: DataRef<string>[][] } } ;; Output.ok.a[][] ;; ${port}
{} ;; { ok: { a: Record<string, Held> } } ;; Output.ok.a{} ;; ${port}
{} ;; { ok: { a: DataRef<{ b: DataRef<string> }> } } ;; Output.ok.a.b ;; ${port}
{} ;; { ok: DataRef<Report> } ;; Output.ok ;; ${port}
{} ;; DataRef<{ ok: {} }> ;; Output ;; ${port}
{} ;; { ok: { a?: DataRef<string>[] } } ;; Output.ok.a ;; an optional list is sent as one value: write DataRef<T[]>, or remove the question mark
{} ;; { ok: { a: DataRef<string> | number } } ;; Output.ok.a ;; ${beside}
{} ;; { ok: { a: DataRef<string> | null } } ;; Output.ok.a ;; ${beside}
{} ;; { ok: { a: DataRef<string> | DataRef<number> } } ;; Output.ok.a ;; ${beside}
{} ;; { ok: { a: DataRef<DataRef<string>> } } ;; Output.ok.a ;; ${beside}
{} ;; { ok: { a: (DataRef<string> | number)[] } } ;; Output.ok.a[] ;; ${beside}
{} ;; { ok: { a: StoredBlob<Report> } } ;; Output.ok.a ;; StoredBlob<Report> ${stored}
{} ;; { ok: { a: NexusData } } ;; Output.ok.a ;; NexusData ${stored}
`);
  const project = new ToolProject(
    Object.fromEntries(
      cases.map(([given, output], i) => [`src/t${i}.ts`, toolSource(`T${i}`, given, output, DECLARATIONS)]),
    ),
  );
  const { diagnostics, files } = project.generate();

  it("nothing is written", () => assert.deepEqual(files, []));

  for (const [i, [given, output, subject, detail]] of cases.entries()) {
    it(`${given} -> ${output}`, () => {
      const own = diagnostics.filter((each) => each.place?.file === `src/t${i}.ts` && each.severity === "error");
      const said = own.map((each) => `${each.code} ${each.subject}: ${each.message}`);
      assert.deepEqual(said, [`SVC168 T${i}.${subject}: a DataRef is not allowed here: ${detail}`]);
      assert.match(
        formatDiagnostic(own[0] as Diagnostic),
        /hint: use DataRef as the type of an output port \(report: DataRef<T>\)/,
      );
    });
  }

  it("never: no value is possible", () => {
    const empty = new ToolProject({
      "src/a.ts": toolSource("Aa", "{}", "{ ok: { a: DataRef<never> } }", DECLARATIONS),
    });
    const said = empty.generate().diagnostics.map(({ code, subject }) => `${code} ${subject}`);
    assert.deepEqual(said, ["SVC137 Aa.Output.ok.a"]);
  });
});

describe("what the compiler accepts", () => {
  const tool = `${DECLARATIONS}
import { NexusValue, portJson, StatusCode, SvcTool } from "svc-runtime";
import type { WalrusStorage } from "svc-runtime-storage";
export type Output = { ok: { summary: string; report: Held; parts: DataRef<string>[]; maybe?: Held } } | "none";
export declare class Tool extends SvcTool<{ a: string }, Output> {
  invoke(): Promise<Output>;
  health(): StatusCode;
}
declare const storage: WalrusStorage;
declare const report: Report;
declare const data: NexusData;
const bytes = new Uint8Array(1);
`;
  const accepted = [
    "const x: Held = report;",
    "const x: Held = { title: 'x' };",
    "const x: Held = await storage.uploadJson(report);",
    "const x: Held = await storage.upload<Report>(bytes);",
    "const x: Held = await storage.upload(portJson(Tool, 'ok', 'report', report));",
    "const x: Held = data;",
    "const x: Held = NexusValue.json('{}');",
    "const x: Held = NexusValue.walrus('', bytes);",
    "const x: Output = { ok: { summary: '', report, parts: ['x', await storage.uploadJson('y'), data] } };",
    "const x: StoredBlob<string> = await storage.upload(portJson(Tool, 'ok', 'parts', 'one item'));",
    "const x: StoredBlob<Report> = await storage.upload(portJson(Tool, 'ok', 'maybe', report));",
    "const x: Uint8Array = portJson(Tool, 'ok', 'summary', 'x');",
  ];
  const refused = [
    "const x: Held = 'x';",
    "const x: Held = {};",
    "const x: Held = { title: 1 };",
    "const x: Held = NexusValue.object('1');",
    "const wrong = await storage.uploadJson('x'); const x: Held = wrong;",
    "const untold = await storage.upload(bytes); const x: Held = untold;",
    "const parts = await storage.upload(portJson(Tool, 'ok', 'parts', 'x')); const x: Held = parts;",
    "const x: Output = { ok: { summary: await storage.uploadJson('x'), report, parts: [] } };",
    "portJson(Tool, 'ok', 'report', 'x');",
    "portJson(Tool, 'ok', 'parts', ['x']);",
    "portJson(Tool, 'ok', 'other', 'x');",
    "portJson(Tool, 'none', 'report', report);",
  ];
  const lines = [...accepted, ...refused];
  const project = new ToolProject({
    ...Object.fromEntries(lines.map((line, i) => [`src/c${i}.ts`, `${tool}${line}\nexport {};\n`])),
  });
  const config = ts.readConfigFile(join(project.root, "tsconfig.json"), ts.sys.readFile);
  const { options, fileNames } = ts.parseJsonConfigFileContent(config.config, ts.sys, project.root);
  const program = programOf(fileNames, { ...options, noEmit: true });

  for (const [i, line] of lines.entries()) {
    it(`${i < accepted.length ? "" : "not: "}${line}`, () => {
      const file = program.getSourceFile(join(project.root, `src/c${i}.ts`));
      assert.ok(file);
      const said = program.getSemanticDiagnostics(file);
      const text = said.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")).join("\n");
      assert.equal(said.length > 0, i >= accepted.length, text);
      // What is refused is the line itself.
      const body = tool.length;
      for (const { start = 0 } of said) assert.ok(start >= body, text);
    });
  }
});
