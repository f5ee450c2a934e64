/** The comparison of two `meta.json`, change by change, without a project. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { diffDocuments, formatDifferences, isBroken, listDifferences } from "#generator/contract/diff.js";
import { UnreadableMetadata } from "#generator/contract/metadata.js";

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

const STRING = { type: "string" };
const LIST = { type: "array", items: STRING };

/** A tool with input ports a and b, and the variants `ok` with ports x and y, and `no`. */
function tool(change: { [name: string]: Json } = {}, ok: { [name: string]: Json } = { x: STRING, y: STRING }): Json {
  return {
    fqn: "xyz.test.one@1",
    description: "One.",
    timeout: 1000,
    url: "/one",
    input_schema: { properties: { a: STRING, b: STRING } },
    output_schema: { oneOf: [{ properties: { ok: { properties: ok } } }, { properties: { no: { properties: {} } } }] },
    ...change,
  };
}

const inputs = (properties: { [name: string]: Json }) => tool({ input_schema: { properties } });
const diff = (before: Json, after: Json) =>
  diffDocuments({ name: "old.json", text: JSON.stringify(before) }, { name: "new.json", text: JSON.stringify(after) });
/** The verdict on one tool, and its changes as a person reads them. */
function changes(before: Json, after: Json): string[] {
  const [head = "", ...lines] = formatDifferences(diff(before, after)).trimEnd().split("\n");
  return [head.slice(head.lastIndexOf(" ") + 1), ...lines.map((line) => line.trim())];
}

/** Pointers of the input a, and of the ports of the variant ok. */
const A = "/input_schema/properties/a";
const OK = "/output_schema/oneOf/0/properties/ok/properties";

/** The verdicts when a port's type changes: as an input, and as a result. */
function verdicts(before: Json, after: Json, definitions: readonly [Json, Json] = [{}, {}]): [string, string] {
  const asInput = (type: Json, $defs: Json) =>
    tool({ input_schema: { properties: { a: type }, required: ["a"], $defs } });
  const asResult = (type: Json, $defs: Json) =>
    tool({ output_schema: { oneOf: [{ properties: { ok: { properties: { a: type }, required: ["a"] } } }], $defs } });
  const [old, next] = definitions;
  const verdict = (make: typeof asInput) => diff(make(before, old), make(after, next))[0]?.verdict ?? "";
  return [verdict(asInput), verdict(asResult)];
}

const NUMBER = { type: "number" };
const NULL = { type: "null" };
const ref = (name: string): Json => ({ $ref: `#/$defs/${name}` });
const any = (...anyOf: Json[]): Json => ({ anyOf });
const REFERENCE = ref("Point");
const record = (properties: { [name: string]: Json }, required = Object.keys(properties)): Json => ({
  type: "object",
  properties,
  required,
});
const closed = (properties: { [name: string]: Json }): Json => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const tagged = (kind: string, more: { [name: string]: Json } = {}) => record({ kind: { const: kind }, ...more });
const nullable = (type: Json): Json => ({ anyOf: [type, NULL] });
const range = (minimum: number, maximum: number) => ({ type: "integer", minimum, maximum });
const tree = (text: Json, name = "Tree"): Json => ({
  [name]: record({ text, children: { type: "array", items: { $ref: `#/$defs/${name}` } } }),
});

