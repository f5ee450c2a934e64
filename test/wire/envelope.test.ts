import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { committedBytes } from "#client/wire/envelope/committed-texts.js";
import { EnvelopeReader } from "#client/wire/envelope/envelope.js";
import { WireFault } from "#client/wire/fault.js";
import { INPUT_BUDGET } from "#client/wire/protocol.js";
import { sha256 } from "#client/wire/signature/hash.js";
import { InputHasher } from "#client/wire/signature/input-hash.js";
import { InputDecoder } from "#runtime/server/wire/input.js";
import { proves, provesRow } from "../proves.js";
import { contractWith } from "./codecs.js";

/** Stands in every place that an attacker controls, and in no answer. */
const CANARY = "CANARY_7f3a";

const PORTS = [
  { name: "one", many: false },
  { name: "many", many: true },
];
const reader = new EnvelopeReader(PORTS);
const hasher = new InputHasher(PORTS);

const data = (json: string) => `{"kind":"data","data":${json}}`;
const bytes = (text: string | Uint8Array) => `{"kind":"data","bytes":"${Buffer.from(text).toString("base64")}"}`;
const port = (name: string, value: string) => `{"port_name":"${name}","value":${value}}`;
const one = (item: string) => port("one", `{"one":${item}}`);
const many = (...items: string[]) => port("many", `{"many":[${items.join(",")}]}`);
const body = (...entries: string[]) => Buffer.from(`{"ports":[${entries.join(",")}]}`);
const MANY = many(data("2"));
const ONE = one(data("1"));

function faultOf(run: () => unknown): WireFault {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof WireFault, String(error));
    return error;
  }
  return assert.fail("no fault");
}

const hashOf = (...values: (readonly string[])[]) =>
  hasher.hash(values.map((texts) => texts.map((text) => sha256(Buffer.from(text)))));

/** The texts that a body commits to under this hash. */
function matched(text: Buffer, hash: Uint8Array): string[][] | undefined {
  return reader
    .read(text)
    .match(hash)
    ?.map((items) => items.map((item) => committedBytes(item).toString()));
}

