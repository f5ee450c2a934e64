import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Codec, Contract, Port } from "#client/wire/codec/contract.js";
import { ValueDecoder } from "#client/wire/codec/decoder.js";
import { WireFault } from "#client/wire/fault.js";
import { InputDecoder } from "#runtime/server/wire/input.js";
import { proves } from "../proves.js";
import { contractWith, object } from "./codecs.js";

const CANARY = "CANARY_7f3a";

const MAX = 2 ** 53 - 1;

/** What a text is read as: a value, or the fault's details. */
function read(codec: Codec, text: string, definitions?: Contract["definitions"]): unknown {
  try {
    return new ValueDecoder(codec, definitions).read(Buffer.from(text));
  } catch (error) {
    assert.ok(error instanceof WireFault, String(error));
    assert.equal(error.code, "input_deserialization_error");
    assert.ok(!error.message.includes(CANARY), error.message);
    return error.details;
  }
}

const fails = (codec: Codec, text: string, details: string, definitions?: Contract["definitions"]) =>
  it(`${JSON.stringify(codec).slice(0, 80)} of ${text.slice(0, 60)}: ${details}`, () => {
    assert.equal(read(codec, text, definitions), details);
  });
const gives = (codec: Codec, text: string, value: unknown, definitions?: Contract["definitions"]) =>
  it(`${JSON.stringify(codec).slice(0, 80)} of ${text.slice(0, 60)}`, () => {
    assert.deepEqual(read(codec, text, definitions), value);
  });

const STRING: Codec = { kind: "string" };
const NUMBER: Codec = { kind: "number" };
const INTEGER: Codec = { kind: "number", integer: true };
const BIGINT: Codec = { kind: "bigint" };
const INT64: Codec = { kind: "bigint", format: "int64" };
const UINT64: Codec = { kind: "bigint", format: "uint64" };

describe("numbers", () => {
  const doubles = `
    0 -1 1.5 1e3 -0.0 1e-320 9007199254740991 -9007199254740991 1e300 9007199254740993.0 18446744073709551616.0
    1.8446744073709551616e19 123456789012345678901e0 -1234567890.12345678901`;
  for (const text of doubles.trim().split(/\s+/)) {
    gives(NUMBER, text, Number(text));
  }
  it("a number keeps the sign of zero", () => assert.ok(Object.is(read(NUMBER, "-0"), -0)));
  const far = `
    9007199254740992 -9007199254740992 9223372036854775807 18446744073709551615 -9223372036854775808
    18446744073709551616 -9223372036854775809 123456789012345678901`;
  for (const text of [...far.trim().split(/\s+/), "1".padEnd(300, "0"), `-${"9".repeat(300)}`]) {
    fails(NUMBER, text, "expected a number within +/-(2^53-1), got an integer beyond it");
    fails(INTEGER, text, "expected a number within +/-(2^53-1), got an integer beyond it");
  }
  // serde_json reads it as the largest double, JavaScript rounds up and out of the range.
  fails(NUMBER, "0.179769313486231581e309", "expected a number within the range of doubles, got one beyond it");
  for (const text of ['"1"', "null", "true", "[]", "{}"]) {
    const got = { '"1"': "a string", null: "null", true: "a boolean", "[]": "an array", "{}": "an object" }[text];
    fails(NUMBER, text, `expected a number, got ${got}`);
    fails(INTEGER, text, `expected an integer within +/-(2^53-1), got ${got}`);
    fails(BIGINT, text, `expected an integer, got ${got}`);
  }
  for (const text of ["0", "-7", "9007199254740991"]) gives(INTEGER, text, Number(text));
  for (const text of ["1.0", "1e3", "-0", "1.5"]) {
    fails(INTEGER, text, "expected an integer within +/-(2^53-1), got a number with a point or exponent, such as 1.0");
  }
});