describe("a changed type is judged by its values", () => {
  const POINT = { Point: record({ x: NUMBER, y: NUMBER }) };
  type Case = readonly [what: string, before: Json, after: Json, definitions?: readonly [Json, Json]];
  const cases: Readonly<Record<string, readonly Case[]>> = {
    "same same": [
      [
        "members of a nested object in another order",
        record({ x: NUMBER, y: STRING }),
        record({ y: STRING, x: NUMBER }),
      ],
      ["members of a union in another order", any(STRING, NUMBER), any(NUMBER, STRING)],
      ["types in another order", { type: ["string", "null"] }, { type: ["null", "string"] }],
      ["variants of a union in another order", any(tagged("a"), tagged("b")), any(tagged("b"), tagged("a"))],
      ["another name of a shared type", REFERENCE, ref("Other"), [POINT, { Other: POINT.Point }]],
      ["another name of a recursive type", ref("Tree"), ref("Line"), [tree(STRING), tree(STRING, "Line")]],
      [
        "a recursive type, unrolled once",
        ref("Tree"),
        record({ text: STRING, children: { type: "array", items: ref("Tree") } }),
        [tree(STRING), tree(STRING)],
      ],
      ["a shared type that is written in its place", REFERENCE, POINT.Point, [POINT, {}]],
      ["a shared type that was written in its place", POINT.Point, REFERENCE, [{}, POINT]],
      ["an enum for constants", { oneOf: [{ const: "a" }, { const: "b" }] }, { type: "string", enum: ["b", "a"] }],
      ["a const for an enum of one", { enum: ["a"] }, { type: "string", const: "a" }],
      ["oneOf for anyOf", any(STRING, NULL), { oneOf: [STRING, NULL] }],
      ["an anyOf of types for several types", any(STRING, NULL), { type: ["string", "null"] }],
      ["a format for the same bounds", range(0, 65535), { type: "integer", format: "uint16" }],
      ["a format beside the same bounds", { ...range(-128, 127), format: "int8" }, range(-128, 127)],
      ["the format of a double", { ...NUMBER, format: "double" }, NUMBER],
      [
        "bounds that the format has",
        { type: "integer", format: "uint64", minimum: 0 },
        { type: "integer", format: "uint64" },
      ],
      ["usize for uint64", { type: "integer", format: "uint", minimum: 0 }, { type: "integer", format: "uint64" }],
      ["an exclusive bound of integers", { type: "integer", exclusiveMinimum: 0, maximum: 5 }, range(1, 5)],
      ["titles", { ...STRING, title: "A" }, { ...STRING, title: "B" }],
      ["allOf", { allOf: [STRING, { maxLength: 5 }] }, { ...STRING, maxLength: 5 }],
      [
        "keywords beside a reference",
        { $ref: "#/$defs/Point", required: ["x"] },
        record({ x: NUMBER, y: NUMBER }),
        [{ Point: record({ x: NUMBER, y: NUMBER }, ["y"]) }, {}],
      ],
      ["a union by its tag for two tags in one object", tagged("a"), any(tagged("a"), tagged("a"))],
      ["at least one item of a many port", LIST, { ...LIST, minItems: 1, maxItems: 256 }],
      [
        "additionalProperties true for a schema of any value",
        { type: "object", additionalProperties: true },
        { type: "object", additionalProperties: {} },
      ],
      ["a keyword that is not judged and stays", { ...STRING, not: { const: "" } }, { ...STRING, not: { const: "" } }],
      [
        "two variants for one object with two tags",
        record({ kind: { enum: ["a", "b"] }, x: NUMBER }),
        any(tagged("a", { x: NUMBER }), tagged("b", { x: NUMBER })),
      ],
    ],
    "breaking breaking": [
      ["a member in a shared type", REFERENCE, REFERENCE, [POINT, { Point: record({ x: NUMBER, y: STRING }) }]],
      ["a member in a recursive type", ref("Tree"), ref("Tree"), [tree(STRING), tree(NUMBER)]],
      [
        "a shared type behind another",
        ref("Line"),
        ref("Line"),
        [
          { ...POINT, Line: record({ from: REFERENCE }) },
          { Point: record({ x: STRING, y: NUMBER }), Line: record({ from: REFERENCE }) },
        ],
      ],
      [
        "a member of one variant",
        any(tagged("a", { x: NUMBER }), tagged("b", { x: NUMBER })),
        any(tagged("a", { x: NUMBER }), tagged("b", { x: STRING })),
      ],
      [
        "two variants that lack a value of one object",
        record({ kind: { enum: ["a", "b"] }, x: NUMBER }),
        any(tagged("a", { x: NUMBER }), tagged("b", { x: STRING })),
      ],
      ["a 64-bit integer for a number", NUMBER, { type: "integer", format: "int64" }],
      [
        "a map of other values",
        { type: "object", additionalProperties: NUMBER },
        { type: "object", additionalProperties: STRING },
      ],
    ],
    "compatible breaking": [
      [
        "a wider member in a shared type",
        REFERENCE,
        REFERENCE,
        [POINT, { Point: record({ x: NUMBER, y: nullable(NUMBER) }) }],
      ],
      ["a nested member gone", record({ x: NUMBER, y: NUMBER }), record({ x: NUMBER })],
      [
        "a new member of a closed object",
        { type: "object", properties: { x: NUMBER }, additionalProperties: false },
        { type: "object", properties: { x: NUMBER, y: nullable(NUMBER) }, additionalProperties: false },
      ],
      ["null", STRING, nullable(STRING)],
      ["one more literal", { enum: ["a"] }, { enum: ["a", "b"] }],
      ["any text for literals", { enum: ["a", "b"] }, STRING],
      ["one more variant", any(tagged("a"), tagged("b")), any(tagged("a"), tagged("b"), tagged("c"))],
      ["multiples", { type: "integer", multipleOf: 4 }, { type: "integer", multipleOf: 2 }],
      ["a pattern that literals fit", { enum: ["a", "aa"] }, { ...STRING, pattern: "^a+$" }],
    ],
    "compatible compatible": [
      ["a new optional nested member", record({ x: NUMBER }), record({ x: NUMBER, y: nullable(NUMBER) }, ["x"])],
    ],
    "breaking compatible": [
      ["a new required nested member", record({ x: NUMBER }), record({ x: NUMBER, y: NUMBER })],
      ["a nested member that is required now", record({ x: NUMBER }, []), record({ x: NUMBER })],
      [
        "lists of either for a list of both",
        { type: ["array"], items: { type: ["string", "number"] } },
        any(LIST, { type: "array", items: NUMBER }),
      ],
      ["two ranges with a gap for one", range(0, 10), any(range(0, 4), range(6, 10))],
      ["a fixed list for a list", LIST, { type: "array", prefixItems: [STRING, STRING], items: false, minItems: 2 }],
      ["items that must differ", LIST, { ...LIST, uniqueItems: true }],
      ["a date for a text", STRING, { ...STRING, format: "date-time" }],
      ["bytes for a text", STRING, { ...STRING, contentEncoding: "base64" }],
      ["a pattern for a text", STRING, { ...STRING, pattern: "^a+$" }],
    ],
    "compatible same": [["a closed nested object that is open now", closed({ x: NUMBER }), record({ x: NUMBER })]],
    "breaking same": [
      ["a nested object that is closed now", record({ x: NUMBER }), closed({ x: NUMBER })],
      [
        "a nested optional member that is required and may be null",
        record({ x: nullable(NUMBER) }, []),
        record({ x: nullable(NUMBER) }),
      ],
    ],
    "breaking not decided": [["integers for numbers", NUMBER, { type: "integer" }]],
    "not decided breaking": [
      [
        "a text for a list that no value fits",
        { type: ["array"], items: NULL, minItems: 2, uniqueItems: true },
        STRING,
      ],
    ],
    "not decided not decided": [
      ["two patterns", { ...STRING, pattern: "^[a-z]+:[0-9]+$" }, { ...STRING, pattern: "^[a-z]+:[0-9]*$" }],
      [
        "a keyword that is not judged and reads another definition",
        { ...STRING, not: REFERENCE },
        { ...STRING, not: REFERENCE },
        [{ Point: NUMBER }, { Point: { enum: ["a"] } }],
      ],
      ["a 64-bit integer for one without a format", { type: "integer", format: "int64" }, { type: "integer" }],
    ],
    "not decided compatible": [
      ["not", STRING, { ...STRING, not: { const: "" } }],
      ["an object that says nothing about its members", { type: "object" }, record({ x: NUMBER }, [])],
    ],
  };
  for (const [expected, rows] of Object.entries(cases)) {
    for (const [what, before, after, definitions] of rows) {
      it(`${expected}: ${what}`, () => assert.equal(verdicts(before, after, definitions).join(" "), expected));
    }
  }

  it("prints a line per position: pointer, old and new schema, and an example value", () => {
    const types = (qty: Json, unit: Json) => ({
      input_schema: {
        properties: { a: ref("Order"), b: STRING },
        $defs: { Order: record({ lines: { type: "array", items: record({ qty, unit }) } }) },
      },
    });
    const before = tool(types(NUMBER, { enum: ["kg", "lb"], description: "Unit." }));
    const after = tool(types({ type: "integer", maximum: 5 }, { enum: ["kg"] }));
    const at = "/input_schema/$defs/Order/properties/lines/items/properties";
    assert.deepEqual(changes(before, after), [
      "breaking",
      `breaking: input a: ${at}/qty: {"type":"number"} -> {"type":"integer","maximum":5}: callers may send 0.5, which is now refused`,
      `breaking: input a: ${at}/unit: {"enum":["kg","lb"]} -> {"enum":["kg"]}: callers may send "lb", which is now refused`,
    ]);
    assert.deepEqual(listDifferences(diff(before, after))[1], {
      tool: "xyz.test.one",
      before: "1",
      after: "1",
      kind: "breaking",
      port: "input a",
      pointer: `${at}/unit`,
      old: '{"enum":["kg","lb"]}',
      new: '{"enum":["kg"]}',
      change: 'callers may send "lb", which is now refused',
    });
  });

  it("and does not print the reason of an undecided comparison as a member", () => {
    const after = any(record({ x: NUMBER, z: NUMBER }, ["x"]), record({ y: NUMBER }));
    const lines = changes(inputs({ a: record({ x: NUMBER, y: NUMBER }), b: STRING }), inputs({ a: after, b: STRING }));
    assert.match(
      lines.join("\n"),
      /^compatible\n.*: accepts more values, .*\ncompatible: .*: a member may be ignored$/,
    );
  });

  it("as docs/publish.md shows", () => {
    const order = (unit: Json, limit: Json) =>
      tool({
        fqn: "xyz.demo.order@1",
        input_schema: {
          properties: { order: ref("Order"), limit },
          required: ["order", "limit"],
          $defs: { Order: record({ qty: NUMBER, unit }) },
        },
      });
    const before = order({ type: "string", enum: ["kg", "lb"] }, { ...STRING, maxLength: 9 });
    const text = formatDifferences(diff(before, order({ type: "string", const: "kg" }, STRING)));
    const page = readFileSync(new URL("../../docs/publish.md", import.meta.url), "utf8");
    assert.equal(/```text diff\n([^`]*)```/.exec(page)?.[1], text);
  });

  it("and an undecided comparison counts as breaking", () => {
    const pattern = (text: string) => inputs({ a: { ...STRING, pattern: text }, b: STRING });
    const differences = diff(pattern("^[0-9]+:$"), pattern("^[0-9]*:$"));
    assert.match(
      formatDifferences(differences),
      /@1: not decided\n {2}not decided: input a: .*: patterns are not compared\n$/,
    );
    assert.equal(isBroken(differences), true);
  });

  it("in bounded time, however many types refer to each other", () => {
    const names = Array.from({ length: 60 }, (_, at) => `T${at}`);
    const ring = (text: Json) =>
      Object.fromEntries(
        names.map((name) => [
          name,
          record(
            { text, ...Object.fromEntries(names.map((other) => [other, nullable({ $ref: `#/$defs/${other}` })])) },
            ["text"],
          ),
        ]),
      );
    const first = ref("T0");
    assert.deepEqual(verdicts(first, first, [ring(STRING), ring(STRING)]), ["same", "same"]);
    assert.deepEqual(verdicts(first, first, [ring(STRING), ring(NUMBER)]), ["breaking", "breaking"]);
  });
});

