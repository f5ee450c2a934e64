/** What values become on their way in and out, and the limits of a result (protocol.md sections 1, 2, 5 and 7). */

import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { Codec, Port } from "#client/wire/codec/contract.js";
import { proves, provesRow } from "../proves.js";
import { expectError, type RawResponse } from "./raw.js";
import {
  countingTool,
  data,
  expectResult,
  one,
  resultBcs,
  sendPlain,
  serveFor,
  serveSigned,
  signedCall,
  type Value,
} from "./tools.js";

/** A tool that gives its one port back as it got it, and one whose result a test sets; each signed and unsigned. */
async function typed(codec: Codec, optional = false) {
  const port: Port = one("value", codec, optional);
  const input = [port];
  const output = [{ name: "ok", ports: [port] }];
  const echo = countingTool({ path: "echo", input, output, invoke: ({ value }) => ({ ok: { value } }) });
  const [signed, plain] = [await serveSigned([echo]), await serveFor([echo])];
  return {
    echo,
    /** The answers to a text that is a port's value, signed and unsigned. */
    send: async (json: string): Promise<[RawResponse, RawResponse]> => [
      await signedCall(echo, { value: data(json) }).send(signed.url),
      await sendPlain(plain.url, echo.target, `{"value":${json}}`),
    ],
  };
}

const okay = (json: string) => resultBcs("ok", [["value", json]]).toString("latin1");

const INT64: Codec = { kind: "bigint", format: "int64" };
const UINT64: Codec = { kind: "bigint", format: "uint64" };
const BIGINT: Codec = { kind: "bigint" };
const NUMBER: Codec = { kind: "number" };

describe("input values, signed and unsigned, and the same values in results", () => {
  const text64 = { min: `${-(2n ** 63n)}`, umax: `${2n ** 64n - 1n}` };
  // [codec, accepted: text to value, refused: text to complaint]; all values: test/wire/input.test.ts.
  const CASES: readonly [
    name: string,
    codec: Codec,
    fits: [string, unknown, string?][],
    refused: [string, RegExp | string][],
  ][] = [
    [
      "int64",
      INT64,
      [
        [text64.min, -(2n ** 63n)],
        ["9007199254740993", 9007199254740993n],
      ],
      [
        [text64.umax, "value: expected an int64 integer, got an integer outside its range"],
        ["1.0", /^value: expected an integer, got a number/],
        ["null", "value: expected a value, got nothing"],
      ],
    ],
    [
      "uint64",
      UINT64,
      [[text64.umax, 2n ** 64n - 1n]],
      [["-1", "value: expected an uint64 integer, got an integer outside its range"]],
    ],
    [
      "bigint without a format",
      BIGINT,
      [[text64.min, -(2n ** 63n)]],
      [[`${2n ** 64n}`, "value: expected an integer from -2^63 to 2^64-1, got an integer outside its range"]],
    ],
    [
      "number",
      NUMBER,
      [
        ["-0", -0, "-0.0"],
        ["1e16", 1e16, "1e+16"],
      ],
      [["9007199254740992", "value: expected a number within +/-(2^53-1), got an integer beyond it"]],
    ],
    [
      "an object with bigints, a list and an optional member",
      {
        kind: "object",
        members: [
          { name: "at", codec: INT64 },
          { name: "list", codec: { kind: "array", item: NUMBER } },
          { name: "note", optional: true, codec: { kind: "string" } },
        ],
      },
      [
        ['{"at":9223372036854775807,"list":[1],"note":"x"}', { at: 2n ** 63n - 1n, list: [1], note: "x" }],
        ['{"list":[],"at":1,"note":null,"canary":2}', { at: 1n, list: [] }, '{"at":1,"list":[],"note":null}'],
      ],
      [['{"at":1,"list":[1,"canary"]}', "value.list[1]: expected a number, got a string"]],
    ],
  ];
  for (const [name, codec, fits, refused] of CASES) {
    describe(name, () => {
      let tool: Awaited<ReturnType<typeof typed>>;
      before(async () => {
        tool = await typed(codec);
      });
      for (const [text, value, back = text] of fits) {
        it(`${text} is read exactly and returned`, async () => {
          for (const response of await tool.send(text)) {
            assert.equal(response.body.toString("latin1"), okay(back));
          }
          assert.deepEqual(
            tool.echo.calls.inputs.slice(-2).map((input) => input.value),
            [value, value],
          );
          provesRow(name, {
            "2.11": ["an object with bigints, a list and an optional member"],
            "5.34": ["bigint without a format"],
            "5.36": ["bigint without a format"],
          });
          proves("6.1", "6.3");
        });
      }
      for (const [text, complaint] of refused) {
        it(`${text} is refused`, async () => {
          const before = tool.echo.calls.invoked;
          for (const response of await tool.send(text)) {
            const details = expectError(response, 422, "input_deserialization_error") ?? assert.fail("no details");
            if (typeof complaint === "string") assert.equal(details, complaint);
            else assert.match(details, complaint);
          }
          assert.equal(tool.echo.calls.invoked, before);
          provesRow(`${name}: ${text}`, {
            "5.36": ["uint64: -1", "int64: 18446744073709551615", "number: 9007199254740992"],
            "7.10": ['an object with bigints, a list and an optional member: {"at":1,"list":[1,"canary"]}'],
            "7.25": ['an object with bigints, a list and an optional member: {"at":1,"list":[1,"canary"]}'],
          });
        });
      }
    });
  }
});