describe("bigints", () => {
  const outside = (codec: Codec, name: string, ...texts: string[]) => {
    for (const text of texts) fails(codec, text, `expected ${name}, got an integer outside its range`);
  };
  for (const text of ["0", "-1", "9007199254740993", "9223372036854775807", "-9223372036854775808"]) {
    gives(BIGINT, text, BigInt(text));
    gives(INT64, text, BigInt(text));
  }
  for (const text of ["9223372036854775808", "18446744073709551615"]) {
    gives(BIGINT, text, BigInt(text));
    gives(UINT64, text, BigInt(text));
  }
  gives(UINT64, "0", 0n);
  const beyond = ["18446744073709551616", "-9223372036854775809", "123456789012345678901"];
  outside(BIGINT, "an integer from -2^63 to 2^64-1", ...beyond);
  outside(INT64, "an int64 integer", "9223372036854775808", "18446744073709551615", ...beyond);
  outside(UINT64, "an uint64 integer", "-1", "-9007199254740993", "-9223372036854775808", ...beyond);
  for (const codec of [BIGINT, INT64, UINT64]) {
    // With a point, with an exponent, minus zero: doubles.
    for (const text of ["1.0", "1e3", "-0", "0.5", "1E0"]) {
      fails(codec, text, "expected an integer, got a number with a point or exponent, such as 1.0");
    }
    for (const text of ["9007199254740993.0", "1e40"]) {
      const got = "got a double beyond +/-(2^53-1): send all digits, in JavaScript a bigint";
      fails(codec, text, `expected an integer, ${got}`);
    }
    fails(codec, '"1"', "expected an integer, got a string");
  }
  it("distinguish integers from doubles everywhere", () => {
    const codec: Codec = { kind: "array", item: object({ a: BIGINT, b: { kind: "array", item: BIGINT } }) };
    assert.equal(
      read(codec, '[{"a":1,"b":[1,2]},{"a":1,"b":[1,2.0]}]'),
      "[1].b[1]: expected an integer, got a number with a point or exponent, such as 1.0",
    );
    assert.equal(
      read(codec, '[{"a":1.0,"b":[]}]'),
      "[0].a: expected an integer, got a number with a point or exponent, such as 1.0",
    );
    assert.deepEqual(
      read(codec, '[{"a":1.0,"a":1,"b":[]}]'),
      [{ a: 1n, b: [] }],
      "only the last of a repeated member counts",
    );
    assert.equal(
      read(codec, '[{"a":1,"a":1.0,"b":[]}]'),
      "[0].a: expected an integer, got a number with a point or exponent, such as 1.0",
    );
  });
});