describe("envelope faults", () => {
  const NO_BASE64 = "ports[0].value.one.bytes: expected a string of standard base64 with padding";
  const NOT_ONE_OF_BOTH = "ports[0].value.one: expected one of the members data, bytes";
  const OTHER_MEMBER = "ports[0].value.one: expected only the members kind, data, bytes, id";
  const NO_SUCH_PORT = 'port_name: the tool has no such input port (the input ports are: "one", "many")';
  const NO_KIND = 'ports[0].value.one.kind: expected "data"';
  const MANY_ITEMS = Array.from({ length: 257 }, () => data("1"));
  const DEEP = "[".repeat(123) + "]".repeat(123);
  const NO_DATA = "ports[0].value.one: expected data, got an object id";
  for (const [what, text, details] of [
    ["an empty body", "", "body: unexpected end of the text at byte 0"],
    ["no JSON", `${CANARY}`, "body: expected a value at byte 0"],
    ["invalid UTF-8", Buffer.from('{"\xff":1}', "latin1"), "body: invalid UTF-8 at byte 2"],
    ["a byte-order mark", `\ufeff${body(ONE, MANY)}`, "body: expected a value, got a byte order mark at byte 0"],
    ["text behind it", `${body(ONE, MANY)}{}`, "body: text after the document at byte 137"],
    ["a lone surrogate", body(one(data('"\\ud800"')), MANY), "body: lone surrogate escape at byte 67"],
    ["a number out of range", body(one(data("1e999")), MANY), "body: number out of range at byte 66"],
    ["128 levels", body(one(data(DEEP)), MANY), "body: more than 127 levels of nesting at byte 188"],
    ["a string", `"${CANARY}"`, "body: expected an object"],
    ["an array", `[${body(ONE, MANY)}]`, "body: expected an object"],
    ["the plain input", `{"one":1,"many":[2]}`, "body: expected only the members ports"],
    ["another member", `{"ports":[],"${CANARY}":1}`, "body: expected only the members ports"],
    ["no ports", "{}", "ports: expected an array"],
    ["ports as an object", `{"ports":{"${CANARY}":1}}`, "ports: expected an array"],
    ["a port that is no object", body(`"${CANARY}"`), "ports[0]: expected an object"],
    [
      "a port with another member",
      body(ONE, `{"port_name":"many","value":1,"${CANARY}":2}`),
      "ports[1]: expected only the members port_name, value",
    ],
    ["a port without a name", body(`{"value":{"one":${data("1")}}}`), "ports[0].port_name: expected a string"],
    ["a name that is a number", body(`{"port_name":1,"value":1}`), "ports[0].port_name: expected a string"],
    ["an unknown port", body(ONE, port(CANARY, "1")), `ports[1].${NO_SUCH_PORT}`],
    ["a port of Object.prototype", body(port("__proto__", "1")), `ports[0].${NO_SUCH_PORT}`],
    ["constructor", body(port("constructor", "1")), `ports[0].${NO_SUCH_PORT}`],
    ["a port without a value", body(`{"port_name":"one"}`), "ports[0].value: missing"],
    ["a port twice", body(ONE, ONE, MANY), 'ports[1]: port "one" is given twice'],
    ["a port missing", body(ONE), 'ports: port "many" is missing'],
    ["no port at all", body(), 'ports: port "one" is missing'],
    ["a bare value", body(port("one", `"${CANARY}"`), MANY), "ports[0].value: expected an object"],
    ["an empty value", body(port("one", "{}"), MANY), "ports[0].value: expected the member one"],
    ["one for many", body(ONE, port("many", `{"one":${data("1")}}`)), "ports[1].value: expected the member many"],
    ["many for one", body(port("one", `{"many":[${data("1")}]}`), MANY), "ports[0].value: expected the member one"],
    [
      "one and many",
      body(port("one", `{"one":${data("1")},"many":[]}`), MANY),
      "ports[0].value: expected one of the members one, many, got both",
    ],
    [
      "another cardinality",
      body(port("one", `{"${CANARY}":${data("1")}}`), MANY),
      "ports[0].value: expected only the members one, many",
    ],
    [
      "a many that is no array",
      body(ONE, port("many", `{"many":${data("1")}}`)),
      "ports[1].value.many: expected an array",
    ],
    ["a many of none", body(ONE, many()), "ports[1].value.many: expected 1 to 256 values, got 0"],
    ["a many of 257", body(ONE, many(...MANY_ITEMS)), "ports[1].value.many: expected 1 to 256 values, got 257"],
    ["an item that is no object", body(one(`"${CANARY}"`), MANY), "ports[0].value.one: expected an object"],
    ["an item without a kind", body(one('{"data":1}'), MANY), NO_KIND],
    ["another kind", body(one(`{"kind":"${CANARY}","data":1}`), MANY), NO_KIND],
    ["a kind that is a number", body(one('{"kind":1,"data":1}'), MANY), NO_KIND],
    ["a walrus item", body(one(`{"kind":"walrus","blob_id":"${CANARY}","content_digest":""}`), MANY), OTHER_MEMBER],
    ["a walrus item in disguise", body(one(`{"kind":"walrus","data":"${CANARY}"}`), MANY), NO_KIND],
    ["an object item", body(one('{"kind":"object","id":"0x1"}'), MANY), NO_DATA],
    ["an object item with a bad id", body(one(`{"kind":"object","id":"${CANARY}"}`), MANY), NO_DATA],
    ["neither data nor bytes", body(one('{"kind":"data"}'), MANY), NOT_ONE_OF_BOTH],
    ["data and bytes", body(one('{"kind":"data","data":1,"bytes":"MQ=="}'), MANY), NOT_ONE_OF_BOTH],
    ["data and an id", body(one('{"kind":"data","data":1,"id":"0x1"}'), MANY), NOT_ONE_OF_BOTH],
    ["an item with another member", body(one(`{"kind":"data","data":1,"${CANARY}":2}`), MANY), OTHER_MEMBER],
    ["bytes that are a number", body(one('{"kind":"data","bytes":1}'), MANY), NO_BASE64],
    ["bytes that are null", body(one('{"kind":"data","bytes":null}'), MANY), NO_BASE64],
    ["bytes without padding", body(one('{"kind":"data","bytes":"MQ"}'), MANY), NO_BASE64],
    ["bytes with stray bits", body(one('{"kind":"data","bytes":"MR=="}'), MANY), NO_BASE64],
    ["bytes in base64url", body(one('{"kind":"data","bytes":"__8="}'), MANY), NO_BASE64],
    ["bytes with white space", body(one('{"kind":"data","bytes":"MQ==\\n"}'), MANY), NO_BASE64],
    [
      "the third of several items",
      body(ONE, many(data("1"), bytes("2"), `{"kind":"data","bytes":"${CANARY}"}`)),
      "ports[1].value.many[2].bytes: expected a string of standard base64 with padding",
    ],
  ] as const) {
    it(`${what}: ${details}`, () => {
      const fault = faultOf(() => reader.read(typeof text === "string" ? Buffer.from(text) : text));
      assert.equal(fault.code, "input_deserialization_error");
      assert.equal(fault.details, details);
      assert.ok(!fault.message.includes(CANARY) && !JSON.stringify(fault).includes(CANARY));
      provesRow(what, {
        "2.10": ["a port missing"],
        "5.11": ["a port missing", "another member", "a port with another member", "a port twice", "an unknown port"],
        "5.12": ["one for many", "many for one", "one and many", "another cardinality"],
        "5.13": [
          "another kind",
          "data and bytes",
          "neither data nor bytes",
          "an object item",
          "a walrus item",
          "bytes without padding",
          "bytes with stray bits",
          "bytes in base64url",
          "an item with another member",
        ],
        "5.24": ["invalid UTF-8", "a lone surrogate", "text behind it", "a number out of range"],
      });
    });
  }

  it("contain no text of the request", () => {
    // One canary at a time in place of every string and number of a valid body.
    const valid = body(one(data('{"a":["b",1.5]}')), many(bytes('"c"'), data("true"))).toString();
    for (const { index, 0: token } of valid.matchAll(/"[^"]*"|[\d.]+|true/g)) {
      for (const by of [`"${CANARY}"`, `${CANARY}`, `{"${CANARY}":"${CANARY}"}`, `["${CANARY}"]`]) {
        const text = Buffer.from(`${valid.slice(0, index)}${by}${valid.slice(index + token.length)}`);
        try {
          const texts = reader.read(text).match(Buffer.alloc(32));
          assert.equal(texts, undefined);
        } catch (error) {
          assert.ok(error instanceof WireFault, String(error));
          assert.ok(!JSON.stringify([error.message, error.details, error.stack]).includes(CANARY), error.details);
        }
      }
    }
    proves("7.25");
  });
});