describe("optional members: absent, null and undefined mean the same", () => {
  it("inputs: the tool gets undefined for null and, in unsigned calls, for an absent member", async () => {
    const tool = await typed({ kind: "string" }, true);
    const plain = await serveFor([tool.echo]);
    const responses = [...(await tool.send("null")), await sendPlain(plain.url, tool.echo.target, "{}")];
    for (const response of responses) assert.equal(response.body.toString("latin1"), okay("null"));
    for (const input of tool.echo.calls.inputs) assert.equal(input.value, undefined);
    const [signed] = await tool.send('"x"');
    assert.equal(signed.body.toString("latin1"), okay('"x"'));
    proves("2.10", "2.11");
  });

  it("the port of a misspelt member of a signed call is named in the log", async () => {
    const codec: Codec = { kind: "object", members: [{ name: "limit", codec: NUMBER, optional: true }] };
    const tool = countingTool({ input: [one("value", codec)], invoke: () => ({ ok: { value: 1 } }) });
    const { url, log } = await serveSigned([tool]);
    const call = signedCall(tool, { value: data('{"limti":1}') });
    expectResult(await call.send(url), resultBcs("ok", [["value", "1"]]), call);
    const notices = log.filter(({ message }) => message.includes("does not declare"));
    assert.deepEqual(
      notices.map(({ fields }) => fields.at),
      ["value"],
    );
  });
});

describe("ports in schema order, whatever their names", () => {
  // Integer-like names come first in a JavaScript object, the others are taken by Object.prototype.
  const names = ["b", "10", "__proto__", "2", "constructor", "a", "0", "toString", "hasOwnProperty"];
  const ports = names.map((name) => one(name));
  const invoke = (input: Record<string, unknown>) => {
    const payload: Record<string, unknown> = {};
    for (const name of [...names].reverse()) {
      Object.defineProperty(payload, name, { value: input[name], enumerable: true });
    }
    return { ok: payload };
  };
  const tool = countingTool({ path: "names", input: ports, output: [{ name: "ok", ports }], invoke });
  const expected = resultBcs(
    "ok",
    names.map((name, i) => [name, `"${name} ${i}"`]),
  );
  const texts = names.map((name, i) => [name, `"${name} ${i}"`] as const);
  const seen = () => names.map((name) => Object.getOwnPropertyDescriptor(tool.calls.inputs.at(-1), name)?.value);

  it("signed, in any order of the envelope", async () => {
    const { url } = await serveSigned([tool]);
    const values: Record<string, Value> = Object.create(null);
    for (const [name, text] of texts) values[name] = data(text);
    const call = signedCall(tool, values);
    expectResult(await call.send(url), expected, call);
    assert.deepEqual(
      seen(),
      texts.map(([, text]) => JSON.parse(text)),
    );
    assert.equal(Object.getPrototypeOf(tool.calls.inputs.at(-1)), Object.prototype);
    const envelope = JSON.parse(call.body.toString()) as { ports: unknown[] };
    envelope.ports.reverse();
    const reversed = signedCall(tool, values, { nonce: call.nonce });
    const again = Object.assign(signedCall(tool, values), { body: Buffer.from(JSON.stringify(envelope)) });
    assert.deepEqual(reversed.hash, again.hash);
    expectResult(await again.send(url), expected, again);
    proves("2.6", "7.13");
  });

  it("unsigned, in any order of the members", async () => {
    const { url } = await serveFor([tool]);
    for (const order of [texts, [...texts].reverse()]) {
      const body = `{${order.map(([name, text]) => `${JSON.stringify(name)}:${text}`)}}`;
      expectResult(await sendPlain(url, tool.target, body), expected);
      assert.deepEqual(
        seen(),
        texts.map(([, text]) => JSON.parse(text)),
      );
    }
    const missing = `{${texts.filter(([name]) => name !== "constructor").map(([name, text]) => `${JSON.stringify(name)}:${text}`)}}`;
    const details = expectError(await sendPlain(url, tool.target, missing), 422, "input_deserialization_error");
    assert.equal(details, "constructor: expected a value, got nothing", "what Object has is no member");
  });
});
