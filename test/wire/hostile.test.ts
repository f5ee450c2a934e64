import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Codec } from "#client/wire/codec/contract.js";
import { EnvelopeReader } from "#client/wire/envelope/envelope.js";
import { WireFault } from "#client/wire/fault.js";
import { JsonError } from "#client/wire/json/error.js";
import { readOrdered } from "#client/wire/json/ordered-json.js";
import { textOf } from "#client/wire/json/print.js";
import { parseJson } from "#client/wire/json/scan.js";
import { InputDecoder } from "#runtime/server/wire/input.js";
import { contractWith } from "./codecs.js";
import { assertLinear } from "./growth.js";
import { serdeText } from "./serde-model.js";

const FULL = process.env.SVC_TEST_FULL === "1";
/** The default limit of a body. */
const BODY = 12 * 1024 * 1024;
/** By default only the worst shapes have that size; a cost that grows with the square shows at any. */
const SIZE = FULL ? BODY : BODY / 16;
const WORST = new Set(["all [", "one string of \\n", "one integer of digits"]);

const repeat = (part: string, open: string, close: string, bytes: number) =>
  open + part.repeat(Math.max(0, Math.floor((bytes - open.length - close.length) / part.length))) + close;
const distinctKeys = (bytes: number) => {
  let text = "{";
  for (let i = 0; text.length < bytes - 16; i++) text += `"${i.toString(36)}":1,`;
  return `${text}"":0}`;
};

/** Documents of about `bytes` bytes that ask for more than they weigh; `refused` where they are no JSON. */
const SHAPES: readonly (readonly [what: string, make: (bytes: number) => string, refused?: string])[] = [
  ["all [", (bytes) => "[".repeat(bytes), "more than 127 levels of nesting"],
  ['all {"":', (bytes) => '{"":'.repeat(bytes / 4), "more than 127 levels of nesting"],
  ["all white space", (bytes) => " ".repeat(bytes), "unexpected end of the text"],
  ["all quotes", (bytes) => '"'.repeat(bytes), "text after the document"],
  ["an open string", (bytes) => `"${"a".repeat(bytes - 1)}`, "unexpected end of the text"],
  ["a last byte that is no UTF-8", (bytes) => `"${"a".repeat(bytes - 2)}\udfff`, "lone surrogate in the source"],
  ["one string of \\n", (bytes) => repeat("\\n", '"', '"', bytes)],
  ["one string of \\u0041", (bytes) => repeat("\\u0041", '"', '"', bytes)],
  ["one string of surrogate escapes", (bytes) => repeat("\\ud83e\\uddad", '"', '"', bytes)],
  ["one string of backslashes", (bytes) => repeat("\\\\", '"', '"', bytes)],
  ["one integer of digits", (bytes) => "9".repeat(bytes), "number out of range"],
  ["one fraction of digits", (bytes) => `0.${"9".repeat(bytes - 2)}`],
  ["one fraction of zeros", (bytes) => `0.${"0".repeat(bytes - 2)}`],
  ["half digits, half exponent", (bytes) => `${"9".repeat(bytes / 2 - 16)}e-${String(bytes / 2 - 16)}`],
  ["an exponent of digits", (bytes) => `1e-${"9".repeat(bytes - 3)}`],
  ["an exponent of zeros", (bytes) => `1e${"0".repeat(bytes - 3)}1`],
  ["one-character keys, all equal", (bytes) => repeat('"a":1,', "{", '"a":2}', bytes)],
  ["keys equal by escapes", (bytes) => repeat('"\\u0061":1,', "{", '"a":2}', bytes)],
  ["distinct keys", distinctKeys],
  ["small integers", (bytes) => repeat("1,", "[", "1]", bytes)],
  ["small integers, spaced", (bytes) => repeat("1 ,\n", "[", "1 ]", bytes)],
  ["large integers", (bytes) => repeat("18446744073709551615,", "[", "0]", bytes)],
  ["doubles", (bytes) => repeat("1e5,", "[", "1e5]", bytes)],
  ["doubles of long digits", (bytes) => repeat("-18446744073709551616.5e-20,", "[", "0]", bytes)],
  ["empty arrays", (bytes) => repeat("[],", "[", "[]]", bytes)],
  ["empty objects", (bytes) => repeat("{},", "[", "{}]", bytes)],
  ["escaped strings", (bytes) => repeat('"\\n",', "[", '""]', bytes)],
  ["126 levels, over and over", (bytes) => repeat(`${"[".repeat(126)}${"]".repeat(126)},`, "[", "0]", bytes)],
];

/** Everything that the wire does with a document. */
function work(bytes: Buffer): void {
  const document = parseJson(bytes);
  for (const form of ["sent", "canonical", "legacy"] as const) textOf(document, 0, form);
}

describe("hostile documents of up to 12 MiB", () => {
  for (const [what, make, refused] of SHAPES) {
    it(`${what}: ${refused === undefined ? "read" : "refused"}`, () => {
      const text = make(WORST.has(what) ? BODY : SIZE);
      const bytes = what.includes("UTF-8")
        ? Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.of(0xff)])
        : Buffer.from(text);
      if (refused === undefined) {
        work(bytes);
        return;
      }
      const reason = what.includes("UTF-8") ? "invalid UTF-8" : refused;
      assert.throws(
        () => parseJson(bytes),
        (error) => error instanceof JsonError && error.reason === reason,
      );
    });
  }

  it("can be decoded to values", () => {
    for (const [what, make, refused] of SHAPES)
      if (refused === undefined && !/digits|zeros/.test(what)) readOrdered(Buffer.from(make(SIZE / 4)));
  });

  it("have the correct canonical text when they are long", () => {
    // The slow model at a hundredth of the size.
    for (const [what, make, refused] of SHAPES) {
      if (refused !== undefined) continue;
      const text = make(4096);
      assert.equal(textOf(parseJson(Buffer.from(text)), 0, "canonical").toString(), serdeText(text), what);
    }
  });
});