describe("dates", () => {
  const DATE: Codec = { kind: "date" };
  for (const [text, iso] of [
    ["2024-02-29T12:00:00Z", "2024-02-29T12:00:00.000Z"],
    ["2024-02-29t12:00:00z", "2024-02-29T12:00:00.000Z"],
    ["2024-02-29T12:00:00.5Z", "2024-02-29T12:00:00.500Z"],
    ["2024-02-29T12:00:00.123999999999Z", "2024-02-29T12:00:00.123Z"],
    ["2024-12-31T23:59:59+14:00", "2024-12-31T09:59:59.000Z"],
    ["2024-01-01T00:00:00-00:00", "2024-01-01T00:00:00.000Z"],
    ["2024-01-01T00:30:00+00:45", "2023-12-31T23:45:00.000Z"],
    ["0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"],
    ["0000-02-29T00:00:00Z", "0000-02-29T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
    ["2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"],
  ] as const) {
    it(`${text} is ${iso}`, () => {
      const date = read(DATE, JSON.stringify(text));
      assert.ok(date instanceof Date, String(date));
      assert.equal(date.toISOString(), iso);
    });
  }
  const days = `
    2023-02-29T00:00:00Z 1900-02-29T00:00:00Z 2024-04-31T00:00:00Z 2024-00-01T00:00:00Z 2024-13-01T00:00:00Z
    2024-01-00T00:00:00Z 2024-01-32T00:00:00Z 2024-01-01T24:00:00Z 2024-01-01T00:60:00Z 2024-01-01T23:59:60Z
    2024-01-01 2024-01-01T00:00Z 2024-01-01T00:00:00 2024-1-1T00:00:00Z 2024-01-01T00:00:00.Z
    2024-01-01T00:00:00+24:00 2024-01-01T00:00:00+0100 2024-01-01T00:00:00+01 +002024-01-01T00:00:00Z
    -2024-01-01T00:00:00Z 12024-01-01T00:00:00Z ２０２４-01-01T00:00:00Z 2024-01-01T00:00:00,5Z 2024-W01-1T00:00:00Z
    2024-001T00:00:00Z 9999-12-31T23:59:59-01:00 0000-01-01T00:00:00+01:00`;
  for (const text of [
    ...days.trim().split(/\s+/),
    "2024-01-01 00:00:00Z",
    "2024-01-01T00:00:00Z ",
    " 2024-01-01T00:00:00Z",
    "2024-01-01T00:00:00Z\n",
    "",
    CANARY,
  ]) {
    fails(
      DATE,
      JSON.stringify(text),
      "expected an RFC 3339 date-time with an offset, such as 2026-01-31T12:00:00Z, got a string",
    );
  }
  fails(
    DATE,
    "1704067200000",
    "expected an RFC 3339 date-time with an offset, such as 2026-01-31T12:00:00Z, got a number",
  );
});

describe("bytes", () => {
  const BYTES: Codec = { kind: "bytes" };
  gives(BYTES, '""', new Uint8Array());
  gives(BYTES, '"AP8="', Uint8Array.of(0, 255));
  gives(BYTES, '"A\\u0050\\/v"', Uint8Array.of(0, 255, 239));
  for (const text of ["AP8", "AP9=", "AP8=\n", "_-8=", "AP8==", "A===", CANARY]) {
    fails(BYTES, JSON.stringify(text), "expected standard base64 with padding, got a string");
  }
  fails(BYTES, "[1,2]", "expected standard base64 with padding, got an array");
  it("have a separate buffer without bytes of other requests", () => {
    for (const length of [0, 1, 100, 5000]) {
      const value = read(BYTES, JSON.stringify(Buffer.alloc(length, 1).toString("base64")));
      assert.ok(value instanceof Uint8Array && !Buffer.isBuffer(value));
      assert.equal(value.buffer.byteLength, length);
    }
  });
});

describe("literals, booleans, null, strings", () => {
  const mixed: Codec = { kind: "literal", values: ["a", 1, true, null] };
  for (const value of ["a", 1, true, null]) gives(mixed, JSON.stringify(value), value);
  gives(mixed, "1.0", 1);
  for (const [text, got] of [
    ['"b"', "another string"],
    ["2", "another number"],
    ["false", "another boolean"],
    ["[]", "an array"],
    ["9007199254740993", "an integer"],
  ] as const) {
    fails(mixed, text, `expected "a" or 1 or true or null, got ${got}`);
  }
  fails({ kind: "literal", values: ["a"] }, JSON.stringify(CANARY), 'expected "a", got another string');
  gives({ kind: "boolean" }, "false", false);
  fails({ kind: "boolean" }, "0", "expected a boolean, got a number");
  gives({ kind: "null" }, "null", null);
  fails({ kind: "null" }, "false", "expected null, got a boolean");
  gives(STRING, '"\\u0000é🦭"', "\u0000é🦭");
  fails(STRING, "null", "expected a string, got null");
});

describe("objects", () => {
  const codec = object({ a: STRING, b: NUMBER, c: STRING }, "b", "c");
  gives(codec, '{"a":"x"}', { a: "x" });
  gives(codec, '{"c":null,"b":null,"a":"x"}', { a: "x" });
  gives(codec, '{"c":"","b":0,"a":"x","unknown":[]}', { a: "x", b: 0, c: "" });
  fails(codec, "{}", "a: expected a value, got nothing");
  fails(codec, '{"a":null}', "a: expected a string, got null");
  fails(codec, '{"a":"x","b":"1"}', "b: expected a number, got a string");
  fails(codec, "[]", "expected an object, got an array");
  fails(codec, "null", "expected an object, got null");

  const hostile = object(
    { constructor: STRING, toString: STRING, "0": STRING, "": STRING, 'a"b': STRING },
    "constructor",
    "toString",
  );
  // An absent member that every object inherits is an own `undefined`.
  const inherited = { constructor: undefined, toString: undefined };
  gives(hostile, '{"0":"z","":"e","a\\"b":"q"}', { "0": "z", "": "e", 'a"b': "q", ...inherited });
  fails(hostile, '{"":"e","a\\"b":"q"}', '["0"]: expected a value, got nothing');
  fails(hostile, '{"0":"z","":"e","a\\"b":1}', '["a\\"b"]: expected a string, got a number');

  it("have the declared members, in the order of their declaration", () => {
    const codec = object({ a: STRING, b: BIGINT, c: { kind: "array", item: object({ d: STRING }, "d") } }, "b");
    const shown = (text: string) =>
      JSON.stringify(read(codec, text), (_, value) => (typeof value === "bigint" ? `${value}n` : value));
    assert.equal(shown('{"a":"x","c":[{},{"d":"y"}]}'), '{"a":"x","c":[{},{"d":"y"}]}');
    assert.equal(shown('{"a":"x","b":1,"c":[{"d":"y"}]}'), '{"a":"x","b":"1n","c":[{"d":"y"}]}');
    assert.equal(shown('{"c":[],"a":"x"}'), '{"a":"x","c":[]}');
    assert.equal(shown('{"a":"x","b":null,"c":[{"d":null}]}'), '{"a":"x","c":[{}]}');
    assert.equal(shown('{"a":"x","c":[{"d":"y"},{"d":"z","e":1}],"e":1}'), '{"a":"x","c":[{"d":"y"},{"d":"z"}]}');
  });

  const proto: Codec = {
    kind: "object",
    members: [{ name: "__proto__", optional: true, codec: object({ x: NUMBER }) }],
  };
  it("__proto__ is a member like any other", () => {
    assert.deepEqual(Object.keys(read(proto, '{"__proto__":{"x":1}}') as object), ["__proto__"]);
    assert.equal(Object.getPrototypeOf(read(proto, '{"__proto__":{"x":1}}')), Object.prototype);
    assert.equal(Reflect.get(read(proto, "{}") as object, "__proto__"), undefined);
    assert.equal(read(proto, '{"__proto__":{"x":""}}'), "__proto__.x: expected a number, got a string");
    assert.equal(({} as { x?: unknown }).x, undefined);
  });

  const record: Codec = { kind: "object", members: [{ name: "id", codec: NUMBER }], rest: BIGINT };
  gives(record, '{"b":2,"id":1,"a":3}', { id: 1, b: 2n, a: 3n });
  fails(record, `{"id":1,"${CANARY}":"x"}`, '["*"]: expected an integer, got a string');
  fails(
    { kind: "object", members: [], rest: object({ x: NUMBER }) },
    `{"${CANARY}":{"x":true}}`,
    '["*"].x: expected a number, got a boolean',
  );
});

describe("arrays and tuples", () => {
  const list: Codec = { kind: "array", item: STRING };
  gives(list, "[]", []);
  gives(list, '["a","b"]', ["a", "b"]);
  fails(list, '["a",1]', "[1]: expected a string, got a number");
  fails(list, '{"0":"a"}', "expected an array, got an object");

  const pair: Codec = { kind: "tuple", items: [STRING, BIGINT] };
  gives(pair, '["a",1]', ["a", 1n]);
  for (const text of ["[]", '["a"]', '["a",1,2]']) {
    fails(pair, text, `expected an array of 2 items, got ${(JSON.parse(text) as unknown[]).length} items`);
  }
  fails(pair, '["a",1.0]', "[1]: expected an integer, got a number with a point or exponent, such as 1.0");
  fails(pair, '{"length":2}', "expected an array, got an object");

  const optional: Codec = { kind: "tuple", items: [STRING, NUMBER, NUMBER], optional: 2 };
  gives(optional, '["a"]', ["a"]);
  gives(optional, '["a",null,2]', ["a", undefined, 2]);
  fails(optional, "[]", "expected an array of 1 to 3 items, got 0 items");
  fails(optional, "[null]", "[0]: expected a string, got null");

  const spread: Codec = { kind: "tuple", items: [STRING], rest: NUMBER, tail: [{ kind: "boolean" }, STRING] };
  gives(spread, '["a",true,"z"]', ["a", true, "z"]);
  gives(spread, '["a",1,2,true,"z"]', ["a", 1, 2, true, "z"]);
  fails(spread, '["a","z"]', "expected an array of 3 or more items, got 2 items");
  fails(spread, '["a",1,true,true,"z"]', "[2]: expected a number, got a boolean");
  fails(spread, '["a",1,"z","z"]', "[2]: expected a boolean, got a string");
});

describe("unions", () => {
  const mixed: Codec = { kind: "union", branches: [STRING, BIGINT, { kind: "null" }] };
  gives(mixed, '"x"', "x");
  gives(mixed, "9007199254740993", 9007199254740993n);
  gives(mixed, "null", null);
  fails(mixed, "true", "expected a string or an integer or null, got a boolean");

  const shape: Codec = {
    kind: "union",
    branches: [
      object({ kind: { kind: "literal", values: ["circle"] }, radius: NUMBER }),
      object({ kind: { kind: "literal", values: ["line"] }, from: object({ x: NUMBER, y: NUMBER }) }),
      object({ kind: { kind: "literal", values: ["text", "note"] }, text: STRING }),
    ],
  };
  gives(shape, '{"kind":"circle","radius":1}', { kind: "circle", radius: 1 });
  // The branch that the discriminating member names is the one that is explained.
  fails(shape, '{"kind":"circle","radius":"1"}', "radius: expected a number, got a string");
  fails(shape, '{"kind":"line","from":{"x":1,"y":"2"}}', "from.y: expected a number, got a string");
  fails(shape, '{"kind":"line"}', "from: expected a value, got nothing");
  fails(shape, '{"text":1,"kind":"note"}', "text: expected a string, got a number");
  fails(shape, `{"kind":"${CANARY}"}`, 'kind: expected "circle" or "line" or "text" or "note", got another string');
  fails(shape, '{"kind":null,"radius":1}', 'kind: expected "circle" or "line" or "text" or "note", got null');
  fails(shape, "{}", "kind: expected a value, got nothing");
  fails(shape, "[]", "expected an object, got an array");
  fails({ kind: "union", branches: [STRING, shape] }, "{}", "kind: expected a value, got nothing");
  fails({ kind: "union", branches: [STRING, shape] }, "1", "expected a string or an object, got a number");

  // Without such a member the branch that went deepest is.
  const nested: Codec = {
    kind: "union",
    branches: [object({ a: STRING }), object({ a: object({ b: { kind: "array", item: NUMBER } }) })],
  };
  fails(nested, '{"a":{"b":[1,"x"]}}', "a.b[1]: expected a number, got a string");
  fails(nested, '{"a":1}', "a: expected a string or an object, got a number");

  const list: Codec = {
    kind: "union",
    branches: [
      { kind: "array", item: STRING },
      { kind: "array", item: NUMBER },
    ],
  };
  gives(list, "[]", []);
  gives(list, "[1,2]", [1, 2]);
  fails(list, '[1,2,"x"]', "[0]: expected a string, got a number");
});

describe("definitions", () => {
  const definitions: Contract["definitions"] = [
    ["tree", object({ value: BIGINT, children: { kind: "array", item: { kind: "ref", name: "tree" } } }, "children")],
    ["loop", { kind: "array", item: { kind: "ref", name: "loop" } }],
  ];
  gives(
    { kind: "ref", name: "tree" },
    '{"value":1,"children":[{"value":2}]}',
    { value: 1n, children: [{ value: 2n }] },
    definitions,
  );
  fails(
    { kind: "ref", name: "tree" },
    '{"value":1,"children":[{"value":2,"children":[{"value":"x"}]}]}',
    "children[0].children[0].value: expected an integer, got a string",
    definitions,
  );
  it("may be nested as deeply as JSON", () => {
    const text = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    assert.ok(Array.isArray(read({ kind: "ref", name: "loop" }, text(127), definitions)));
    assert.equal(
      read({ kind: "ref", name: "loop" }, text(128), definitions),
      "not JSON: more than 127 levels of nesting at byte 127",
    );
  });
  it("must be there", () => {
    assert.throws(
      () => new ValueDecoder({ kind: "ref", name: "nowhere" }),
      /a codec refers to the definition "nowhere", which does not exist/,
    );
  });
});

describe("any JSON", () => {
  gives({ kind: "json" }, '[1,9007199254740993,1.0,-0,{"a":null}]', [1, 9007199254740993n, 1, -0, { a: null }]);
  gives({ kind: "json" }, "-9223372036854775808", -(2n ** 63n));
  gives({ kind: "json" }, "18446744073709551616", 2 ** 64);
  gives({ kind: "json" }, String(MAX), MAX);
  fails({ kind: "json" }, CANARY, "not JSON: expected a value at byte 0");
});

const contract = (input: readonly Port[]) => contractWith({ input });

function unsigned(of: Contract, text: string): unknown {
  try {
    return new InputDecoder(of).decodeUnsigned(Buffer.from(text));
  } catch (error) {
    assert.ok(error instanceof WireFault, String(error));
    assert.ok(!error.message.includes(CANARY), error.message);
    return error.details;
  }
}

const signed = (of: Contract, ...texts: string[][]): unknown => {
  try {
    return new InputDecoder(of).decodeSigned(
      texts.map((items) => items.map((text) => ({ document: undefined, bytes: Buffer.from(text) }))),
    );
  } catch (error) {
    assert.ok(error instanceof WireFault, String(error));
    return error.details;
  }
};

describe("objects with many names", () => {
  const names = Array.from({ length: 20 }, (_, i) => `name${i + 10}`);
  const codec = object(Object.fromEntries(names.map((name) => [name, NUMBER])));
  const entries = (...more: string[]) => `{${[...names.map((name, i) => `"${name}":${i}`), ...more].join(",")}}`;
  const values = Object.fromEntries(names.map((name, i) => [name, i]));
  gives(codec, entries(), values);
  gives(codec, entries('"another":"x"', '"othe":"x"', '"other6":"x"', '"n\\u0061me99":"x"'), values);
  gives(codec, entries().replaceAll("name", "n\\u0061me"), values);
  gives(codec, `{${names.map((name, i) => `"${name}":${i}`).reverse()}}`, values);
  fails(codec, entries().replace("name29", "name99"), "name29: expected a value, got nothing");
});

describe("ports", () => {
  const of = contract([
    { name: "id", many: false, codec: BIGINT },
    { name: "tags", many: true, codec: STRING },
    { name: "note", many: false, optional: true, codec: STRING },
    { name: "2", many: false, optional: true, codec: { kind: "json" } },
  ]);

  it("signed: an absent optional input arrives as null, and the tool sees undefined", () => {
    assert.deepEqual(signed(of, ["1"], ['"a"'], ["null"], ["null"]), { id: 1n, tags: ["a"] });
    assert.deepEqual(signed(of, ["1"], ['"a"', '"b"'], ['"n"'], ["[]"]), {
      id: 1n,
      tags: ["a", "b"],
      note: "n",
      "2": [],
    });
  });
  for (const [texts, details] of [
    [[["null"], ['"a"'], ["null"], ["null"]], "id: expected a value, got nothing"],
    [[["1"], ['"a"', "1"], ["null"], ["null"]], "tags[1]: expected a string, got a number"],
    [[["1"], ["[]"], ["null"], ["null"]], "tags[0]: expected a string, got an array"],
    [[["1"], ['"a"'], ["1"], ["null"]], "note: expected a string, got a number"],
    [[["1"], ['"a"'], ["null"], ["x"]], '["2"]: not JSON: expected a value at byte 0'],
    [[["1"], ['"a"', "x"], ["null"], ["null"]], "tags[1]: not JSON: expected a value at byte 0"],
    [[["1 "], ['"a"'], ["null "], [" null"]], { id: 1n, tags: ["a"] }],
  ] as const) {
    it(`signed: ${JSON.stringify(texts)}`, () => {
      assert.deepEqual(signed(of, ...(texts as unknown as string[][])), details);
    });
  }

  for (const [text, wanted] of [
    ['{"id":1,"tags":["a"]}', { id: 1n, tags: ["a"] }],
    ['{"tags":["a"],"note":null,"id":1,"2":null}', { id: 1n, tags: ["a"] }],
    [`{"id":1,"tags":["a"],"${CANARY}":1,"${CANARY}":2}`, { id: 1n, tags: ["a"] }],
    ['{"id":1,"tags":["a"],"2":{"x":1,"x":2}}', { id: 1n, tags: ["a"], "2": { x: 2 } }],
    ["{}", "id: expected a value, got nothing"],
    ['{"id":1}', "tags: expected a value, got nothing"],
    ['{"id":1,"tags":null}', "tags: expected a value, got nothing"],
    ['{"id":1,"tags":"a"}', "tags: expected an array, got a string"],
    ['{"id":1,"tags":["a",2]}', "tags[1]: expected a string, got a number"],
    ['{"id":1,"tags":["a"],"id":1}', "id: expected the member once, got it twice"],
    ['{"id":1,"tags":["a"],"i\\u0064":1}', "id: expected the member once, got it twice"],
    ['{"id":1,"tags":["a"],"note":null,"note":null}', "note: expected the member once, got it twice"],
    ['{"id":1.0,"tags":["a"]}', "id: expected an integer, got a number with a point or exponent, such as 1.0"],
    ["[]", "body: expected an object"],
    ["null", "body: expected an object"],
    ["", "body: not JSON: unexpected end of the text at byte 0"],
    [`{"id":1} ${CANARY}`, "body: not JSON: text after the document at byte 9"],
  ] as const) {
    it(`unsigned: ${text}`, () => assert.deepEqual(unsigned(of, text), wanted));
  }

  it("unsigned: a repeated declared member is refused, also in a nested object; a repeated unknown one is not", () => {
    const nested = contract([
      { name: "deep", many: false, codec: object({ at: { kind: "array", item: object({ x: NUMBER }) } }) },
    ]);
    assert.deepEqual(unsigned(nested, '{"deep":{"at":[{"x":1,"y":1,"y":2}]}}'), { deep: { at: [{ x: 1 }] } });
    assert.equal(
      unsigned(nested, '{"deep":{"at":[{"x":1},{"x":1,"x":1}]}}'),
      "deep.at[1].x: expected the member once, got it twice",
    );
    assert.equal(unsigned(nested, '{"deep":{"at":[],"at":[]}}'), "deep.at: expected the member once, got it twice");
    proves("6.2");
  });

  it("unsigned: a closed input refuses undeclared members at any position", () => {
    const closed: Contract = { ...of, closedInput: true };
    assert.deepEqual(unsigned(closed, '{"id":1,"tags":["a"]}'), { id: 1n, tags: ["a"] });
    for (const text of ['{"x":1,"id":1,"tags":["a"]}', '{"id":1,"tags":["a"],"x":null}']) {
      assert.equal(unsigned(closed, text), "expected only declared members, got another");
    }
  });

  it("signed: a repeated member of a data value has its last value", () => {
    const any = contract([{ name: "deep", many: false, codec: object({ x: BIGINT }) }]);
    assert.deepEqual(signed(any, ['{"x":"","x":9007199254740993}']), { deep: { x: 9007199254740993n } });
    proves("5.14");
  });

  it("are own members, whatever their names", () => {
    const hostile = contract(
      ["__proto__", "constructor", "1", "0"].map((name) => ({ name, many: false, codec: NUMBER })),
    );
    const input = unsigned(hostile, '{"__proto__":1,"constructor":2,"1":3,"0":4}') as object;
    assert.deepEqual(Object.entries(input).sort(), [
      ["0", 4],
      ["1", 3],
      ["__proto__", 1],
      ["constructor", 2],
    ]);
    assert.equal(unsigned(hostile, '{"__proto__":1,"1":3,"0":4}'), "constructor: expected a value, got nothing");
  });
});
