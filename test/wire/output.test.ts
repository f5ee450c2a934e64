import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { InlineValue, NexusData, NexusValue, OffchainToolOutput } from "#client/wire/bcs/data.js";
import type { Codec, Contract, Port, Variant } from "#client/wire/codec/contract.js";
import { ValueEncoder } from "#client/wire/codec/encoder.js";
import { WireFault } from "#client/wire/fault.js";
import { MAX_INLINE_BYTES, MAX_VALUES, OUTPUT_BUDGET } from "#client/wire/protocol.js";
import { ErrEval, OutputEncoder, resultBytes, resultJson } from "#runtime/server/wire/output.js";
import { errEval } from "#runtime/tool.js";
import { contractWith } from "./codecs.js";

const SECRET = "SECRET_7f3a";

const STRING: Codec = { kind: "string" };
const JSON_ANY: Codec = { kind: "json" };
const BIGINT: Codec = { kind: "bigint" };
const one = (name: string, codec: Codec = STRING): Port => ({ name, many: false, codec });
const many = (name: string, codec: Codec = STRING): Port => ({ name, many: true, codec });
const optional = (name: string, codec: Codec = STRING): Port => ({ ...one(name, codec), optional: true });

const contract = (...output: Variant[]) => contractWith({ output });

/** What a result becomes: its JSON form, or the fault's details. */
function encode(of: Contract, result: unknown): string {
  try {
    const encoded = new OutputEncoder(of).encode(result);
    resultBytes(encoded);
    return resultJson(encoded);
  } catch (error) {
    if (!(error instanceof WireFault)) throw error;
    assert.equal(error.code, "output_serialization_error");
    assert.ok(!error.message.includes(SECRET), error.message);
    return error.details;
  }
}

/** The blob that the tests store, in JSON. */
const STORED_JSON = `{"kind":"walrus","blob_id":"${Buffer.alloc(43, "A").toString("base64")}","content_digest":"${Buffer.alloc(32).toString("base64")}"}`;