describe("repeated members", () => {
  const wanted = hashOf(["1"], ["2"]);
  for (const [what, text] of [
    ["ports", `{"ports":"${CANARY}","ports":[${ONE},${MANY}]}`],
    ["a name", `{"ports":[{"port_name":7,"port_name":"one","value":{"one":${data("1")}}},${MANY}]}`],
    ["a value", `{"ports":[{"port_name":"one","value":[[]],"value":{"one":${data("1")}}},${MANY}]}`],
    ["a one", `{"ports":[{"port_name":"one","value":{"one":{"kind":"walrus"},"one":${data("1")}}},${MANY}]}`],
    ["a kind", `{"ports":[{"port_name":"one","value":{"one":{"kind":"object","data":1,"kind":"data"}}},${MANY}]}`],
    ["a data", `{"ports":[{"port_name":"one","value":{"one":{"kind":"data","data":[0],"data":1}}},${MANY}]}`],
    [
      "a name by another spelling",
      `{"ports":[{"port_name":"one","value":{"one":{"kind":"data","d\\u0061ta":[0],"data":1}}},${MANY}]}`,
    ],
  ] as const) {
    it(`have their last value: ${what}`, () => {
      assert.deepEqual(matched(Buffer.from(text), wanted), [["1"], ["2"]]);
      proves("5.14");
    });
  }

  it("are refused if they are unknown", () => {
    const text = Buffer.from(`{"ports":[${ONE},${MANY}],"x":1,"x":2}`);
    assert.equal(faultOf(() => reader.read(text)).details, "body: expected only the members ports");
  });

  for (const [what, superseded, reason] of [
    ["a number out of range", "1e999", "number out of range"],
    ["a lone surrogate", '"\\udfff"', "lone surrogate escape"],
    ["128 levels", "[".repeat(126) + "]".repeat(126), "more than 127 levels of nesting"],
  ] as const) {
    it(`must be valid even if a later one replaces them: ${what}`, () => {
      const text = Buffer.from(
        `{"ports":[{"port_name":"one","value":${superseded},"value":{"one":${data("1")}}},${MANY}]}`,
      );
      assert.match(faultOf(() => reader.read(text)).details, new RegExp(`^body: ${reason} at byte \\d+$`));
      proves("5.14");
    });
  }

  it("do not count towards the budget if a later one replaces them", () => {
    const long = JSON.stringify("x".repeat(INPUT_BUDGET));
    const text = Buffer.from(
      `{"ports":[{"port_name":"one","value":{"one":{"kind":"data","data":${long},"data":1}}},${MANY}]}`,
    );
    assert.deepEqual(matched(text, wanted), [["1"], ["2"]]);
  });
});

