/** The limits of a result, and results with explicit ports (protocol.md sections 1, 2 and 7). */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { InlineValue } from "#client/wire/bcs/data.js";
import type { Codec, Port } from "#client/wire/codec/contract.js";
import { NexusData, NexusValue, OffchainToolOutput, SvcTool } from "#runtime/index.js";
import { provideContracts } from "#runtime/v1.js";
import { proves, provesRow } from "../proves.js";
import { expectError } from "./raw.js";
import {
  bytes,
  type CountingTool,
  countingTool,
  expectResult,
  many,
  one,
  resultBcs,
  sendPlain,
  serveFor,
  serveSigned,
  signedCall,
} from "./tools.js";

describe("limits of a result, one inside and one over", () => {
  const string = (length: number) => `"${"x".repeat(length - 2)}"`;
  const result = (ports: readonly Port[], payload: unknown) =>
    countingTool({ output: [{ name: "ok", ports }], invoke: () => ({ ok: payload }) });
  const sent = async (tool: CountingTool) => sendPlain((await serveFor([tool])).url, tool.target, '{"value":1}');
  const over = async (tool: CountingTool) => expectError(await sent(tool), 500, "output_serialization_error");
  const text = (length: number) => "x".repeat(length - 2);

  it("61,440 bytes of one inline value", async () => {
    const ports = [one("value")];
    expectResult(await sent(result(ports, { value: text(61_440) })), resultBcs("ok", [["value", string(61_440)]]));
    assert.equal(
      await over(result(ports, { value: text(61_441) })),
      "ok.value: at most 61440 bytes in a value, got 61441: declare the port as DataRef<T> and store the value",
    );
    assert.equal(
      await over(result([many("list")], { list: [1, "é".repeat(30_720)] })),
      "ok.list[1]: at most 61440 bytes in a value, got 61442: declare the port as DataRef<T> and store the value",
    );
    proves("1.11");
  });

  it("65,536 bytes of BCS(NexusData) of one port, including its variant byte", async () => {
    // Variant byte, number of values, then for each: variant byte, three bytes of length, content.
    const rest = 65_536 - 1 - 1 - 4 - 61_440 - 3;
    const fitting = [text(61_440), text(rest)];
    expectResult(
      await sent(result([many("list")], { list: fitting })),
      resultBcs("ok", [["list", [string(61_440), string(rest)]]]),
    );
    assert.equal(
      await over(result([many("list")], { list: [text(61_440), text(rest + 1)] })),
      "ok.list: at most 65536 bytes in a port, got 65537",
    );
    proves("1.11");
  });

  it("262,144 bytes of BCS of the whole result", async () => {
    const ports = ["a", "b", "c", "d", "e"].map((name) => one(name));
    const payload = (last: number) => ({
      a: text(61_440),
      b: text(61_440),
      c: text(61_440),
      d: text(61_440),
      e: text(last),
    });
    const bcs = (last: number) =>
      resultBcs("ok", [...["a", "b", "c", "d"].map((name) => [name, string(61_440)] as const), ["e", string(last)]]);
    const last = 16_383 + (262_144 - bcs(16_383).length);
    assert.equal(bcs(last).length, 262_144);
    expectResult(await sent(result(ports, payload(last))), bcs(last));
    assert.equal(await over(result(ports, payload(last + 1))), "result: at most 262144 bytes of BCS, got 262145");
    proves("1.12");
  });

  it("1 to 256 values of a many port", async () => {
    const list = (count: number) => ({ list: Array.from({ length: count }, (_, i) => i) });
    for (const count of [1, 256]) {
      const expected = resultBcs("ok", [["list", list(count).list.map(String)]]);
      expectResult(await sent(result([many("list")], list(count))), expected);
    }
    for (const count of [0, 257]) {
      assert.equal(await over(result([many("list")], list(count))), `ok.list: expected 1 to 256 values, got ${count}`);
    }
    assert.equal(await over(result([many("list")], { list: "canary" })), "ok.list: expected an array, got a string");
    const array = resultBcs("ok", [["value", "[1,2]"]]);
    expectResult(await sent(result([one("value")], { value: [1, 2] })), array);
    proves("1.10", "2.13", "2.14");
  });

  it("8 MiB of inline bytes and known sizes of stored blobs", async () => {
    const blob = (size?: number) => NexusData.one(NexusValue.walrus("A".repeat(43), new Uint8Array(32), size));
    const explicit = (size?: number) =>
      countingTool({
        output: [{ name: "ok", ports: [one("a"), one("b")] }],
        encodeOutput: () =>
          OffchainToolOutput.fromPorts("ok", [
            ["a", blob(size)],
            ["b", NexusData.one(NexusValue.json("12"))],
          ]),
      });
    for (const size of [undefined, 8_388_608 - 2]) assert.equal((await sent(explicit(size))).status, 200);
    assert.equal(await over(explicit(8_388_608 - 1)), "result: at most 8388608 bytes over all ports, got 8388609");
    proves("1.14", "7.14");
  });
});

