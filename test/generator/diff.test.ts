/** The comparison of two `meta.json`, change by change, without a project. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  diffDocuments,
  formatDifferences,
  InvalidDocument,
  isBroken,
  listDifferences,
} from "#generator/contract-diff.js";

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

describe("a changed tool", () => {
  const moved = "it moved: the order of the ports changed";
  for (const [what, after, ...said] of [
    ["nothing", tool(), "same"],
    ["an input gone", inputs({ a: STRING }), "breaking", "breaking: input b: it is gone"],
    [
      "an input new",
      inputs({ a: STRING, b: STRING, c: STRING }),
      "breaking",
      "breaking: input c: it is new: callers do not send it",
    ],
    ["an input that is many now", inputs({ a: LIST, b: STRING }), "breaking", "breaking: input a: it is many now"],
    ["inputs moved", inputs({ b: STRING, a: STRING }), "breaking", `breaking: input a: ${moved}`],
    [
      "inputs moved and another in front",
      inputs({ c: STRING, b: STRING, a: STRING }),
      "breaking",
      "breaking: input c: it is new: callers do not send it",
      `breaking: input a: ${moved}`,
    ],
    [
      "an input of another type",
      inputs({ a: { type: "number" }, b: STRING }),
      "breaking",
      "breaking: input a: its type changed",
    ],
    [
      "a closed input",
      inputs({ a: { ...STRING, maxLength: 1 }, b: STRING }),
      "breaking",
      "breaking: input a: its type changed",
    ],
    [
      "the words about an input",
      inputs({
        a: { ...STRING, description: "A.", title: "A", examples: ["x"], default: "x", deprecated: true },
        b: STRING,
      }),
      "compatible",
      "compatible: input a: its documentation changed",
    ],
    [
      "a member that is called as documentation is",
      inputs({ a: { properties: { description: STRING } }, b: STRING }),
      "breaking",
      "breaking: input a: its type changed",
    ],
    ["an output port gone", tool({}, { x: STRING }), "breaking", "breaking: variant ok port y: it is gone"],
    [
      "an output port new",
      tool({}, { x: STRING, y: STRING, z: STRING }),
      "breaking",
      "breaking: variant ok port z: it is new: the port schema differs",
    ],
    [
      "an output port that is many now",
      tool({}, { x: STRING, y: LIST }),
      "breaking",
      "breaking: variant ok port y: it is many now",
    ],
    [
      "an output port of another type",
      tool({}, { x: STRING, y: { type: "number" } }),
      "breaking",
      "breaking: variant ok port y: its type changed",
    ],
    [
      "the words about an output port",
      tool({}, { x: STRING, y: { ...STRING, description: "Y." } }),
      "compatible",
      "compatible: variant ok port y: its documentation changed",
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
      "breaking: variant no: it is gone",
      "breaking: variant maybe: it is new: callers do not know it",
    ],
    ["a description", tool({ description: "Two." }), "compatible", "compatible: description changed"],
    ["a timeout", tool({ timeout: 2000 }), "compatible", "compatible: timeout changed"],
    ["a url", tool({ url: "/two" }), "compatible", "compatible: url changed"],
    [
      "the worst of several",
      tool({ url: "/two" }, { x: STRING }),
      "breaking",
      "breaking: variant ok port y: it is gone",
      "compatible: url changed",
    ],
  ] as readonly [string, Json, ...string[]][]) {
    it(`in ${what}`, () => {
      assert.deepEqual(changes([tool()], [after]), said);
      assert.equal(isBroken(diff([tool()], after)), said[0] === "breaking");
    });
  }

  it("from many to one, and a type of list items", () => {
    const before = inputs({ a: LIST, b: STRING });
    assert.deepEqual(changes(before, tool()), ["breaking", "breaking: input a: it is one now"]);
    assert.deepEqual(changes(before, inputs({ a: { type: "array" }, b: STRING })), [
      "breaking",
      "breaking: input a: its type changed",
    ]);
    const words = { a: { type: "array", items: { ...STRING, title: "T" } }, b: STRING };
    assert.deepEqual(changes(before, inputs(words)), ["compatible", "compatible: input a: its documentation changed"]);
  });

  it("whose choices differ in words only", () => {
    const choice = (title: string) => inputs({ a: { anyOf: [{ ...STRING, title }, { type: "number" }] }, b: STRING });
    assert.deepEqual(changes(choice("A"), choice("B")), [
      "compatible",
      "compatible: input a: its documentation changed",
    ]);
  });
});

describe("tools", () => {
  const other = tool({ fqn: "xyz.test.other@3" });
  const next = tool({ fqn: "xyz.test.one@2", input_schema: { properties: {} } });

  it("that are new are additive, those that are gone breaking", () => {
    assert.equal(
      formatDifferences(diff([tool()], [tool(), other])),
      "xyz.test.one@1: same\nxyz.test.other@- -> @3: additive\n  additive: the tool is new\n",
    );
    assert.equal(isBroken(diff([tool()], [tool(), other])), false);
    const gone = diff([tool(), other], [tool()]);
    assert.equal(
      formatDifferences(gone),
      "xyz.test.one@1: same\nxyz.test.other@3: breaking\n  breaking: the tool is gone\n",
    );
    assert.equal(isBroken(gone), true);
  });

  it("may break under another version", () => {
    const differences = diff(tool(), next);
    assert.match(formatDifferences(differences), /^xyz\.test\.one@1 -> @2: breaking\n/);
    assert.equal(isBroken(differences), false);
  });

  it("are listed change by change for programs", () => {
    assert.deepEqual(listDifferences(diff([tool()], [tool({ url: "/two" }), other])), [
      { tool: "xyz.test.one", before: "1", after: "1", kind: "compatible", change: "url changed" },
      { tool: "xyz.test.other", after: "3", kind: "additive", change: "the tool is new" },
    ]);
    assert.deepEqual(listDifferences([]), []);
  });

  it("without an fqn or with schemas that no network takes are a fault of the file that is named", () => {
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
          (error) => error instanceof InvalidDocument && error.message.startsWith(`${name} is no meta.json: `),
        );
      }
    }
    assert.throws(() => diffDocuments({ name: "a", text: "{" }, { name: "b", text: "[]" }), InvalidDocument);
  });
});
