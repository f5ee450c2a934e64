/** Ports as a leader derives them (protocol.md section 2). */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LeaderClient, LeaderError } from "#runtime/leader.js";
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