it("types that are too large to compare are not decided", () => {
  const choices = (prefix: string) => ({
    anyOf: Array.from({ length: 60 }, (_, at) => record({ [`${prefix}${at}`]: STRING }, [])),
  });
  const large = { allOf: [choices("a"), choices("b")] };
  assert.deepEqual(verdicts(large, { ...large, maxProperties: 9 }), ["not decided", "not decided"]);
});

it("types with too many levels are not decided, and other ports are compared", () => {
  const chain = (length: number, last: Json) =>
    Object.fromEntries(
      Array.from({ length }, (_, at) => {
        return [`D${at}`, { type: "array", items: at + 1 < length ? { $ref: `#/$defs/D${at + 1}` } : last }];
      }),
    );
  for (const length of [900, 3_000]) {
    const deep = (last: Json, other: Json) =>
      tool({
        input_schema: {
          properties: { a: record({ list: ref("D0") }), b: other },
          required: ["a", "b"],
          $defs: chain(length, last),
        },
      });
    const undecided = "not decided: input a: the type is nested too deeply to compare: reduce its nesting";
    assert.deepEqual(changes(deep(STRING, STRING), deep(NUMBER, STRING)), ["decided", undecided]);
    assert.deepEqual(changes(deep(STRING, STRING), deep(STRING, STRING)), ["same"]);
    const [verdict, ...more] = changes(deep(STRING, STRING), deep(STRING, NUMBER));
    assert.deepEqual([verdict, more[0]], ["breaking", undecided]);
    assert.match(more[1] ?? "", /^breaking: input b: /);
  }
});

