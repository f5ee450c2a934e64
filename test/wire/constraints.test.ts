/** Constraints in the walk: texts, bounds, lists, branches of unions, and how often anything is looked at. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MAX_MATCHED_LENGTH } from "#client/wire/codec/constraints.js";
import type { Codec, Contract } from "#client/wire/codec/contract.js";
import { DecodeContext, DecoderCompiler, type DecoderOptions, ValueDecoder } from "#client/wire/codec/decoder.js";
import { ValueEncoder } from "#client/wire/codec/encoder.js";
import { WireFault } from "#client/wire/fault.js";
import { parseJson } from "#client/wire/json/scan.js";
import { formats } from "#runtime/server/wire/formats.js";
import { proves } from "../proves.js";
import { object } from "./codecs.js";

function read(codec: Codec, json: string, options: DecoderOptions = { formats }): unknown {
  try {
    return new ValueDecoder(codec, [], options).read(Buffer.from(json));
  } catch (error) {
    assert.ok(error instanceof WireFault, String(error));
    return error.details;
  }
}

const NUMBER: Codec = { kind: "number" };

it("results are checked by type alone, except to choose a branch; a client checks no format there either", () => {
  const whole: Codec = { kind: "number", minimum: 5 };
  const uuid: Codec = { kind: "string", format: "uuid" };
  const list: Codec = { kind: "tuple", items: [whole, { kind: "string", minLength: 2 }], minItems: 3 };
  assert.deepEqual(read(list, '[1,"x"]', { isResult: true }), [1, "x"]);
  assert.match(String(read(list, "[1]", { isResult: true })), /^expected an array of 2 items, got 1 items$/);
  const union: Codec = { kind: "union", branches: [{ kind: "string", maxLength: 3 }, uuid, { kind: "bytes" }] };
  assert.deepEqual(read(union, '"AAAA"', { isResult: true, formats }), new Uint8Array(3));
  assert.equal(read(union, '"AAAA"', { isResult: true }), "AAAA");
});

describe("texts longer than the bound", () => {
  const at = JSON.stringify("a".repeat(MAX_MATCHED_LENGTH));
  const above = JSON.stringify("a".repeat(MAX_MATCHED_LENGTH + 1));
  it("match no pattern, format or name of an index signature", () => {
    const pattern: Codec = { kind: "string", patterns: ["^a*$"] };
    assert.equal(read(pattern, at), JSON.parse(at));
    assert.equal(read(pattern, above), "expected a string that matches ^a*$, of at most 65536 characters, got 65537");
    assert.match(
      String(read({ kind: "string", format: "uri-reference" }, above)),
      /of at most 65536 characters, got 65537$/,
    );
    const names: Codec = { kind: "object", members: [], patterns: [["^a*$", NUMBER]] };
    assert.deepEqual(Object.keys(read(names, `{${at}:1}`) as object), [JSON.parse(at)]);
    assert.equal(read(names, `{${above}:1}`), "expected only declared members, got another");
    proves("5.32b");
  });
  it("are accepted if there is nothing to match", () => {
    assert.equal(read({ kind: "string", minLength: 1 }, above), JSON.parse(above));
  });
});

describe("bounds", () => {
  const exact = (bounds: Omit<Extract<Codec, { kind: "bigint" }>, "kind">): Codec => ({ kind: "bigint", ...bounds });
  for (const [codec, fits, fails] of [
    [{ kind: "number", minimum: 1 }, ["1", "1.5"], ["0.999", "-1"]],
    [{ kind: "number", maximum: 1 }, ["1", "-5"], ["1.001"]],
    [{ kind: "number", exclusiveMinimum: 1 }, ["1.001"], ["1", "0"]],
    [{ kind: "number", exclusiveMaximum: 1 }, ["0.999"], ["1", "2"]],
    [{ kind: "number", multipleOf: 0.5 }, ["1.5", "0"], ["1.25"]],
    [
      { kind: "number", multipleOf: 0.01 },
      ["19.99", "0.07", "-1.15", "1e3", "1e21", "123456789012.34"],
      ["19.995", "1e-3"],
    ],
    [{ kind: "number", multipleOf: 1e-7 }, ["3e-7", "0.1"], ["1e-8"]],
    [{ kind: "json", multipleOf: 0.1 }, ["0.3", "9007199254740993"], ["0.35"]],
    [exact({ minimum: "9007199254740993" }), ["9007199254740993"], ["9007199254740992"]],
    [exact({ maximum: "-9007199254740993" }), ["-9007199254740993"], ["-9007199254740992"]],
    [exact({ exclusiveMinimum: "9007199254740992" }), ["9007199254740993"], ["9007199254740992", "1"]],
    [exact({ exclusiveMaximum: "9007199254740993" }), ["9007199254740992"], ["9007199254740993"]],
    [exact({ multipleOf: "3" }), ["9007199254740993", "0", "-3"], ["9007199254740992", "1"]],
    [{ kind: "json", multipleOf: 2 }, ["9007199254740994", "4", '"a"'], ["9007199254740993", "3", "4.5"]],
    [{ kind: "json", minimum: 5 }, ["5", '"a"', "null", "[]", "9007199254740993"], ["4", "-9007199254740993"]],
    [{ kind: "json", minLength: 2, maxItems: 1 }, ['"ab"', "[1]", "7"], ['"a"', "[1,2]"]],
    [{ kind: "json", except: "null" }, ["0", "{}"], ["null"]],
    [{ kind: "json", except: "primitives" }, ["[]", "{}"], ["1", '"a"', "null", "true"]],
  ] as readonly (readonly [Codec, readonly string[], readonly string[]])[]) {
    it(JSON.stringify(codec), () => {
      for (const text of fits) assert.notEqual(typeof read(codec, text) === "string" && text[0] !== '"', true, text);
      for (const text of fails) assert.match(String(read(codec, text)), /^expected /, text);
    });
  }
});

describe("the length of a text", () => {
  const length: Codec = { kind: "string", minLength: 2, maxLength: 2 };
  const pair = (first: number, second: number) => String.fromCharCode(first, second);
  it("counts a surrogate pair as one", () => {
    for (const first of [0xd800, 0xdbff]) {
      for (const second of [0xdc00, 0xdfff]) {
        const text = JSON.stringify(`a${pair(first, second)}`);
        assert.equal(read(length, text), JSON.parse(text));
        assert.equal(read(length, JSON.stringify(pair(first, second))), "expected at least 2 characters, got 1");
        assert.equal(
          read(length, JSON.stringify(pair(first, second).repeat(3))),
          "expected at most 2 characters, got 3",
        );
      }
    }
  });
  it("counts characters next to the surrogate range as one", () => {
    for (const first of [0xd7ff, 0xe000])
      assert.equal(read(length, JSON.stringify(pair(first, 0x61))), pair(first, 0x61));
  });
  it("is accepted at both bounds", () => {
    assert.equal(read({ kind: "string", maxLength: 0 }, '"a"'), "expected at most 0 characters, got 1");
    assert.equal(read({ kind: "string", minLength: 1 }, '""'), "expected at least 1 characters, got 0");
    assert.equal(read({ kind: "string", minLength: 1 }, '"a"'), "a");
  });
});

describe("the number of items", () => {
  it("is accepted at both bounds", () => {
    const codec: Codec = { kind: "array", item: NUMBER, minItems: 1, maxItems: 2 };
    assert.equal(read(codec, "[]"), "expected at least 1 items, got 0");
    assert.deepEqual([read(codec, "[1]"), read(codec, "[1,2]")], [[1], [1, 2]]);
    assert.equal(read(codec, "[1,2,3]"), "expected at most 2 items, got 3");
  });
  it("is unlimited without bounds; equal items are reported by their indexes", () => {
    const codec: Codec = { kind: "array", item: NUMBER, uniqueItems: true };
    assert.deepEqual(read(codec, "[3,1,2]"), [3, 1, 2]);
    assert.equal(read(codec, "[3,1,2,1]"), "expected unique items, got equal items at 1 and 3");
  });
});

describe("items that must differ", () => {
  const unique = (item: Codec): Codec => ({ kind: "array", item, uniqueItems: true });
  it("are compared as they are decoded", () => {
    const two = "expected unique items, got equal items at 0 and 1";
    const date: Codec = { kind: "date" };
    assert.equal(read(unique(date), '["2024-01-01T00:00:00Z","2024-01-01T01:00:00+01:00"]'), two);
    assert.equal(read(unique(object({ a: NUMBER })), '[{"a":1,"more":1},{"a":1.0,"more":2}]'), two);
    assert.equal(read(unique({ kind: "json" }), '[{"a":1,"b":[2]},{"b":[2.0],"a":1}]'), two);
    assert.equal(read(unique({ kind: "json" }), "[18446744073709551615,18446744073709551615]"), two);
    const long = JSON.stringify("x".repeat(500));
    assert.equal(read(unique({ kind: "json" }), `[[${long}],[${long}]]`), two);
    assert.deepEqual(read(unique({ kind: "json" }), `[[${long}],[${long},1],"1",1,null,[],{},1e308,1.1e308]`), [
      [JSON.parse(long)],
      [JSON.parse(long), 1],
      "1",
      1,
      null,
      [],
      {},
      1e308,
      1.1e308,
    ]);
    proves("5.32c");
  });
});

describe("a union", () => {
  it("counts a repeated undeclared member once", () => {
    const either = union(object({ x: NUMBER }), object({ y: NUMBER }));
    assert.deepEqual(read(either, '{"x":1,"y":1}'), { x: 1 });
    assert.deepEqual(read(either, '{"x":1,"y":1,"y":1}'), { x: 1 });
    assert.deepEqual(read(either, '{"y":1,"x":1,"\\u0079":1}'), { x: 1 });
  });

  const union = (...branches: Codec[]): Codec => ({ kind: "union", branches });
  const small = object({ a: { kind: "number", maximum: 5 }, b: NUMBER }, "b");
  const large = object({ a: NUMBER, c: NUMBER }, "c");

  it("uses a branch whose constraints the value satisfies", () => {
    assert.deepEqual(read(union(small, large), '{"a":5,"b":1}'), { a: 5, b: 1 });
    assert.deepEqual(read(union(small, large), '{"a":6,"b":1}'), { a: 6 });
  });
  it("uses the first of the branches with the fewest undeclared members", () => {
    assert.deepEqual(read(union(small, large), '{"a":5,"c":1}'), { a: 5, c: 1 });
    assert.deepEqual(read(union(small, large), '{"a":5,"b":1,"c":2}'), { a: 5, b: 1 });
    assert.deepEqual(read(union(large, small), '{"a":5,"b":1,"c":2}'), { a: 5, c: 2 });
    assert.equal(read(union(small), '{"a":6}'), "a: expected a number of at most 5, got a larger one");
    proves("5.32a");
  });
  it("counts undeclared members, not objects", () => {
    const dated = object({ v: object({ a: { kind: "date" } }) });
    const any = object({ v: { kind: "json" } });
    const time = "2020-01-01T00:00:00.000Z";
    assert.deepEqual(read(union(dated, any), `{"v":{"a":"${time}"}}`), { v: { a: new Date(time) } });
    assert.deepEqual(read(union(any, dated), `{"v":{"a":"${time}"}}`), { v: { a: time } });
  });
  it("counts undeclared members of a union inside a branch", () => {
    const half = object({ v: union({ kind: "null" }, object({ a: NUMBER })) });
    const whole = object({ v: object({ a: NUMBER, b: NUMBER }, "b") });
    assert.deepEqual(read(union(half, whole), '{"v":{"a":1,"b":2}}'), { v: { a: 1, b: 2 } });
    assert.equal(new ValueEncoder(union(half, whole)).write({ v: { a: 1, b: 2 } }), '{"v":{"a":1,"b":2}}');
    const more = object({ v: union({ kind: "null" }, object({ a: NUMBER })), w: NUMBER, x: NUMBER }, "w", "x");
    assert.deepEqual(read(union(whole, more), '{"v":{"a":1,"b":2},"w":3,"x":4}'), { v: { a: 1 }, w: 3, x: 4 });
  });
  it("is encoded by the branch whose constraints hold; outside unions, constraints are not checked", () => {
    const write = (codec: Codec, value: unknown) => new ValueEncoder(codec).write(value);
    assert.equal(write(union(small, large), { a: 5 }), '{"a":5,"b":null}');
    assert.equal(write(union(small, large), { a: 6 }), '{"a":6,"c":null}');
    assert.equal(write(small, { a: 6 }), '{"a":6,"b":null}');
    assert.throws(() => write(union(small), { a: 6 }), /expected a number of at most 5/);
    assert.throws(() => write(union({ kind: "array", item: NUMBER, uniqueItems: true }), [1, 1]), /unique items/);
    assert.throws(() => write(union({ kind: "string", patterns: ["^a$"] }), "b"), /matches \^a\$/);
    assert.throws(() => write(union({ kind: "bigint", minimum: "5" }), 4n), /at least 5/);
  });
});

describe("the walk visits every entry a bounded number of times", () => {
  /** Reads of the tape while a text is decoded. */
  function steps(codec: Codec, definitions: NonNullable<Contract["definitions"]>, json: string): number {
    let count = 0;
    const document = parseJson(Buffer.from(json));
    const tape = new Proxy(document.tape, {
      get(target, key) {
        count++;
        return target[key as unknown as number];
      },
    });
    new DecoderCompiler(definitions).compile(codec)({ ...document, tape }, 0, new DecodeContext(true));
    return count;
  }
  const ref = (name: string): Codec => ({ kind: "ref", name });
  const binary = (op: string) =>
    object({ left: ref("Expr"), op: { kind: "literal", values: [op] }, right: ref("Expr") });
  const EXPR: Codec = { kind: "union", branches: [binary("+"), binary("*"), object({ value: NUMBER })] };
  const ITEM: Codec = {
    kind: "union",
    branches: ["file", "folder"].map((name) =>
      object({ children: { kind: "array", item: ref("Item") }, [name]: { kind: "string" } }, "children"),
    ),
  };

  it("in recursive unions of 127 levels", () => {
    const nested = (depth: number, op: string) =>
      `${'{"left":'.repeat(depth)}{"value":1}${`,"op":"${op}","right":{"value":2}}`.repeat(depth)}`;
    for (const op of ["+", "*", "-"]) {
      const [half, whole] = [63, 126].map((depth) => steps(ref("Expr"), [["Expr", EXPR]], nested(depth, op))) as [
        number,
        number,
      ];
      assert.ok(whole < 2.2 * half && whole < 127 * 300, `${op}: ${half}, ${whole}`);
    }
    const files = (depth: number) => `${'{"children":['.repeat(depth)}{"neither":1}${"]}".repeat(depth)}`;
    const [half, whole] = [31, 62].map((depth) => steps(ref("Item"), [["Item", ITEM]], files(depth))) as [
      number,
      number,
    ];
    assert.ok(whole < 2.2 * half && whole < 127 * 300, `${half}, ${whole}`);
  });

  it("in recursive unions of lists", () => {
    const entry = (op: string): Codec => ({ kind: "tuple", items: [ref("List"), { kind: "literal", values: [op] }] });
    const LIST: Codec = { kind: "array", item: { kind: "union", branches: [entry("+"), entry("*")] } };
    const nested = (depth: number) => `${"[[".repeat(depth)}[]${',"*"]]'.repeat(depth)}`;
    const [half, whole] = [8, 16].map((depth) => steps(ref("List"), [["List", LIST]], nested(depth))) as [
      number,
      number,
    ];
    assert.ok(whole < 2.2 * half, `${half}, ${whole}`);
  });

  it("in lists of 20,000 items", () => {
    const codec: Codec = {
      kind: "array",
      item: { kind: "union", branches: [object({ a: NUMBER }), object({ b: NUMBER })] },
    };
    const list = (length: number) => `[${Array.from({ length }, (_, i) => `{"${i % 2 ? "a" : "b"}":${i}}`).join(",")}]`;
    const [half, whole] = [10_000, 20_000].map((length) => steps(codec, [], list(length))) as [number, number];
    assert.ok(whole < 2.2 * half && whole < 20_000 * 60, `${half}, ${whole}`);
  });
});
