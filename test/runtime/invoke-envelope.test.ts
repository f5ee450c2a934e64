/** Step 3 of a signed call: envelope, depth, budget, and the three forms of the hash (protocol.md sections 1, 5 and 7). */

import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { proves, provesRow } from "../proves.js";
import { expectError } from "./raw.js";
import {
  bytes,
  countingTool,
  data,
  echoCall,
  echoed,
  expectResult,
  many,
  one,
  resultBcs,
  SignedCall,
  sendPlain,
  serveFor,
  serveSigned,
  sha256,
  signedCall,
  type TestServer,
  type Value,
} from "./tools.js";

const echo = countingTool({ path: "echo" });
/** Two untyped ports and a list; says only that it ran. */
const three = countingTool({
  path: "three",
  input: [one("a"), one("b"), many("list")],
  output: [{ name: "ok", ports: [one("ran")] }],
  invoke: () => ({ ok: { ran: true } }),
});
const RAN = resultBcs("ok", [["ran", "true"]]);
let server: TestServer;
before(async () => {
  server = await serveSigned([echo, three]);
});

/** Sends a call that is refused with 422 and runs nothing; the same nonce runs afterwards: it left no entry. */
async function refused(call: SignedCall, code: string): Promise<string> {
  const before = echo.calls.constructed + three.calls.constructed;
  const details = expectError(await call.send(server.url), 422, code);
  assert.equal(echo.calls.constructed + three.calls.constructed, before, "nothing is constructed");
  const good = echoCall(echo, "0", { nonce: call.nonce });
  expectResult(await good.send(server.url), echoed("0"), good);
  return details ?? assert.fail("no details");
}

const withBody = (body: string | Uint8Array) => new SignedCall(echo.target, Buffer.from(body), sha256("any"));
const malformed = (body: string | Uint8Array) => refused(withBody(body), "input_deserialization_error");

describe("the envelope (422 input_deserialization_error with the position, never the content)", () => {
  const port = (value: string, name = '"value"') => `{"ports":[{"port_name":${name},"value":${value}}]}`;
  // All faults: test/wire/envelope.test.ts.
  for (const [body, details] of [
    ["", "body: unexpected end of the text at byte 0"],
    ["\ufeff{}", "body: expected a value, got a byte order mark at byte 0"],
    [
      `{"ports":[${['"value"', '"\\u0076alue"'].map((name) => `{"port_name":${name},"value":{"one":{"kind":"data","data":1}}}`)}]}`,
      'ports[1]: port "value" is given twice',
    ],
    // What a later member supersedes has to be readable all the same.
    [`{"ports":[1e999],${port('{"one":{"kind":"data","data":1}}').slice(1)}`, /^body: number out of range/],
  ] as const) {
    it(`${JSON.stringify(body).slice(0, 110)}`, async () => {
      const got = await malformed(body);
      if (typeof details === "string") assert.equal(got, details);
      else assert.match(got, details);
      provesRow(body, { "5.24": ["\ufeff{}"] });
      proves("5.15", "7.6", "7.16", "7.25");
    });
  }

  it("a body whose length changed on the way is refused, or read as what was signed", async () => {
    const { body, hash } = echoCall(echo, '"text"');
    const changed = Buffer.from(body.toString().replace("text", "TEXT"));
    await refused(new SignedCall(echo.target, changed, hash), "input_integrity_error");
    const spaced = new SignedCall(echo.target, Buffer.from(`\n\t ${body.toString().replaceAll(",", " ,\r\n")} `), hash);
    expectResult(await spaced.send(server.url), echoed('"text"'), spaced);
  });
});