describe("an optional port", () => {
  const optional = (type: Json, required: string[]) =>
    tool({ input_schema: { properties: { a: type, b: STRING }, required } });
  it("a port that becomes required breaks callers that omit it", () => {
    assert.deepEqual(changes(optional(nullable(STRING), []), optional(nullable(STRING), ["a"])), [
      "breaking",
      "breaking: input a: callers may omit it, but it is now required",
    ]);
  });
  it("a port that becomes optional breaks no caller", () => {
    assert.deepEqual(changes(optional(STRING, ["a"]), optional(nullable(STRING), [])), [
      "compatible",
      `compatible: input a: ${A}: {"type":"string"} -> {"anyOf":[{"type":"string"},{"type":"null"}]}: accepts more values, such as null`,
    ]);
  });
});

describe("a changed tool", () => {
  const moved = "moved: the order of the ports must not change";
  for (const [what, after, ...said] of [
    ["nothing", tool(), "same"],
    ["an input gone", inputs({ a: STRING }), "breaking", "breaking: input b: removed"],
    [
      "an input new",
      inputs({ a: STRING, b: STRING, c: STRING }),
      "breaking",
      "breaking: input c: added: callers do not send it, even if it is optional; an optional member of an object port (options?: { … }) breaks no caller",
    ],
    [
      "an input that is many now",
      inputs({ a: LIST, b: STRING }),
      "breaking",
      "breaking: input a: changed from one value to a list (many)",
    ],
    ["inputs moved", inputs({ b: STRING, a: STRING }), "breaking", `breaking: input a: ${moved}`],
    [
      "inputs moved and another in front",
      inputs({ c: STRING, b: STRING, a: STRING }),
      "breaking",
      "breaking: input c: added: callers do not send it, even if it is optional; an optional member of an object port (options?: { … }) breaks no caller",
      `breaking: input a: ${moved}`,
    ],
    [
      "an input of another type",
      inputs({ a: { type: "number" }, b: STRING }),
      "breaking",
      `breaking: input a: ${A}: {"type":"string"} -> {"type":"number"}: callers may send "x", which is now refused`,
    ],
    [
      "a shorter input",
      inputs({ a: { ...STRING, maxLength: 1 }, b: STRING }),
      "breaking",
      `breaking: input a: ${A}: {"type":"string"} -> {"type":"string","maxLength":1}: callers may send "other", which is now refused`,
    ],
    [
      "the words about an input",
      inputs({
        a: { ...STRING, description: "A.", title: "A", examples: ["x"], default: "x", deprecated: true },
        b: STRING,
      }),
      "compatible",
      "compatible: input a: documentation changed",
    ],
    [
      "a member that is called as documentation is",
      inputs({ a: { type: "object", properties: { description: STRING } }, b: STRING }),
      "breaking",
      `breaking: input a: ${A}: {"type":"string"} -> {"type":"object","properties":{"description":{"type":"string…: callers may send "x", which is now refused`,
    ],
    ["an output port gone", tool({}, { x: STRING }), "breaking", "breaking: variant ok port y: removed"],
    [
      "an output port new",
      tool({}, { x: STRING, y: STRING, z: STRING }),
      "breaking",
      "breaking: variant ok port z: added: callers do not expect it",
    ],
    [
      "an output port that is many now",
      tool({}, { x: STRING, y: LIST }),
      "breaking",
      "breaking: variant ok port y: changed from one value to a list (many)",
    ],
    [
      "an output port of another type",
      tool({}, { x: STRING, y: { type: "number" } }),
      "breaking",
      `breaking: variant ok port y: ${OK}/y: {"type":"string"} -> {"type":"number"}: results may contain 1, which callers do not expect`,
    ],
    [
      "output ports moved",
      tool({}, { y: STRING, x: STRING }),
      "breaking",
      "breaking: variant ok port x: moved: the order of the ports must not change",
    ],
    [
      "the words about an output port",
      tool({}, { x: STRING, y: { ...STRING, description: "Y." } }),
      "compatible",
      "compatible: variant ok port y: documentation changed",
    ],
    [
      "variants in another order",
      tool({
        output_schema: {
          oneOf: [
            { properties: { no: { properties: {} } } },
            { properties: { ok: { properties: { x: STRING, y: STRING } } } },
          ],
        },
      }),
      "same",
    ],
    [
      "one variant for another",
      tool({
        output_schema: {
          oneOf: [{ properties: { ok: { properties: { x: STRING, y: STRING } } } }, { const: "maybe" }],
        },
      }),
      "breaking",
      "breaking: variant no: removed",
      "breaking: variant maybe: added: callers do not know it",
    ],
    ["a description", tool({ description: "Two." }), "compatible", "compatible: description changed"],
    ["a timeout", tool({ timeout: 2000 }), "compatible", "compatible: timeout changed"],
    ["the host of a url", tool({ url: "https://host.test/one" }), "compatible", "compatible: url changed"],
    [
      "the path of a url",
      tool({ url: "/two" }),
      "breaking",
      "breaking: the path of url changed: callers of the old path get 404",
    ],
    [
      "the worst of several",
      tool({ timeout: 2000 }, { x: STRING }),
      "breaking",
      "breaking: variant ok port y: removed",
      "compatible: timeout changed",
    ],
  ] as readonly [string, Json, ...string[]][]) {
    it(`in ${what}`, () => {
      assert.deepEqual(changes([tool()], [after]), said);
      assert.equal(isBroken(diff([tool()], after)), said[0] === "breaking");
    });
  }

  it("from many to one, and a type of list items", () => {
    const before = inputs({ a: LIST, b: STRING });
    assert.deepEqual(changes(before, tool()), [
      "breaking",
      "breaking: input a: changed from a list (many) to one value",
    ]);
    assert.deepEqual(changes(before, inputs({ a: { type: "array" }, b: STRING })), [
      "compatible",
      `compatible: input a: ${A}/items: {"type":"string"} -> {"type":"array"}: accepts more values, such as null or false or true`,
    ]);
    const words = { a: { type: "array", items: { ...STRING, description: "T" } }, b: STRING };
    assert.deepEqual(changes(before, inputs(words)), ["compatible", "compatible: input a: documentation changed"]);
  });

  it("whose alternatives differ only in notation", () => {
    const choice = (words: { [name: string]: string }) =>
      inputs({ a: { anyOf: [{ ...STRING, ...words }, { type: "number" }] }, b: STRING });
    assert.deepEqual(changes(choice({ description: "A" }), choice({ description: "B" })), [
      "compatible",
      "compatible: input a: documentation changed",
    ]);
    assert.deepEqual(changes(choice({ title: "A" }), choice({ title: "B" })), ["same"]);
  });
});

