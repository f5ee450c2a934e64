import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { derivePorts, isPortName, PortError } from "#client/wire/codec/ports.js";
import { proves, provesRow } from "../proves.js";
import { encodeMetaSchema } from "./declared-bcs.js";

const variant = (name: string, ports = "{}") =>
  `{"type":"object","properties":{${JSON.stringify(name)}:{"type":"object","properties":${ports}}}}`;
const output = (...variants: string[]) => `{"oneOf":[${variants.join(",")}]}`;
const OK = output(variant("ok"));
const INPUT = '{"properties":{"a":{}}}';
const properties = (count: number) => `{${Array.from({ length: count }, (_, i) => `"p${i}":{}`).join(",")}}`;

const inputs = (schema: string) =>
  derivePorts(schema, OK).inputPorts.map(({ name, many }) => `${name}${many ? "[]" : ""}`);
const outputs = (schema: string) =>
  derivePorts(INPUT, schema).outputVariants.map(
    ({ name, ports }) => `${name}(${ports.map((port) => `${port.name}${port.many ? "[]" : ""}`)})`,
  );

describe("ports", () => {
  it("have the textual order, even for integer-like names; a repeated one has its first position and last value", () => {
    assert.deepEqual(
      inputs(
        '{"properties":{"10":{},"b":{"type":"string"},"2":{"type":"array"},"__proto__":{},"b":{"type":"array"},"1":{}}}',
      ),
      ["10", "b[]", "2[]", "__proto__", "1"],
    );
    assert.deepEqual(outputs(output(variant("ok", '{"9":{},"1":{"type":"array"}}'))), ["ok(9,1[])"]);
    proves("2.1", "2.6");
  });

  it("are `many` ports only for exactly the type array", () => {
    assert.deepEqual(
      inputs(
        '{"properties":{"a":{"type":"array"},"b":{"type":["array","null"]},"c":{"anyOf":[{"type":"array"}]},"d":{"items":{}},"e":true,"f":{"$ref":"#/definitions/x"}},"definitions":{"x":{"type":"array"}}}',
      ),
      ["a[]", "b", "c", "d", "e", "f[]"],
    );
    proves("2.2");
  });

  it("are those of the $ref alone, whatever stands beside it", () => {
    const defs =
      '"$defs":{"list":{"type":"array"},"text":{"type":"string"},"payload":{"properties":{"p":{"$ref":"#/$defs/list","type":"object"},"q":{"$ref":"#/$defs/text","type":"array"}}},"far":{"properties":{"far":{"$ref":"#/$defs/payload","properties":{"other":{}}}}}}';
    assert.deepEqual(
      inputs(
        `{"properties":{"a":{"$ref":"#/$defs/list","type":"object"},"b":{"type":"array","$ref":"#/$defs/text"},"c":{"$ref":"#/$defs/list"}},${defs}}`,
      ),
      ["a[]", "b", "c[]"],
    );
    assert.deepEqual(outputs(`{"oneOf":[{"$ref":"#/$defs/far","const":"near","properties":{"near":{}}}],${defs}}`), [
      "far(p[],q)",
    ]);
    proves("2.4");
  });

  for (const [what, make] of [
    ["32 input ports", (count: number) => derivePorts(`{"properties":${properties(count)}}`, OK).inputPorts.length],
    [
      "8 variants",
      (count: number) =>
        derivePorts(INPUT, output(...Array.from({ length: count }, (_, i) => variant(`v${i}`)))).outputVariants.length,
    ],
    [
      "16 ports of a variant",
      (count: number) => derivePorts(INPUT, output(variant("ok", properties(count)))).outputVariants[0]?.ports.length,
    ],
    [
      "128 bytes in a port name",
      (count: number) => derivePorts(`{"properties":{"${"n".repeat(count)}":{}}}`, OK).inputPorts[0]?.name.length,
    ],
    [
      "128 bytes in a variant name",
      (count: number) => derivePorts(INPUT, output(variant("v".repeat(count)))).outputVariants[0]?.name.length,
    ],
  ] as const) {
    it(`at most ${what}`, () => {
      const limit = Number.parseInt(what, 10);
      assert.equal(make(limit), limit);
      assert.throws(() => make(limit + 1), PortError);
      provesRow(what, {
        "1.6": ["32 input ports"],
        "1.7": ["8 variants", "16 ports of a variant"],
        "1.8": ["128 bytes in a port name", "128 bytes in a variant name"],
      });
    });
  }

  it("have names of 1 to 128 ASCII bytes", () => {
    for (const name of ["a", "\u0000", "\u007f", " ", "x".repeat(128)]) assert.ok(isPortName(name));
    for (const name of ["", "é", "\u0080", "x".repeat(129)]) assert.ok(!isPortName(name));
    assert.throws(() => inputs('{"properties":{"":{}}}'), PortError);
    assert.throws(() => outputs(output(variant("é"))), PortError);
    proves("1.8");
  });

  it("cannot exceed the limit of the whole schema without exceeding another limit", () => {
    const name = (i: number) => `${"n".repeat(125)}${String(i).padStart(3, "0")}`;
    const many = (count: number) =>
      `{${Array.from({ length: count }, (_, i) => `"${name(i)}":{"type":"array"}`).join(",")}}`;
    const schema = derivePorts(
      `{"properties":${many(32)}}`,
      output(...Array.from({ length: 8 }, (_, i) => variant(name(i), many(16)))),
    );
    assert.ok(encodeMetaSchema(schema).length <= 65_536);
    proves("1.9");
  });
});

describe("variants", () => {
  it("are objects with one property, constants and one-element enums", () => {
    assert.deepEqual(
      outputs(
        output(
          variant("ok"),
          '{"const":"done"}',
          '{"enum":["gone"]}',
          '{"properties":{"bare":{}}}',
          '{"$ref":"#/d"}',
        ).replace(/}$/, `,"d":${variant("far")}}`),
      ),
      [...["ok()", "done()", "gone()", "bare()", "far()"]],
    );
    proves("2.5");
  });
  for (const [what, schema] of [
    ["no oneOf", '{"anyOf":[]}'],
    ["none", output()],
    ["two properties", output('{"properties":{"a":{},"b":{}}}')],
    ["no property", output('{"properties":{}}')],
    ["an enum of two", output('{"enum":["a","b"]}')],
    ["a constant that is no text", output('{"const":1}')],
    ["one name twice", output(variant("ok"), '{"const":"ok"}')],
    ["the reserved name", output(variant("_err_eval"))],
  ] as const) {
    it(`are refused: ${what}`, () => {
      assert.throws(() => outputs(schema), PortError);
      provesRow(what, {
        "1.7": ["none"],
        "2.5": ["no oneOf", "two properties", "no property", "an enum of two", "a constant that is no text"],
        "2.16": ["the reserved name"],
      });
    });
  }
});

it("a $ref is a JSON pointer: escapes, indexes of lists without zeros before them, no steps into a text", () => {
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