describe("the three forms of the hash", () => {
  // [as sent, canonical, canonical with older numbers (where it differs), what the tool sees, and sees as sent]
  const FORMS: readonly [
    sent: string,
    canonical: string,
    legacy: string | undefined,
    seen: unknown,
    asSent?: unknown,
  ][] = [
    ['"\\u0041\\/"', '"A/"', undefined, "A/"],
    ['{"a":1,"a":2}', '{"a":2}', undefined, { a: 2 }],
    ['{"b":1,"a":{"x":1,"x":2},"b":3}', '{"b":3,"a":{"x":2}}', undefined, { b: 3, a: { x: 2 } }],
    ["1.50", "1.5", undefined, 1.5],
    ["10000000000000000.0", "1e+16", "1e16", 1e16],
    ["[1E16]", "[1e+16]", "[1e16]", [1e16]],
    // serde_json does not read it as JavaScript does: what was hashed is what the tool gets.
    [
      "99919545086973526016.140018e-156",
      "9.991954508697351e-137",
      undefined,
      9.991954508697351e-137,
      9.991954508697353e-137,
    ],
  ];
  for (const [sent, canonical, legacy, seen, asSent = seen] of FORMS) {
    for (const [form, hashed, value] of [
      ["as sent", sent, asSent],
      ["canonical", canonical, seen],
      ["older numbers", legacy, seen],
    ] as const) {
      if (hashed === undefined) continue;
      it(`${sent} matches only ${form}`, async () => {
        const call = signedCall(echo, { value: data(sent, hashed) });
        const response = await call.send(server.url);
        assert.equal(response.status, 200, response.body.toString());
        assert.deepEqual(echo.calls.inputs.at(-1), { value });
        provesRow(sent, { "5.35": ["10000000000000000.0"] });
        proves("5.29", "5.30", "5.31");
      });
    }
  }

  it("white space outside strings is not part of any form, inside strings it is", async () => {
    const spaced = ' { "a b" : [ 1 ,\n"\\u0041 c" ] } ';
    for (const hashed of ['{"a b":[1,"\\u0041 c"]}', '{"a b":[1,"A c"]}']) {
      const call = signedCall(echo, { value: data(spaced, hashed) });
      assert.equal((await call.send(server.url)).status, 200);
      assert.deepEqual(echo.calls.inputs.at(-1), { value: { "a b": [1, "A c"] } });
    }
    await refused(signedCall(echo, { value: data(spaced, spaced) }), "input_integrity_error");
  });

  const escaped: [string, string] = ['"\\u0041"', '"A"'];
  const number: [string, string] = ["1e16", "1e+16"];
  const values = (a: Value, b: Value, list: Value[] = [data("0")]) => signedCall(three, { a, b, list });
  const [sentEscape, canonicalEscape] = [data(escaped[0]), data(...escaped)];
  const [oldNumber, newNumber] = [data("10000000000000000.0", "1e16"), data("10000000000000000.0", "1e+16")];
  for (const [what, call] of [
    ["one port as sent, one canonical", values(sentEscape, data(...number))],
    ["one port canonical, one as sent", values(canonicalEscape, data("1.50"))],
    ["one port as sent, one in older numbers", values(sentEscape, oldNumber)],
    ["numbers in both forms", values(oldNumber, newNumber)],
    ["numbers in both forms within a list", values(data("1"), data("1"), [newNumber, oldNumber])],
    ["as sent and canonical within a list", values(data("1"), data("1"), [sentEscape, canonicalEscape])],
    ["both within one value", values(data("1"), data('["\\u0041","\\u0041"]', '["A","\\u0041"]'))],
    ["a nested repetition resolved, escapes kept", values(data("1"), data('{"a":1,"a":"\\u0041"}', '{"a":"\\u0041"}'))],
  ] as const) {
    it(`forms mixed are refused: ${what}`, async () => {
      const details = await refused(call, "input_integrity_error");
      assert.equal(details, "the input hash of the header is not that of the body");
      proves("5.29", "5.31", "7.6", "7.24");
    });
  }

  it("the same values run if all have the same form", async () => {
    for (const form of [0, 1] as const) {
      const [a, b] = [data(escaped[0], escaped[form]), data("1e16", number[form])];
      const call = values(a, b, [a, b]);
      expectResult(await call.send(server.url), RAN, call);
    }
  });

  it("bytes are committed unchanged, whatever the form of the other values", async () => {
    const raw = '{ "a" : "\\u0041", "a" : 1e16 }';
    for (const [form, other] of [
      [0, "1E16"],
      [1, "1e+16"],
      [2, "1e16"],
    ] as const) {
      const call = values(bytes(raw), data("1E16", other));
      expectResult(await call.send(server.url), RAN, call);
      assert.deepEqual(three.calls.inputs.at(-1)?.a, { a: 1e16 }, `form ${form}`);
    }
    const compacted: Value = { ...bytes(raw), hashed: '{"a":1e+16}' };
    await refused(values(compacted, data("1")), "input_integrity_error");
    proves("5.27");
  });

  it("swapped values, swapped items, a `one` port for a `many` port with one value", async () => {
    const call = values(data("1"), data("2"), [data("3"), data("4")]);
    const text = call.body.toString();
    const swapped = text
      .replace('"data":1', '"data":9')
      .replace('"data":2', '"data":1')
      .replace('"data":9', '"data":2');
    const items = text.replace('"data":3', '"data":9').replace('"data":4', '"data":3').replace('"data":9', '"data":4');
    for (const body of [swapped, items]) {
      assert.notEqual(body, text);
      await refused(new SignedCall(three.target, Buffer.from(body), call.hash), "input_integrity_error");
    }
  });

  it("bytes that are not a JSON document are detected during decoding, after the tool is constructed", async () => {
    for (const [content, reason] of [
      ["", "unexpected end of the text at byte 0"],
      ["1 2", "text after the document at byte 2"],
      [Buffer.from([0x22, 0xff, 0x22]), "invalid UTF-8 at byte 1"],
      ["canary", "expected a value at byte 0"],
    ] as const) {
      const before = echo.calls.constructed;
      const call = signedCall(echo, { value: bytes(content) });
      const details = expectError(await call.send(server.url), 422, "input_deserialization_error");
      assert.equal(details, `value: not JSON: ${reason}`);
      assert.equal(echo.calls.constructed, before + 1);
    }
    proves("5.27", "7.25");
  });
});