describe("tools", () => {
  const other = tool({ fqn: "xyz.test.other@3" });
  const next = tool({ fqn: "xyz.test.one@2", input_schema: { properties: {} } });

  it("that were added are additive, those that were removed are breaking", () => {
    assert.equal(
      formatDifferences(diff([tool()], [tool(), other])),
      "xyz.test.one@1: same\nxyz.test.other@- -> @3: additive\n  additive: the tool was added\n",
    );
    assert.equal(isBroken(diff([tool()], [tool(), other])), false);
    const gone = diff([tool(), other], [tool()]);
    assert.equal(
      formatDifferences(gone),
      "xyz.test.one@1: same\nxyz.test.other@3: breaking\n  breaking: the tool was removed\n",
    );
    assert.equal(isBroken(gone), true);
  });

  it("may have breaking changes with a new version", () => {
    const differences = diff(tool(), next);
    assert.match(formatDifferences(differences), /^xyz\.test\.one@1 -> @2: breaking\n/);
    assert.equal(isBroken(differences), false);
  });

  it("are listed as data, one entry per change", () => {
    assert.deepEqual(listDifferences(diff([tool()], [tool({ timeout: 2000 }), other])), [
      { tool: "xyz.test.one", before: "1", after: "1", kind: "compatible", change: "timeout changed" },
      { tool: "xyz.test.other", after: "3", kind: "additive", change: "the tool was added" },
    ]);
    assert.deepEqual(listDifferences([]), []);
  });

  it("without an fqn or with schemas that the network refuses are reported with the name of the file", () => {
    for (const wrong of [
      [{}],
      [7],
      { fqn: 7 },
      null,
      tool({ input_schema: 7 }),
      tool({ output_schema: {} }),
    ] as Json[]) {
      for (const [name, pair] of [
        ["old.json", [wrong, tool()]],
        ["new.json", [tool(), wrong]],
      ] as [string, [Json, Json]][]) {
        assert.throws(
          () => diff(...pair),
          (error) => error instanceof UnreadableMetadata && error.message.includes(name),
        );
      }
    }
    assert.throws(() => diffDocuments({ name: "a", text: "{" }, { name: "b", text: "[]" }), UnreadableMetadata);
  });
});
