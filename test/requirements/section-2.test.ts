/** Ports as a leader derives them and as svc-gen emits them (protocol.md section 2). */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LeaderClient, LeaderError } from "#runtime/leader.js";
import type { Contract } from "#runtime/wire/contract.js";
import { OutputEncoder, resultJson } from "#runtime/wire/output.js";
import { ToolProject, toolSource } from "../generator/project.js";
import { proves } from "../proves.js";

const OK = '{"oneOf":[{"properties":{"ok":{"properties":{}}}}]}';

/** The ports of a metadata document with these schemas, in short. */
function portsOf(inputSchema: string, outputSchema = OK): { input: string[]; output: string[] } {
  const facts = '"fqn":"xyz.test.ports@1","url":"http://localhost/","timeout":1000,"description":"d"';
  const { ports } = LeaderClient.fromMetadata(
    `{${facts},"input_schema":${inputSchema},"output_schema":${outputSchema}}`,
  );
  const short = ({ name, many }: { name: string; many: boolean }) => (many ? `${name}[]` : name);
  return {
    input: ports.inputPorts.map(short),
    output: ports.outputVariants.map(({ name, ports }) => `${name}(${ports.map(short)})`),
  };
}

const refused = (run: () => unknown) =>
  assert.throws(run, (error) => error instanceof LeaderError && error.code === "invalid_metadata");

describe("derived ports", () => {
  it("type and required of the containing object are not looked at", () => {
    for (const around of [
      "",
      '"type":"object",',
      '"type":"string",',
      '"required":[],',
      '"type":[],"required":["none"],',
    ]) {
      const schema = `{${around}"properties":{"b":{"type":"array"},"a":{}}}`;
      assert.deepEqual(portsOf(schema).input, ["b[]", "a"], around);
      const variant = `{${around}"properties":{"ok":${schema}}}`;
      assert.deepEqual(portsOf('{"properties":{}}', `{"oneOf":[${variant}]}`).output, ["ok(b[],a)"], around);
    }
    proves("2.1");
  });

  it("an input schema without properties is refused, an empty one has no ports", () => {
    refused(() => portsOf('{"type":"object"}'));
    refused(() => portsOf("true"));
    assert.deepEqual(portsOf('{"properties":{}}').input, []);
    proves("2.1");
  });

  it("one hop is followed at root, port, variant and payload, no second one", () => {
    const list = '"list":{"type":"array"}';
    const payload = `"payload":{"properties":{"x":{"$ref":"#/$defs/list"}}}`;
    const again = '"again":{"$ref":"#/$defs/payload"}';
    const output = (ref: string) =>
      `{"oneOf":[{"$ref":"#/$defs/variant"}],"$defs":{"variant":{"properties":{"ok":{"$ref":"#/$defs/${ref}"}}},${list},${payload},${again}}}`;
    assert.deepEqual(portsOf('{"properties":{}}', output("payload")).output, ["ok(x[])"]);
    assert.deepEqual(portsOf('{"properties":{}}', output("again")).output, ["ok()"], "a payload without properties");
    const root = (ref: string) => `{"$ref":"#/$defs/${ref}","$defs":{${payload},${again},${list}}}`;
    assert.deepEqual(portsOf(root("payload")).input, ["x[]"]);
    refused(() => portsOf(root("again")));
    for (const outside of ["other.json", "http://localhost/x", "#/$defs/none", "#list"]) {
      refused(() => portsOf('{"properties":{}}', `{"oneOf":[{"$ref":${JSON.stringify(outside)}}]}`));
      refused(() => portsOf(`{"properties":{"x":{"$ref":${JSON.stringify(outside)}}}}`));
    }
    proves("2.4");
  });
});

/** The contract that svc-gen emits for one tool. */
async function emitted(input: string, output: string): Promise<Contract> {
  const project = new ToolProject({ "src/tool.ts": toolSource("Tool", input, output) });
  try {
    project.build();
    const { contracts } = (await project.load("src/generated/contracts.ts")) as { contracts: [Contract] };
    return contracts[0];
  } finally {
    project.remove();
  }
}

describe("emitted schemas", () => {
  it("an optional member admits null and is not required; an optional array is a one", async () => {
    const { inputSchema, input } = await emitted(
      "{ a?: string; b?: string[]; c: string[]; d: { e?: number; f: number } }",
      "{ ok: { g?: boolean } }",
    );
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

  it("a string literal is a const, and leaves as its tag without ports", async () => {
    const contract = await emitted("{ a: string }", '"done" | { ok: { a: string } }');
    const { oneOf } = JSON.parse(contract.outputSchema) as { oneOf: object[] };
    assert.deepEqual(oneOf[0], { const: "done" });
    const encoder = new OutputEncoder(contract);
    const result = encoder.encode("done");
    assert.deepEqual([result.tag, result.ports], ["done", []]);
    assert.equal(resultJson(result), '{"done":{}}');
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
    try {
      const complaints = project
        .generate()
        .diagnostics.filter(({ severity }) => severity === "error")
        .map(({ code, place }) => `${code.replace(/\d+/, "")} ${place?.file}`);
      assert.deepEqual(complaints.sort(), ["TS src/w0.ts", "TS src/w1.ts", "TS src/w2.ts"]);
    } finally {
      project.remove();
    }
    proves("2.16");
  });
});
