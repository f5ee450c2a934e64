/** WithSerdeErrorPath in the types of a tool: transparent in schemas and on the wire, an instance in the tool. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { OutputReader } from "#client/leader/result/output-reader.js";
import type { Codec } from "#client/wire/codec/contract.js";
import { WireFault, WithSerdeErrorPath } from "#runtime/index.js";
import { InputDecoder } from "#runtime/server/wire/input.js";
import { OutputEncoder, resultJson } from "#runtime/server/wire/output.js";
import type { Contract } from "#runtime/v1.js";
import { ToolProject, toolSource } from "./project.js";

/** A tool whose input and result have these members; `W<T>` is the wrapper, or T itself. */
const source = (wrapper: string) =>
  toolSource(
    "Wrap",
    "Members",
    "{ ok: Members }",
    `${wrapper}
interface Members {
  /**
   * How often.
   *
   * @format int64
   * @maximum 9007199254740995
   */
  count: W<bigint>;
  list: W<string[]>;
  deep?: W<Node>;
  either: W<Date> | number;
  many: W<Uint8Array>[];
}
interface Node { name: string; next?: W<Node> }`,
  );

const contractOf = async (wrapper: string): Promise<Contract> => {
  const project = new ToolProject({ "src/wrap.ts": source(wrapper) });
  project.build();
  const [contract] = await project.contracts();
  return contract ?? assert.fail("no contract");
};

const plain = await contractOf("type W<T> = T;");
const contract = await contractOf(
  'import { WithSerdeErrorPath } from "svc-runtime";\ntype W<T> = WithSerdeErrorPath<T>;',
);

const TEXT =
  '{"count":9007199254740993,"list":["a"],"deep":{"name":"x","next":{"name":"y","next":null}},"either":"2024-02-29T12:34:56.789Z","many":["AAH/",""]}';
const wrap = WithSerdeErrorPath.of;
const VALUE = {
  count: wrap(9007199254740993n),
  list: wrap(["a"]),
  deep: wrap({ name: "x", next: wrap({ name: "y" }) }),
  either: wrap(new Date("2024-02-29T12:34:56.789Z")),
  many: [wrap(Uint8Array.of(0, 1, 255)), wrap(new Uint8Array())],
};

test("the schemas are those of the values, a list in a wrapper is one value", () => {
  const whole = '"list":{"type":["array"],"items":{"type":"string"}}';
  assert.ok(contract.inputSchema.includes(whole), contract.inputSchema);
  const asList = contract.inputSchema.replace(whole, '"list":{"type":"array","items":{"type":"string"}}');
  assert.equal(asList, plain.inputSchema);
  assert.deepEqual(
    contract.input.map(({ name, many }) => `${name} ${many}`),
    ["count false", "list false", "deep false", "either false", "many true"],
  );
});

test("the tool gets instances, and its result with instances has the text of the values", () => {
  const input = new InputDecoder(contract).decodeUnsigned(Buffer.from(TEXT));
  assert.deepEqual(input, VALUE);
  for (const value of [input.count, input.list, input.deep, input.either])
    assert.ok(value instanceof WithSerdeErrorPath);
  assert.equal(resultJson(new OutputEncoder(contract).encode({ ok: VALUE })), `{"ok":${TEXT}}`);
});

test("wrapped objects in a union are distinguished by their values", () => {
  const object = (kind: string): Codec => ({
    kind: "wrapped",
    item: { kind: "object", members: [{ name: "kind", codec: { kind: "literal", values: [kind] } }] },
  });
  for (const branches of [
    [object("a"), object("b")],
    [object("a"), { kind: "ref", name: "B" }, { kind: "null" }],
  ] as readonly Codec[][]) {
    const codec: Codec = { kind: "union", branches };
    const definitions = [["B", object("b")]] as const;
    for (const kind of ["a", "b"]) {
      const wrapped: WithSerdeErrorPath<unknown> = WithSerdeErrorPath.fromJson(
        codec,
        Buffer.from(`{"kind":"${kind}"}`),
        definitions,
      );
      assert.deepEqual(wrapped.value, wrap({ kind }));
      assert.equal(wrapped.toJson(codec, definitions), `{"kind":"${kind}"}`);
    }
  }
});

test("a client with the contract gets instances", () => {
  const { tag, ports } = new OutputEncoder(contract).encode({ ok: VALUE });
  const inline = ports.map((port) => ({ ...port, values: port.values.filter((value) => value.kind === "inline") }));
  assert.deepEqual(new OutputReader(contract).read({ tag, ports: inline }), VALUE);
});

test("constraints and paths are those of the value", () => {
  const refused = (from: string, to: string, details: string) => {
    const body = Buffer.from(TEXT.replace(from, to));
    const fault = new WireFault("input_deserialization_error", details);
    assert.throws(() => new InputDecoder(contract).decodeUnsigned(body), fault);
  };
  refused(
    "9007199254740993",
    "9007199254740996",
    "count: expected an integer of at most 9007199254740995, got a larger one",
  );
  refused('"y"', "1", "deep.next.name: expected a string, got a number");
  const bare = { ok: { ...VALUE, count: 1n } };
  const fault = new WireFault("output_serialization_error", "ok.count: expected a WithSerdeErrorPath, got an integer");
  assert.throws(() => new OutputEncoder(contract).encode(bare), fault);
});

test("JSON.stringify writes the value", () => {
  assert.equal(JSON.stringify({ deep: wrap({ a: wrap([1]) }) }), '{"deep":{"a":[1]}}');
});