describe("explicit ports from encodeOutput", () => {
  const output = [
    { name: "ok", ports: [one("a"), many("b")] },
    { name: "err", ports: [one("reason")] },
  ];
  const value = (text: string) => NexusData.one(NexusValue.json(text));
  const list = (...texts: string[]) => NexusData.many(texts.map((text) => NexusValue.json(text)));
  const object = NexusData.one(NexusValue.object("0x1"));
  const explicit = (tag: string, ports: readonly (readonly [string, NexusData])[]) =>
    countingTool({ output, encodeOutput: () => OffchainToolOutput.fromPorts(tag, ports) });

  for (const [what, tag, ports, expected] of [
    [
      "as declared",
      "ok",
      [
        ["a", value(" 1 ")],
        ["b", list('"x"', '"y"')],
      ],
      resultBcs("ok", [
        ["a", "1"],
        ["b", ['"x"', '"y"']],
      ]),
    ],
    [
      "a one for a many of one value",
      "ok",
      [
        ["a", value("1")],
        ["b", value("2")],
      ],
      resultBcs("ok", [
        ["a", "1"],
        ["b", ["2"]],
      ]),
    ],
    ["another variant", "err", [["reason", value("null")]], resultBcs("err", [["reason", "null"]])],
    ["the reserved variant", "_err_eval", [["reason", value('"x"')]], resultBcs("_err_eval", [["reason", '"x"']])],
  ] as const) {
    it(what, async () => {
      const tool = explicit(tag, ports);
      const { url } = await serveSigned([tool]);
      const call = signedCall(tool, { value: bytes("1") });
      expectResult(await call.send(url), expected, call);
      provesRow(what, { "3.12": ["a one for a many of one value"], "7.14": ["as declared"] });
    });
  }

  for (const [what, tag, ports, details] of [
    ["an unknown variant", "canary", [], 'result: expected one of the variants "ok", "err", got another'],
    ["a port too few", "ok", [["a", value("1")]], "ok: expected 2 ports, got 1"],
    [
      "a port too many",
      "err",
      [
        ["reason", value("1")],
        ["canary", value("1")],
      ],
      "err: expected 1 ports, got 2",
    ],
    [
      "another order",
      "ok",
      [
        ["b", list("1")],
        ["a", value("1")],
      ],
      "ok.a: expected this port at place 1, got another",
    ],
    ["another name", "err", [["canary", value("1")]], "err.reason: expected this port at place 1, got another"],
    ["several values for a one", "err", [["reason", list("1", "2")]], "err.reason: expected one value, got 2"],
    ["an object id", "err", [["reason", object]], "err.reason: expected data, got object ids"],
  ] as const) {
    it(`${what} is refused`, async () => {
      const tool = explicit(tag, ports);
      const { url } = await serveFor([tool]);
      const response = await sendPlain(url, tool.target, '{"value":1}');
      assert.equal(expectError(response, 500, "output_serialization_error"), details);
      provesRow(what, {
        "7.14": ["another name", "another order", "several values for a one", "an object id", "a port too few"],
      });
      proves("7.10");
    });
  }

  it("accepts the tag as UTF-8 bytes, and refuses other bytes", async () => {
    const tool = countingTool({
      output: [{ name: "done", ports: [one("a")] }],
      encodeOutput: () => OffchainToolOutput.fromPorts(Buffer.from("done"), [["a", value("1")]]),
    });
    expectResult(await sent(tool), resultBcs("done", [["a", "1"]]));
    assert.throws(() => OffchainToolOutput.fromPorts(Uint8Array.of(0xff), []), {
      name: "NexusDataError",
      message: "fromPorts: expected the tag as text or as UTF-8 bytes",
    });
  });
});

const sent = async (tool: CountingTool) => sendPlain((await serveFor([tool])).url, tool.target, '{"value":1}');