/** The JSON of a result whose first port is a stored value. */
const STORED = /^\{"ok":\{"a":\{"kind":"walrus","blob_id":"[\w+/]+={0,2}","content_digest":"[\w+/]+=?"\},/;

/** What a value becomes, or the fault's details. */
function write(codec: Codec, value: unknown): string {
  try {
    return new ValueEncoder(codec).write(value);
  } catch (error) {
    if (!(error instanceof WireFault)) throw error;
    assert.ok(!error.message.includes(SECRET), error.message);
    return error.details;
  }
}

describe("variants", () => {
  const of = contract(
    { name: "ok", ports: [one("a"), many("b"), optional("c")] },
    { name: "done", text: true, ports: [] },
    { name: "empty", ports: [] },
    { name: "__proto__", ports: [one("x")] },
  );
  const another = 'result: expected one of the variants "ok", "done", "empty", "__proto__", got another';
  for (const [what, result, wanted] of [
    ["ports in schema order", { ok: { c: "z", b: ["y"], a: "x" } }, '{"ok":{"a":"x","b":["y"],"c":"z"}}'],
    ["an optional port absent", { ok: { b: ["y"], a: "x" } }, '{"ok":{"a":"x","b":["y"],"c":null}}'],
    ["an optional port undefined", { ok: { a: "x", b: ["y"], c: undefined } }, '{"ok":{"a":"x","b":["y"],"c":null}}'],
    ["an optional port null", { ok: { a: "x", b: ["y"], c: null } }, '{"ok":{"a":"x","b":["y"],"c":null}}'],
    ["members that no port has", { ok: { a: "x", b: ["y"], [SECRET]: SECRET } }, '{"ok":{"a":"x","b":["y"],"c":null}}'],
    ["other variants undefined", { empty: undefined, ok: { a: "x", b: ["y"] } }, '{"ok":{"a":"x","b":["y"],"c":null}}'],
    ["a string literal", "done", '"done"'],
    ["a variant without ports", { empty: {} }, '{"empty":{}}'],
    ["a variant called __proto__", JSON.parse('{"__proto__":{"x":"1"}}'), '{"__proto__":{"x":"1"}}'],
    ["errEval", errEval("no such city"), '{"_err_eval":{"reason":"no such city"}}'],
    ["nothing", undefined, "result: expected an object with one variant, got nothing"],
    ["null", null, "result: expected an object with one variant, got null"],
    ["an array", [{ ok: {} }], "result: expected an object with one variant, got an array"],
    ["a number", 1, "result: expected an object with one variant, got a number"],
    ["a function", () => SECRET, "result: expected an object with one variant, got a function"],
    [
      "a promise that nobody awaited",
      Promise.resolve({}),
      "result: expected an object with one variant, got a Promise",
    ],
    ["a Map", new Map([["ok", {}]]), "result: expected an object with one variant, got a Map"],
    ["no variant", {}, "result: expected exactly one variant, got 0"],
    ["two variants", { ok: {}, empty: {} }, "result: expected exactly one variant, got 2"],
    ["another variant", { [SECRET]: {} }, another],
    ["another string", SECRET, another],
    ["a variant of Object.prototype", { constructor: {} }, another],
    ["the reserved variant", { _err_eval: { reason: "x" } }, another],
    ["the reserved variant as a string", "_err_eval", another],
    ["a string where ports are declared", "ok", "ok: expected an object with its ports"],
    ["an object where a string is declared", { done: {} }, "done: expected the string alone"],
    ["ports that are null", { ok: null }, "ok: expected an object with its ports, got null"],
    ["ports that are an array", { ok: ["x"] }, "ok: expected an object with its ports, got an array"],
    ["ports that are a promise", { ok: Promise.resolve({}) }, "ok: expected an object with its ports, got a Promise"],
    ["a port missing", { ok: { b: ["y"] } }, "ok.a: expected a string, got nothing"],
    ["a port of another kind", { ok: { a: 1, b: ["y"] } }, "ok.a: expected a string, got a number"],
    ["a many that is no array", { ok: { a: "x", b: "y" } }, "ok.b: expected an array, got a string"],
    ["a many of none", { ok: { a: "x", b: [] } }, "ok.b: expected 1 to 256 values, got 0"],
    ["a many of 257", { ok: { a: "x", b: Array(257).fill("y") } }, "ok.b: expected 1 to 256 values, got 257"],
    ["a many with a hole", { ok: { a: "x", b: new Array(2) } }, "ok.b[0]: expected a string, got nothing"],
    ["a many with another kind", { ok: { a: "x", b: ["y", 1] } }, "ok.b[1]: expected a string, got a number"],
    ["an errEval without text", new ErrEval(undefined as never), "_err_eval.reason: expected a string, got nothing"],
  ] as const) {
    it(`${what}: ${wanted}`, () => {
      assert.equal(encode(of, result), wanted);
    });
  }

  it("read getters of a class, and nothing of Object.prototype", () => {
    class Payload {
      get a() {
        return "x";
      }
      readonly b = ["y"];
    }
    assert.equal(encode(of, { ok: new Payload() }), '{"ok":{"a":"x","b":["y"],"c":null}}');
    const hostile = contract({
      name: "ok",
      ports: ["__proto__", "constructor", "toString", "1", "0"].map((name) => optional(name, JSON_ANY)),
    });
    const none = '{"ok":{"__proto__":null,"constructor":null,"toString":null,"1":null,"0":null}}';
    assert.equal(encode(hostile, { ok: {} }), none);
    assert.equal(encode(hostile, { ok: new Payload() }), none);
    assert.equal(encode(hostile, { ok: Object.create(null) }), none);
    const all = JSON.parse('{"0":0,"1":1,"toString":2,"constructor":3,"__proto__":4}') as object;
    assert.equal(encode(hostile, { ok: all }), '{"ok":{"__proto__":4,"constructor":3,"toString":2,"1":1,"0":0}}');
  });

  it("rethrow errors of custom code: they are not wire faults and not for the caller", () => {
    const throwing = {
      get ok(): unknown {
        throw new Error(SECRET);
      },
    };
    assert.throws(() => encode(of, throwing), new Error(SECRET));
    assert.throws(
      () => encode(contract({ name: "ok", ports: [one("a", JSON_ANY)] }), { ok: { a: throwing } }),
      new Error(SECRET),
    );
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    assert.throws(() => encode(of, { ok: proxy }), TypeError);
  });
});

it("a many port of a tuple omits absent optional items at its end", () => {
  const port = (items: Codec[], optional: number) =>
    contract({ name: "ok", ports: [{ ...many("b", JSON_ANY), list: { kind: "tuple", items, optional } }] });
  for (const [of, value, wanted] of [
    [port([STRING, STRING, STRING], 2), ["a", undefined], '{"ok":{"b":["a"]}}'],
    [port([STRING, STRING, STRING], 2), ["a", null, undefined], '{"ok":{"b":["a"]}}'],
    [port([STRING, STRING, STRING], 2), ["a", undefined, "c"], "ok.b[1]: expected a string, got nothing"],
    [port([STRING, JSON_ANY], 1), ["a", null], '{"ok":{"b":["a",null]}}'],
    [port([STRING], 1), [undefined], "ok.b: expected 1 to 256 values, got 0"],
  ] as const) {
    assert.equal(encode(of, { ok: { b: value } }), wanted);
  }
});

describe("values without a JSON form", () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const ring: unknown[] = [];
  ring.push(ring);
  const ORDERED = '{"10":2,"9":3,"b":1,"🦭":4,"\uffff":5}';
  const names = (count: number) => '["*"]'.repeat(count);
  for (const [what, value, wanted] of [
    ["NaN", Number.NaN, "expected a finite number, got NaN"],
    ["Infinity", Number.POSITIVE_INFINITY, "expected a finite number, got Infinity"],
    ["-Infinity", Number.NEGATIVE_INFINITY, "expected a finite number, got -Infinity"],
    ["-0", -0, "-0.0"],
    ["2^53", 2 ** 53, "9007199254740992.0"],
    ["1e21", 1e21, "1e+21"],
    ["1e-7", 1e-7, "1e-7"],
    ["5e-324", 5e-324, "5e-324"],
    ["1e16", 1e16, "1e+16"],
    ["-1", -1, "-1"],
    ["0.1", 0.1, "0.1"],
    ["2^64 as a bigint", 2n ** 64n, "expected an integer from -2^63 to 2^64-1, got one outside its range"],
    ["2^64-1 as a bigint", 2n ** 64n - 1n, "18446744073709551615"],
    ["-2^63 as a bigint", -(2n ** 63n), "-9223372036854775808"],
    ["-2^63-1 as a bigint", -(2n ** 63n) - 1n, "expected an integer from -2^63 to 2^64-1, got one outside its range"],
    ["a lone surrogate", `${SECRET}\ud800`, "expected well-formed text, got a lone surrogate"],
    [
      "a lone surrogate in a name",
      { [`${SECRET}\udfff`]: 1 },
      '["*"]: expected well-formed text, got a lone surrogate',
    ],
    ["a pair of surrogates", "\ud83e\uddad\u2028", '"🦭\u2028"'],
    ["a cycle", cycle, `${names(8)}…: expected at most 127 levels of nesting, got more (or a cycle)`],
    ["a cycle of arrays", ring, `${"[0]".repeat(8)}…: expected at most 127 levels of nesting, got more (or a cycle)`],
    ["a function", () => SECRET, "expected a JSON value, got a function"],
    ["a symbol", Symbol(SECRET), "expected a JSON value, got a symbol"],
    ["undefined", undefined, "expected a JSON value, got nothing"],
    ["undefined in an array", [1, undefined], "[1]: expected a JSON value, got nothing"],
    ["a hole in an array", new Array(1), "[0]: expected a JSON value, got nothing"],
    ["undefined as a member", { a: undefined, b: 1 }, '{"b":1}'],
    ["a function as a member", { [SECRET]: () => 1 }, '["*"]: expected a JSON value, got a function'],
    ["a Map", new Map([[SECRET, 1]]), "expected a JSON value, got a Map"],
    ["a Set", { a: new Set([1]) }, '["*"]: expected a JSON value, got a Set'],
    ["bytes", Uint8Array.of(1), "expected a JSON value, got bytes"],
    ["a DataView", new DataView(new ArrayBuffer(1)), "expected a JSON value, got bytes"],
    ["an ArrayBuffer", new ArrayBuffer(1), "expected a JSON value, got bytes"],
    ["a Promise", [Promise.resolve(1)], "[0]: expected a JSON value, got a Promise"],
    ["a Date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["an object with toJSON", { toJSON: () => ({ b: 1, a: [Number(1)] }) }, '{"a":[1],"b":1}'],
    [
      "an object whose toJSON gives itself",
      {
        a: 1,
        toJSON() {
          return { ...this, toJSON: undefined };
        },
      },
      '{"a":1}',
    ],
    ["toJSON of undefined", { toJSON: () => undefined }, "expected a JSON value, got nothing"],
    ["toJSON that is no function", { toJSON: 1 }, '{"toJSON":1}'],
    ["names by their code units", { b: 1, "10": 2, "9": 3, "🦭": 4, "\uffff": 5 }, ORDERED],
    [
      "a class instance",
      new (class {
        x = 1;
        #y = 2;
        get z() {
          return this.#y;
        }
      })(),
      '{"x":1}',
    ],
    ["an object without a prototype", Object.assign(Object.create(null) as object, { a: 1 }), '{"a":1}'],
    ["an own __proto__", JSON.parse('{"__proto__":1}'), '{"__proto__":1}'],
  ] as const) {
    it(`untyped: ${what}`, () => assert.equal(write(JSON_ANY, value), wanted));
  }

  it("127 levels are written, 128 refused, in any and in declared types", () => {
    const deep = (levels: number) => {
      let value: unknown[] = [];
      for (let i = 1; i < levels; i++) value = [value];
      return value;
    };
    const text = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    const definitions: Contract["definitions"] = [["loop", { kind: "array", item: { kind: "ref", name: "loop" } }]];
    for (const encoder of [new ValueEncoder(JSON_ANY), new ValueEncoder({ kind: "ref", name: "loop" }, definitions)]) {
      assert.equal(encoder.write(deep(127)), text(127));
      assert.throws(() => encoder.write(deep(128)), /at most 127 levels of nesting/);
      assert.throws(() => encoder.write(ring), /at most 127 levels of nesting/);
    }
  });

  const ANOTHER_YEAR = "expected a Date of the years 0 to 9999, got another year";
  const SPREAD: Codec = { kind: "tuple", items: [STRING], rest: BIGINT, tail: [STRING] };
  for (const [codec, value, wanted] of [
    [{ kind: "number" }, Number.NaN, "expected a finite number, got NaN"],
    [{ kind: "number" }, 1n, "expected a number, got an integer"],
    [{ kind: "number" }, "1", "expected a number, got a string"],
    [{ kind: "number", integer: true }, 1.5, "expected a safe integer, got a number"],
    [{ kind: "number", integer: true }, 2 ** 53, "expected a safe integer, got a number"],
    [{ kind: "number", integer: true }, -0, "0"],
    [BIGINT, 1, "expected a bigint, got a number"],
    [BIGINT, 2n ** 64n - 1n, "18446744073709551615"],
    [BIGINT, 2n ** 64n, "expected an integer from -2^63 to 2^64-1, got one outside its range"],
    [{ kind: "bigint", format: "int64" }, 2n ** 63n - 1n, "9223372036854775807"],
    [{ kind: "bigint", format: "int64" }, 2n ** 63n, "expected an int64 integer, got one outside its range"],
    [{ kind: "bigint", format: "int64" }, -(2n ** 63n), "-9223372036854775808"],
    [{ kind: "bigint", format: "int64" }, -(2n ** 63n) - 1n, "expected an int64 integer, got one outside its range"],
    [{ kind: "bigint", format: "uint64" }, 0n, "0"],
    [{ kind: "bigint", format: "uint64" }, -1n, "expected an uint64 integer, got one outside its range"],
    [{ kind: "date" }, new Date(Number.NaN), "expected a Date of the years 0 to 9999, got an invalid Date"],
    [{ kind: "number" }, Promise.resolve(1), "expected a number, got a Promise that was not awaited"],
    [{ kind: "date" }, new Date("+010000-01-01T00:00:00Z"), ANOTHER_YEAR],
    [{ kind: "date" }, new Date("-000001-12-31T23:59:59.999Z"), ANOTHER_YEAR],
    [{ kind: "date" }, new Date("0000-01-01T00:00:00Z"), '"0000-01-01T00:00:00.000Z"'],
    [{ kind: "date" }, "2024-01-01T00:00:00Z", "expected a Date, got a string"],
    [{ kind: "bytes" }, Uint8Array.of(0, 255), '"AP8="'],
    [{ kind: "bytes" }, new Uint8Array([9, 0, 255, 9]).subarray(1, 3), '"AP8="'],
    [{ kind: "bytes" }, [0, 255], "expected a Uint8Array, got an array"],
    [{ kind: "string" }, `${SECRET}\udc00`, "expected well-formed text, got a lone surrogate"],
    [{ kind: "string" }, '"\\/\u007f\b\u0000', '"\\"\\\\/\u007f\\b\\u0000"'],
    [{ kind: "boolean" }, 0, "expected a boolean, got a number"],
    [{ kind: "null" }, undefined, "null"],
    [{ kind: "null" }, 0, "expected null, got a number"],
    [{ kind: "literal", values: ["a", 1.5, 1e21, null, true] }, 1e21, "1e+21"],
    [{ kind: "literal", values: ["a", 1] }, SECRET, 'expected "a" or 1, got another string'],
    [{ kind: "array", item: STRING }, new Set(["a"]), "expected an array, got an object"],
    [{ kind: "array", item: STRING }, { length: 1, 0: "a" }, "expected an array, got an object"],
    [{ kind: "tuple", items: [STRING, BIGINT] }, ["a", 1n], '["a",1]'],
    [{ kind: "tuple", items: [STRING, BIGINT] }, ["a"], "expected an array of 2 items, got 1 items"],
    [{ kind: "tuple", items: [STRING, BIGINT] }, ["a", 1n, 2n], "expected an array of 2 items, got 3 items"],
    [{ kind: "tuple", items: [STRING, BIGINT], optional: 1 }, ["a", undefined], '["a",null]'],
    [SPREAD, ["a", 1n, 2n, "z"], '["a",1,2,"z"]'],
    [SPREAD, ["a", "y", "z"], "[1]: expected a bigint, got a string"],
    [{ kind: "object", members: [], rest: BIGINT }, { b: 1n, a: 2n, c: undefined }, '{"a":2,"b":1}'],
    [
      { kind: "object", members: [{ name: "z", codec: STRING }], rest: BIGINT },
      { b: 1n, a: 2n, z: "" },
      '{"z":"","a":2,"b":1}',
    ],
    [{ kind: "object", members: [], rest: BIGINT }, { [SECRET]: 1 }, '["*"]: expected a bigint, got a number'],
    [{ kind: "object", members: [], rest: BIGINT }, new Map([["a", 1n]]), "expected an object, got a Map"],
    [{ kind: "object", members: [], rest: BIGINT }, Uint8Array.of(1), "expected an object, got bytes"],
    [{ kind: "object", members: [] }, new Date(0), "expected an object, got a Date"],
    [{ kind: "union", branches: [STRING, BIGINT] }, 1, "expected a string or a bigint, got a number"],
  ] as readonly [Codec, unknown, string][]) {
    it(`${JSON.stringify(codec)}: ${wanted}`, () => assert.equal(write(codec, value), wanted));
  }

  it("use the branch that declares all members, even if that is any JSON value or a nested union", () => {
    const named: Codec = { kind: "object", members: [{ name: "a", optional: true, codec: STRING }] };
    const counted: Codec = { kind: "object", members: [{ name: "b", codec: BIGINT }] };
    const nested: Codec = { kind: "union", branches: [{ kind: "null" }, counted] };
    assert.equal(write({ kind: "union", branches: [named, { kind: "json" }] }, { b: 1 }), '{"b":1}');
    assert.equal(write({ kind: "union", branches: [named, nested] }, { b: 1n }), '{"b":1}');
  });

  it("use the branch that declares all members, through lists, tuples and definitions", () => {
    const named: Codec = { kind: "object", members: [{ name: "a", optional: true, codec: STRING }] };
    const other: Codec = { kind: "object", members: [{ name: "b", optional: true, codec: STRING }] };
    const definitions: Contract["definitions"] = [
      ["Named", named],
      ["Other", other],
    ];
    const written = (first: Codec, second: Codec, value: unknown) =>
      new ValueEncoder({ kind: "union", branches: [first, second] }, definitions).write(value);
    const ref = (name: string): Codec => ({ kind: "ref", name });
    assert.equal(written(ref("Named"), ref("Other"), { b: "x" }), '{"b":"x"}');
    assert.equal(written(named, ref("Other"), { b: "x" }), '{"b":"x"}');
    for (const list of [
      (item: Codec): Codec => ({ kind: "array", item }),
      (item: Codec): Codec => ({ kind: "tuple", items: [item] }),
    ]) {
      assert.equal(written(list(named), list(other), [{ b: "x" }]), '[{"b":"x"}]');
    }
  });

  it("encode a value once for each depth, however often it occurs", () => {
    const again: Codec = { kind: "ref", name: "again" };
    const branch = (name: string): Codec => ({
      kind: "object",
      members: [
        { name, optional: true, codec: STRING },
        { name: "c", optional: true, codec: again },
        { name: "d", optional: true, codec: { kind: "array", item: again } },
      ],
    });
    const union: Codec = { kind: "union", branches: [branch("x"), branch("y"), branch("z")] };
    let value: object = { other: 1 };
    // The number of ways doubles with each level; that of reads does not.
    let reads = 0;
    Object.defineProperty(value, "x", { enumerable: true, get: () => void reads++ });
    const levels = 10;
    for (let level = 0; level < levels; level++) value = { c: value, d: [value] };
    JSON.parse(new ValueEncoder(again, [["again", union]]).write(value));
    assert.ok(reads > 0 && reads <= 8 * levels, `${reads} reads`);
  });
});

describe("explicit results", () => {
  const ANY: Codec = { kind: "json" };
  const of = contract({ name: "ok", ports: [one("a", ANY), many("b", ANY)] }, { name: "done", text: true, ports: [] });
  const json = (text: string) => NexusData.one(NexusValue.json(text));
  const list = (...texts: string[]) => NexusData.many(texts.map((text) => NexusValue.json(text)));
  const ONE = json("1");
  const objects = NexusData.many([NexusValue.object("0x1"), NexusValue.object("0x1")]);
  const stored = NexusValue.walrus("A".repeat(43), Buffer.alloc(32));
  const from = (tag: string, ...ports: [string, NexusData][]) => OffchainToolOutput.fromPorts(tag, ports);

  // The others: test/runtime/invoke-results.test.ts.
  for (const [what, result, wanted] of [
    ["a many of one for a one", from("ok", ["a", list("1")], ["b", list("2")]), '{"ok":{"a":1,"b":[2]}}'],
    [
      "stored values",
      from("ok", ["a", NexusData.one(stored)], ["b", NexusData.many([stored, NexusValue.json("1")])]),
      `{"ok":{"a":${STORED_JSON},"b":[${STORED_JSON},1]}}`,
    ],
    ["a variant without ports", from("done"), '"done"'],
    ["a port twice", from("ok", ["a", ONE], ["a", ONE]), "ok.b: expected this port at place 2, got another"],
    ["ports of a variant that has none", from("done", ["a", ONE]), "done: expected 0 ports, got 1"],
    ["objects in a many", from("ok", ["a", ONE], ["b", objects]), "ok.b: expected data, got object ids"],
    ["a failure without its port", from("_err_eval"), "_err_eval: expected 1 ports, got 0"],
    [
      "a stored failure",
      from("_err_eval", ["reason", NexusData.one(stored)]),
      "_err_eval.reason: expected inline data, got a reference",
    ],
  ] as const) {
    it(`${what}: ${wanted}`, () => {
      assert.equal(encode(of, result), wanted);
    });
  }

  it("have the types of a tuple's places, as plain results have", () => {
    const places: Codec = { kind: "tuple", items: [BIGINT, STRING], optional: 1, rest: BIGINT };
    const tuple = contract({ name: "ok", ports: [{ ...many("b", JSON_ANY), list: places }] });
    for (const [value, wanted] of [
      [[1n, "a", 2n], '{"ok":{"b":[1,"a",2]}}'],
      [[1n], '{"ok":{"b":[1]}}'],
      [["a", 1n], "ok.b[0]: expected a"],
      [[1n, "a", "b"], "ok.b[2]: expected a"],
    ] as const) {
      const texts = value.map((each) => (typeof each === "bigint" ? `${each}` : JSON.stringify(each)));
      for (const result of [{ ok: { b: value } }, from("ok", ["b", list(...texts)])]) {
        assert.ok(encode(tuple, result).startsWith(wanted), `${encode(tuple, result)}: ${wanted}`);
      }
    }
    assert.ok(encode(tuple, from("ok", ["b", list("1", "null")])).startsWith("ok.b[1]: expected a string, got null"));
    const pair = contract({ name: "ok", ports: [{ ...many("b"), list: { kind: "tuple", items: [STRING, STRING] } }] });
    const three = "ok.b: expected an array of 2 items, got 3 items";
    assert.equal(encode(pair, { ok: { b: ["a", "b", "c"] } }), three);
    assert.equal(encode(pair, from("ok", ["b", list('"a"', '"b"', '"c"')])), three);
  });

  it("have the same bytes as the plain result", () => {
    const encoder = new OutputEncoder(of);
    assert.deepEqual(
      resultBytes(encoder.encode(from("ok", ["a", json('"x"')], ["b", list('"y"')]))),
      resultBytes(encoder.encode({ ok: { b: ["y"], a: "x" } })),
    );
  });

  it("contain only valid values, even if custom code created them", () => {
    assert.throws(() => new InlineValue(Buffer.alloc(MAX_INLINE_BYTES + 1)), /at most 61440 bytes, got 61441/);
    for (const forged of [
      { kind: "inline", bytes: Buffer.alloc(MAX_INLINE_BYTES + 1, 0x20) },
      { kind: "object", id: Buffer.alloc(5) },
      { kind: "walrus", blobId: Buffer.alloc(200), contentDigest: Buffer.alloc(32) },
      { kind: "other" },
      null,
    ]) {
      assert.throws(() => NexusData.one(forged as never), /value: expected NexusValue.json\(…\), got /);
      assert.throws(() => NexusData.many([forged as never]), /value: expected NexusValue.json\(…\), got /);
    }
  });
});

describe("ports that accept stored data", () => {
  const held = (port: Port): Port => ({ ...port, held: true });
  const list: Codec = { kind: "array", item: STRING };
  const of = contract({
    name: "ok",
    ports: [held(one("a")), held(many("b", BIGINT)), held(optional("c", list)), one("d", JSON_ANY)],
  });
  const stored = NexusValue.walrus("A".repeat(43), Buffer.alloc(32, 1), 7);
  const other = NexusValue.walrus("B".repeat(42).concat("A"), Buffer.alloc(32, 2));
  const id = NexusValue.object("1");
  const blob = { nexusValue: () => stored };
  const rest = { a: "x", b: [1n], d: 0 };
  const kinds = (result: unknown) =>
    new OutputEncoder(of)
      .encode({ ok: result })
      .ports.map(({ name, values }) => [
        name,
        ...values.map((value) => (value.kind === "inline" ? Buffer.from(value.bytes).toString() : value)),
      ]);

  it("accept references and inline values, also mixed in a list", () => {
    assert.deepEqual(kinds({ a: blob, b: [1n, blob, other, NexusData.one(stored), 2n], c: blob, d: 0 }), [
      ["a", stored],
      ["b", "1", stored, other, stored, "2"],
      ["c", stored],
      ["d", "0"],
    ]);
    assert.deepEqual(kinds({ ...rest, a: NexusValue.json('"y"'), c: ["z"] }), [
      ["a", '"y"'],
      ["b", "1"],
      ["c", '["z"]'],
      ["d", "0"],
    ]);
    assert.deepEqual(kinds(rest)[2], ["c", "null"]);
  });

  it("have the bytes of the explicit result", () => {
    const encoder = new OutputEncoder(of);
    const explicit = OffchainToolOutput.fromPorts("ok", [
      ["a", NexusData.one(stored)],
      ["b", NexusData.many([NexusValue.json("1"), other])],
      ["c", NexusData.one(NexusValue.json("null"))],
      ["d", NexusData.one(NexusValue.json("0"))],
    ]);
    const plain = encoder.encode({ ok: { a: blob, b: [1n, other], d: 0 } });
    assert.deepEqual(resultBytes(plain), resultBytes(encoder.encode(explicit)));
    assert.equal(resultJson(plain), resultJson(encoder.encode(explicit)));
  });

  for (const [what, value, wanted] of [
    ["another type", { ...rest, a: 1 }, "ok.a: expected a string, got a number"],
    ["another type in a list", { ...rest, b: [blob, SECRET] }, "ok.b[1]: expected a bigint, got a string"],
    ["no value", { ...rest, a: undefined }, "ok.a: expected a string, got nothing"],
    ["an object id", { ...rest, a: id }, "ok.a: expected data, got an object id"],
    ["an object id in NexusData", { ...rest, b: [1n, NexusData.one(id)] }, "ok.b[1]: expected data, got an object id"],
    [
      "several values for one",
      { ...rest, a: NexusData.many([stored, stored]) },
      "ok.a: NexusData: expected one value, got 2",
    ],
    ["a list that is none", { ...rest, b: blob }, "ok.b: expected an array, got an object"],
    [
      "what only looks like a value",
      { ...rest, a: { nexusValue: () => ({ kind: "walrus", blobId: SECRET }) } },
      "ok.a: expected nexusValue() to give a NexusValue",
    ],
    ["a reference in another port", { ...rest, d: stored.nexusValue }, "ok.d: expected a JSON value, got a function"],
    ["none of a list", { ...rest, b: [] }, "ok.b: expected 1 to 256 values, got 0"],
    ["257 of a list", { ...rest, b: Array(257).fill(blob) }, "ok.b: expected 1 to 256 values, got 257"],
    [
      "an inline value one byte too long",
      { ...rest, a: "x".repeat(MAX_INLINE_BYTES - 1) },
      "ok.a: at most 61440 bytes in a value, got 61441: store it and return its reference",
    ],
  ] as const) {
    it(`refuse ${what}`, () => assert.equal(encode(of, { ok: value }), wanted));
  }

  it("accept 256 references, and count their sizes towards the budget", () => {
    assert.match(encode(of, { ok: { ...rest, b: Array(MAX_VALUES).fill(blob) } }), /"b":\[\{"kind":"walrus",/);
    const sized = (size: number) => NexusValue.walrus("A".repeat(43), Buffer.alloc(32), size);
    // Beside it: `1`, `null` and `0`.
    assert.match(encode(of, { ok: { ...rest, a: sized(OUTPUT_BUDGET - 6) } }), STORED);
    assert.equal(
      encode(of, { ok: { ...rest, a: sized(OUTPUT_BUDGET - 5) } }),
      "result: at most 8388608 bytes over all ports, got 8388609",
    );
  });

  it("rethrow errors of custom code", () => {
    const broken = {
      nexusValue: () => {
        throw new Error("custom");
      },
    };
    assert.throws(() => new OutputEncoder(of).encode({ ok: { ...rest, a: broken } }), /^Error: custom$/);
  });
});

describe("the text of one value", () => {
  const encoder = new OutputEncoder(contract({ name: "ok", ports: [one("a"), many("b", BIGINT), optional("c")] }));
  it("is the inline text, of any length", () => {
    assert.equal(encoder.text("ok", "b", 7n), "7");
    assert.equal(encoder.text("ok", "c", undefined), "null");
    assert.equal(encoder.text("ok", "a", "x".repeat(100_000)).length, 100_002);
    for (const [tag, port, value, wanted] of [
      ["ok", "a", 1, "ok.a: expected a string, got a number"],
      ["ok", "d", 1, "ok.d: the tool has no such output port"],
      ["no", "a", 1, "no.a: the tool has no such output port"],
    ] as const) {
      assert.throws(() => encoder.text(tag, port, value), { details: wanted });
    }
  });
});
