/** The recorded schema texts through the port derivation: ports in order, cardinality, BCS, refusals. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readJson } from "#generator/json.js";
import { type DerivedPorts, derivePorts, PortRefusal, schemaSize } from "#generator/types/ports.js";
import { encodeMetaSchema } from "#runtime/wire/bcs.js";

interface Case {
  readonly name: string;
  readonly input_schema: string;
  readonly output_schema: string;
  readonly expect:
    | { readonly ok: false }
    | {
        readonly ok: true;
        readonly bcs: string;
        readonly meta_schema: {
          readonly input_ports: readonly RecordedPort[];
          readonly output_variants: readonly {
            readonly variant_name: string;
            readonly ports: readonly RecordedPort[];
          }[];
        };
      };
}
interface RecordedPort {
  readonly port_name: string;
  readonly cardinality: "one" | "many";
}

const recorded = JSON.parse(readFileSync(new URL("../vectors/schema.json", import.meta.url), "utf8")) as {
  cases: readonly Case[];
};

const derive = (inputSchema: string, outputSchema: string) =>
  derivePorts(readJson(inputSchema), readJson(outputSchema));

for (const each of recorded.cases) {
  test(`schema vector: ${each.name}`, () => {
    if (!each.expect.ok) {
      assert.throws(() => derive(each.input_schema, each.output_schema), PortRefusal);
      return;
    }
    const ports = (list: readonly RecordedPort[]) =>
      list.map(({ port_name, cardinality }) => ({ name: port_name, many: cardinality === "many" }));
    const { meta_schema, bcs } = each.expect;
    const derived = derive(each.input_schema, each.output_schema);
    assert.deepEqual(derived, {
      inputPorts: ports(meta_schema.input_ports),
      outputVariants: meta_schema.output_variants.map(({ variant_name, ports: list }) => ({
        name: variant_name,
        ports: ports(list),
      })),
    } satisfies DerivedPorts);
    assert.equal(Buffer.from(encodeMetaSchema(derived)).toString("hex"), bcs);
    assert.equal(schemaSize(derived), bcs.length / 2);
  });
}

test("one hop of $ref is followed, never two, and only within the document", () => {
  const output = '{"oneOf":[{"const":"done"}]}';
  const input = (port: string, more = "") =>
    `{"properties":{"x":${port}},"$defs":{"A":{"type":"array"},"B":{"$ref":"#/$defs/A"}${more}}}`;
  const many = (schema: string) => derive(schema, output).inputPorts[0]?.many;
  assert.equal(many(input('{"$ref":"#/$defs/A"}')), true);
  assert.equal(many(input('{"$ref":"#/%24defs/A","type":"string"}')), true);
  assert.equal(many(input('{"$ref":"#/$defs/B"}')), false);
  for (const ref of ["other.json#/A", "#/$defs/C", "#A", "#/%zz"]) {
    assert.throws(() => many(input(`{"$ref":${JSON.stringify(ref)}}`)), PortRefusal, ref);
  }
});

test("a $ref is a JSON pointer: escapes, indexes of lists without zeros before them, no steps into a text", () => {
  const many = (ref: string) => {
    const defs = '{"a/b":{"type":"array"},"a~c":{"type":"array"},"~1":{"type":"array"},"":{"type":"array"}}';
    const input = `{"title":"0","anyOf":[true,{"type":"array"}],"properties":{"x":{"$ref":"${ref}"}},"$defs":${defs}}`;
    return derive(input, '{"oneOf":[{"const":"done"}]}').inputPorts[0]?.many;
  };
  for (const ref of ["#/anyOf/1", "#/$defs/a~1b", "#/$defs/a~0c", "#/$defs/~01", "#/$defs/"]) assert.ok(many(ref), ref);
  for (const ref of ["#", "#/anyOf/0", "#/title"]) assert.equal(many(ref), false, ref);
  for (const ref of ["#/anyOf/01", "#/anyOf/2", "#/anyOf/-", "#/anyOf/length", "#/title/0", "#/title/length", "#/"]) {
    assert.throws(() => many(ref), PortRefusal, ref);
  }
});

test("the size of a port schema is that of its BCS, with names of one and of two bytes of length", () => {
  for (const length of [1, 127, 128]) {
    const name = "n".repeat(length);
    const variant = `{"properties":{"${name}":{"properties":{"${name}":{}}}}}`;
    const derived = derive(`{"properties":{"${name}":{}}}`, `{"oneOf":[${variant}]}`);
    assert.equal(schemaSize(derived), encodeMetaSchema(derived).length, `${length}`);
  }
});

test("a repeated member keeps its first place and its last value", () => {
  const input = '{"properties":{"a":{"type":"array"},"b":{},"a":{"type":"string"}}}';
  assert.deepEqual(derive(input, '{"oneOf":[{"enum":["done"]}]}').inputPorts, [
    { name: "a", many: false },
    { name: "b", many: false },
  ]);
});