describe("the types of explicit ports", () => {
  const text: Codec = { kind: "string", maxLength: 3 };
  const item: Codec = { kind: "object", members: [{ name: "at", codec: { kind: "ref", name: "Time" } }], patterns: [] };
  const ports = [one("text", text), one("big", { kind: "bigint", format: "int64" }, true), many("list", item)];
  const definitions = [["Time", { kind: "date" }]] as const;
  const explicit = (texts: readonly [text: string, big: string, ...list: string[]]) => {
    const [first, big, ...list] = texts.map((text) => new InlineValue(Buffer.from(text)));
    const tool = countingTool({
      output: [{ name: "ok", ports }],
      encodeOutput: () =>
        OffchainToolOutput.fromPorts("ok", [
          ["text", NexusData.one(first as InlineValue)],
          ["big", NexusData.one(big as InlineValue)],
          ["list", NexusData.many(list)],
        ]),
    });
    provideContracts([{ ...tool.contract, definitions }]);
    return tool;
  };
  const AT = '{"at":"2024-02-29T12:34:56.789Z"}';

  for (const texts of [
    ['"abc"', "9007199254740993", AT],
    ['"longer than its constraint, as in a plain result"', "null", AT, AT],
  ] as const) {
    it(`${texts} are sent unchanged`, async () => {
      const [text, big, ...list] = texts;
      const bcs = resultBcs("ok", [["text", text], ["big", big], ["list", list]]); // biome-ignore format: one row
      expectResult(await sent(explicit(texts)), bcs);
    });
  }

  for (const [texts, details] of [
    [["5", "1", AT], "ok.text: expected a string, got a number"],
    [["null", "1", AT], "ok.text: expected a string, got null"],
    [['"abc"', '"1"', AT], "ok.big: expected an integer, got a string"],
    [['"abc"', "9223372036854775808", AT], "ok.big: expected an int64 integer, got an integer outside its range"],
    [
      ['"abc"', "1", AT, '{"at":"canary"}'],
      "ok.list[1].at: expected an RFC 3339 date-time with an offset, such as 2026-01-31T12:00:00Z, got a string",
    ],
    [
      ['"abc"', "1", '{"at":"2024-02-29T12:34:56.789Z","canary":1}'],
      "ok.list[0]: expected only declared members, got another",
    ],
    [['"abc"', "1", `{"at":1,${AT.slice(1)}`], "ok.list[0].at: expected the member once, got it twice"],
    [["canary", "1", AT], "ok.text: not JSON: expected a value at byte 0"],
  ] as const) {
    it(`${texts} are refused`, async () => {
      const tool = explicit(texts);
      const { url } = await serveSigned([tool]);
      const response = await signedCall(tool, { value: bytes("1") }).send(url);
      assert.equal(expectError(response, 500, "output_serialization_error"), details);
      proves("7.14");
    });
  }
});

describe("encodeOutput by default", () => {
  const output = [{ name: "ok", ports: [one("note", { kind: "string" }, true), many("list", { kind: "bigint" })] }];
  const tool = (list: unknown) => countingTool({ output, invoke: () => ({ ok: { list } }) });
  /** The same tool with an override, which gets the result of the default. */
  const overriding = (list: unknown, change: (encode: () => unknown) => unknown): CountingTool => {
    const plain = tool(list);
    const { prototype } = plain.class;
    prototype.encodeOutput = function (output) {
      return change(() => SvcTool.prototype.encodeOutput.call(this, output)) as OffchainToolOutput;
    };
    return plain;
  };

  it("returns the ports of the result, of which an override can change one", async () => {
    const list = [1n, 18446744073709551615n];
    const ports = (note: string) => resultBcs("ok", [["note", note], ["list", list.map(String)]]); // biome-ignore format: one row
    expectResult(await sent(tool(list)), ports("null"));
    const changed = overriding(list, async (encode) => {
      const ports = encode();
      assert.ok(ports instanceof OffchainToolOutput);
      assert.throws(() => ports.withPort("canary", NexusData.one(NexusValue.json("1"))), {
        message: 'withPort: expected one of the ports of "ok", got another',
      });
      return ports.withPort("note", NexusData.one(NexusValue.json('"changed"')));
    });
    expectResult(await sent(changed), ports('"changed"'));
  });

  it("throws for an output that does not fit; the caller gets no details of errors of custom code", async () => {
    const details = "ok.list[0]: expected a bigint, got a string";
    assert.equal(expectError(await sent(tool(["canary"])), 500, "output_serialization_error"), details);
    const same = overriding(["canary"], (encode) => {
      assert.throws(encode, { name: "WireFault", details });
      return encode();
    });
    assert.equal(expectError(await sent(same), 500, "output_serialization_error"), undefined);
  });
});