describe("the budget", () => {
  const full = (length: number) => `"${"x".repeat(length - 2)}"`;
  const over = /^ports\[\d\]\.value\.(one|many\[\d+\]): the input is over the budget of 8388608 bytes$/;
  const rest = INPUT_BUDGET - 1;

  for (const [what, make] of [
    ["data in a one", (size: number) => body(one(data(full(size))), MANY)],
    [
      "data with white space, which does not count",
      (size: number) => body(one(data(`[ ${full(size - 4)} ,\n\t1]`)), MANY),
    ],
    ["bytes, counted as decoded", (size: number) => body(one(bytes(Buffer.alloc(size, 0x20))), MANY)],
    ["bytes before data", (size: number) => body(many(bytes(Buffer.alloc(size - 1, 0x31)), data("2")), one(data("1")))],
    [
      "256 items",
      (size: number) =>
        body(
          one(data("1")),
          many(...Array.from({ length: 255 }, () => data(full(32_000))), data(full(size - 255 * 32_000))),
        ),
    ],
  ] as const) {
    it(`is exactly 8 MiB: ${what}`, () => {
      reader.read(make(rest));
      assert.match(faultOf(() => reader.read(make(rest + 1))).details, over);
      provesRow(what, {
        "1.13": ["data with white space, which does not count", "bytes, counted as decoded", "256 items"],
      });
    });
  }

  it("counts escapes as they are sent", () => {
    const escaped = (size: number) =>
      body(one(data(`"${"\\u0041".repeat(1_398_100)}${"x".repeat(size - 6 * 1_398_100 - 2)}"`)), MANY);
    reader.read(escaped(rest));
    assert.match(faultOf(() => reader.read(escaped(rest + 1))).details, over);
  });
});

describe("forms of the hash", () => {
  // As sent, canonical and legacy differ for this text.
  const text = '{ "a" : 1e16, "b":"\\u0041", "a": 10e20 }';
  const sent = '{"a":1e16,"b":"\\u0041","a":10e20}';
  const canonical = '{"a":1e+21,"b":"A"}';
  const legacy = '{"a":1e21,"b":"A"}';
  const request = body(one(data(text)), many(data("1e20"), bytes(" 1e20 ")));
  const forms = {
    sent: [[sent], ["1e20", " 1e20 "]],
    canonical: [[canonical], ["1e+20", " 1e20 "]],
    legacy: [[legacy], ["1e20", " 1e20 "]],
  };

  it("does not depend on the order of the ports in the body", () => {
    assert.deepEqual(matched(body(MANY, ONE), hashOf(["1"], ["2"])), [["1"], ["2"]]);
    proves("5.11");
  });

  it("gives the decoder the texts that matched, and their values", () => {
    const input = [
      { name: "one", many: false, codec: { kind: "json" } },
      { name: "many", many: true, codec: { kind: "number" } },
    ] as const;
    const decoder = new InputDecoder(contractWith({ input }));
    for (const texts of Object.values(forms)) {
      assert.deepEqual(matched(request, hashOf(...texts)), texts);
      const found = reader.read(request).match(hashOf(...texts));
      assert.deepEqual(decoder.decodeSigned(found ?? assert.fail()), { one: { a: 1e21, b: "A" }, many: [1e20, 1e20] });
    }
    proves("5.31");
  });
});