describe("hostile bodies of up to 12 MiB", () => {
  const ports = [{ name: "p", many: true }];
  const contract = contractWith({
    input: [{ name: "p", many: true, codec: { kind: "array", item: { kind: "bigint" } } }],
  });
  for (const [what, text] of [
    [
      "a signed body of small integers",
      `{"ports":[{"port_name":"p","value":{"many":[{"kind":"data","data":${repeat("1 ,", "[", "1]", SIZE - 100)}}]}}]}`,
    ],
    [
      "a signed body of doubles",
      `{"ports":[{"port_name":"p","value":{"many":[{"kind":"data","data":${repeat("1e5,", "[", "1e5]", Math.min(SIZE, 8_000_000))}}]}}]}`,
    ],
    ["a signed body of repeated ports", repeat('"ports":1,', "{", '"ports":1}', SIZE)],
    ["a signed body of unknown ports", repeat('{"port_name":"x"},', '{"ports":[', "{}]}", SIZE)],
    ["a signed body of unknown members", distinctKeys(SIZE)],
    [
      "a signed body of items",
      repeat('{"kind":"data"},', '{"ports":[{"port_name":"p","value":{"many":[', "{}]}}]}", SIZE),
    ],
    [
      "a signed body of one string of base64",
      `{"ports":[{"port_name":"p","value":{"many":[{"kind":"data","bytes":"${"A".repeat(SIZE - 104)}"}]}}]}`,
    ],
  ] as const) {
    it(what, () => {
      const reader = new EnvelopeReader(ports);
      try {
        assert.equal(reader.read(Buffer.from(text)).match(Buffer.alloc(32)), undefined);
      } catch (error) {
        assert.ok(error instanceof WireFault, String(error));
      }
    });
  }
  for (const [what, text] of [
    ["an unsigned body of integers", repeat("1,", '{"p":[[', "1]]}", SIZE)],
    ["an unsigned body of integral doubles", repeat("1.0,", '{"p":[[', "1]]}", SIZE)],
    ["an unsigned body of large integers", repeat("9007199254740993,", '{"p":[[', "1]]}", SIZE)],
    ["an unsigned body of unknown members", distinctKeys(SIZE)],
    ["an unsigned body of one member repeated", repeat('"x":1,', "{", '"p":[[1]]}', SIZE)],
    ["an unsigned body of a declared member repeated", repeat('"p":1,', "{", '"p":[[1]]}', SIZE)],
  ] as const) {
    it(what, () => {
      try {
        new InputDecoder(contract).decodeUnsigned(Buffer.from(text));
      } catch (error) {
        assert.ok(error instanceof WireFault, String(error));
      }
    });
  }
});

describe("a union of objects without a discriminator", () => {
  const decoderOf = (branches: readonly Codec[]) => {
    const codec: Codec = { kind: "array", item: { kind: "union", branches } };
    return new InputDecoder(contractWith({ input: [{ name: "p", many: false, codec }] }));
  };

  it("does not decode a long undeclared name", (t) => {
    const members = (at: number) => [
      { name: "a", codec: { kind: "number" } as const },
      { name: `b${at}`, optional: true, codec: { kind: "string" } as const },
    ];
    const decoder = decoderOf(Array.from({ length: 20 }, (_, at) => ({ kind: "object", members: members(at) })));
    const decoded = t.mock.method(Buffer.prototype, "toString");
    for (const name of ["é".repeat(1_000), "\\u0061".repeat(1_000)]) {
      const bytes = Buffer.from(`{"p":[{"a":1,"${name}":1}]}`);
      assert.deepEqual(decoder.decodeUnsigned(bytes), { p: [{ a: 1 }] });
    }
    const isLong = ({ arguments: [, start = 0, end = 0] }: { readonly arguments: readonly unknown[] }) =>
      Number(end) - Number(start) >= 1_000;
    assert.deepEqual(decoded.mock.calls.filter(isLong), []);
  });

  it("takes a long list, if two literals together select the branch", () => {
    const names = Array.from({ length: 20 }, (_, at) => `name-${at}`);
    const literal = (name: string, value: string) => ({ name, codec: { kind: "literal", values: [value] } as const });
    const pairs = names.flatMap((one) => names.map((other) => [one, other] as const));
    const decoder = decoderOf(
      pairs.map(([one, other]) => ({ kind: "object", members: [literal("type", one), literal("op", other)] })),
    );
    const items = Array.from(
      { length: 20_000 },
      (_, at) => pairs[(at * 7) % pairs.length] as readonly [string, string],
    );
    const p = items.map(([type, op]) => ({ type, op }));
    assert.deepEqual(decoder.decodeUnsigned(Buffer.from(JSON.stringify({ p }))), { p });
  });
});

describe("cost", () => {
  for (const [what, make] of SHAPES) {
    it(`grows linearly with the size: ${what}`, { skip: !FULL && "SVC_TEST_FULL=1" }, () => {
      const texts = new Map([BODY / 2, BODY / 16].map((size) => [size, Buffer.from(make(size))]));
      const workOn = (size: number) => {
        try {
          work(texts.get(size) as Buffer);
        } catch (error) {
          assert.ok(error instanceof JsonError);
        }
      };
      workOn(BODY / 16);
      assertLinear(what, workOn, BODY / 2);
    });
  }
});
