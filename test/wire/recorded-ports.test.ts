/** The recorded schema texts through the port derivation: ports in order, cardinality, BCS, refusals. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { MetaSchema } from "#client/wire/bcs/bcs-shapes.js";
import { derivePorts, PortError } from "#client/wire/codec/ports.js";
import { readVectors } from "../vectors/read.js";
import { encodeMetaSchema } from "./declared-bcs.js";

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

const recorded = readVectors<{ cases: readonly Case[] }>("schema.json");

for (const each of recorded.cases) {
  test(`schema vector: ${each.name}`, () => {
    if (!each.expect.ok) {
      assert.throws(() => derivePorts(each.input_schema, each.output_schema), PortError);
      return;
    }
    const ports = (list: readonly RecordedPort[]) =>
      list.map(({ port_name, cardinality }) => ({ name: port_name, many: cardinality === "many" }));
    const { meta_schema, bcs } = each.expect;
    const derived = derivePorts(each.input_schema, each.output_schema);
    assert.deepEqual(derived, {
      inputPorts: ports(meta_schema.input_ports),
      outputVariants: meta_schema.output_variants.map(({ variant_name, ports: list }) => ({
        name: variant_name,
        ports: ports(list),
      })),
    } satisfies MetaSchema);
    assert.equal(Buffer.from(encodeMetaSchema(derived)).toString("hex"), bcs);
  });
}

test("a $ref is a JSON pointer: escapes, indexes of lists without zeros before them, no steps into a text", () => {
  const many = (ref: string) => {
    const defs = '{"a/b":{"type":"array"},"a~c":{"type":"array"},"~1":{"type":"array"},"":{"type":"array"}}';
    const input = `{"title":"0","anyOf":[true,{"type":"array"}],"properties":{"x":{"$ref":"${ref}"}},"$defs":${defs}}`;
    return derivePorts(input, '{"oneOf":[{"const":"done"}]}').inputPorts[0]?.many;
  };
  for (const ref of ["#/anyOf/1", "#/$defs/a~1b", "#/$defs/a~0c", "#/$defs/~01", "#/$defs/"]) assert.ok(many(ref), ref);
  for (const ref of ["#", "#/anyOf/0", "#/title"]) assert.equal(many(ref), false, ref);
  for (const ref of ["#/anyOf/01", "#/anyOf/2", "#/anyOf/-", "#/anyOf/length", "#/title/0", "#/title/length", "#/"]) {
    assert.throws(() => many(ref), PortError, ref);
  }
});