describe("levels of nesting: 127, one more is refused", () => {
  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  it("122 in an untyped port of a signed body, 127 with the envelope's five", async () => {
    const call = echoCall(echo, nested(122));
    expectResult(await call.send(server.url), echoed(nested(122)), call);
    const details = await refused(echoCall(echo, nested(123)), "input_deserialization_error");
    assert.match(details, /^body: more than 127 levels of nesting at byte \d+$/);
    await refused(echoCall(echo, nested(5_000)), "input_deserialization_error");
    proves("1.19");
  });

  it("127 in bytes, because levels of the decoded text are counted separately", async () => {
    const call = signedCall(echo, { value: bytes(nested(127)) });
    expectResult(await call.send(server.url), echoed(nested(127)), call);
    const over = await signedCall(echo, { value: bytes(nested(128)) }).send(server.url);
    const details = expectError(over, 422, "input_deserialization_error");
    assert.equal(details, "value: not JSON: more than 127 levels of nesting at byte 127");
    proves("1.19");
  });
});

describe("the resolved input budget: 8 MiB", () => {
  const MIB8 = 8 * 1024 * 1024;
  const text = (length: number) => `"${"x".repeat(length - 2)}"`;
  const call = (a: Value, b: Value, list: Value[] = [data("1")], hash?: Uint8Array) =>
    signedCall(three, { a, b, list }, hash === undefined ? {} : { hash });
  // How items count: test/wire/envelope.test.ts.
  for (const [what, fitting, over] of [
    ["one data item", call(data(text(MIB8 - 2)), data("1")), call(data(text(MIB8 - 1)), data("1"))],
    [
      "before the hash is compared",
      call(data(text(MIB8 - 2)), data("1")),
      call(data(text(MIB8 - 1)), data("1"), undefined, sha256("another")),
    ],
  ] as const) {
    it(what, async () => {
      expectResult(await fitting.send(server.url), RAN, fitting);
      const details = expectError(await over.send(server.url), 422, "input_deserialization_error");
      assert.match(details ?? "", /: the input is over the budget of 8388608 bytes$/);
      provesRow(what, {
        "1.11": ["one data item"],
        "1.13": ["one data item", "before the hash is compared"],
        "7.6": ["before the hash is compared"],
      });
    });
  }

  it("for unsigned calls, only the body limit applies", async () => {
    const plain = await serveFor([echo]);
    const response = await sendPlain(plain.url, echo.target, `{"value":${text(MIB8 + 5)}}`);
    const details = expectError(response, 500, "output_serialization_error");
    assert.match(details ?? "", /^ok\.value: at most 61440 bytes/, "it ran: the echo is too large");
    proves("1.13");
  });
});
