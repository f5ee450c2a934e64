/** The limit on the values of a call: its setting, and calls at and over it. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { serve } from "#runtime/index.js";
import { ServedTool } from "#runtime/server/call/run/served-tool.js";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import { inputValuesLimit } from "#runtime/server/tool-server.js";
import { proves } from "../proves.js";
import { expectError } from "./raw.js";
import {
  bareRequest,
  bytes,
  countingTool,
  data,
  invokeService,
  keptLog,
  plainError,
  sendPlain,
  serveFor,
  serveSigned,
  signedCall,
  UNSIGNED,
} from "./tools.js";

const numbers = (count: number) => `[${Array(count).fill("0").join(",")}]`;
const OVER =
  "the input may have at most 1000 values, including names of members: send fewer, or raise SVC_MAX_INPUT_VALUES of the server";

describe("the setting", () => {
  const withVariable = (text: string, read: () => void) => {
    process.env.SVC_MAX_INPUT_VALUES = text;
    try {
      read();
    } finally {
      delete process.env.SVC_MAX_INPUT_VALUES;
    }
  };

  it("is 300,000 by default; code takes precedence over the variable", () => {
    assert.equal(inputValuesLimit(undefined), 300_000);
    withVariable("2000", () => {
      assert.equal(inputValuesLimit(undefined), 2_000);
      assert.equal(inputValuesLimit(3_000), 3_000);
    });
  });

  it("is 1,000 to 100,000,000", () => {
    for (const value of [1_000, 100_000_000]) {
      assert.equal(inputValuesLimit(value), value);
      withVariable(`${value}`, () => assert.equal(inputValuesLimit(undefined), value));
    }
    for (const value of [999, 100_000_001, 1e3 + 0.5]) {
      const text = `maxInputValues: expected an integer from 1000 to 100000000 values, got ${value}`;
      assert.throws(() => inputValuesLimit(value), new RangeError(text));
    }
    for (const text of ["999", "100000001", "", "1e6", "pear", "0x1000", " 1000"]) {
      withVariable(text, () =>
        assert.throws(() => inputValuesLimit(undefined), /^RangeError: SVC_MAX_INPUT_VALUES: expected an? /),
      );
    }
  });

  it("an invalid value is a start-up error", async () => {
    const tool = countingTool();
    await assert.rejects(serve([tool.class], { config: UNSIGNED, maxInputValues: 5 }), /^RangeError: maxInputValues: /);
  });
});

describe("a call over the limit", () => {
  it("gets 413 before it runs, without signatures", async () => {
    const tool = countingTool();
    const { url } = await serveFor([tool], { maxInputValues: 1_000, load: { limits: { concurrency: 1 } } });
    // The object, the name and the array are values too.
    assert.equal((await sendPlain(url, tool.target, `{"value":${numbers(997)}}`)).status, 200);
    for (const body of [`{"value":${numbers(998)}}`, `{"value":0,"ignored":${numbers(998)}}`, numbers(1_000)]) {
      assert.equal(await plainError(url, tool.target, body, 413, "payload_too_large"), OVER);
    }
    // Nothing holds the only slot.
    assert.equal((await sendPlain(url, tool.target, '{"value":1}')).status, 200);
    assert.equal(tool.calls.constructed, 2);
    proves("1.24");
  });

  it("gets 413 before its nonce is claimed, with signatures, for data and bytes", async () => {
    const tool = countingTool();
    const { url } = await serveSigned([tool], { maxInputValues: 1_000 });
    const nonce = randomBytes(32);
    // The envelope has 13 values, with `bytes` one more for the encoded text.
    for (const value of [data(numbers(987)), bytes(numbers(986))]) {
      const refused = await signedCall(tool, { value }, { nonce }).send(url);
      assert.equal(expectError(refused, 413, "payload_too_large"), OVER);
    }
    assert.equal(tool.calls.constructed, 0);
    for (const value of [data(numbers(986)), bytes(numbers(985))]) {
      assert.equal((await signedCall(tool, { value }, { nonce }).send(url)).status, 200);
    }
    assert.equal(tool.calls.invoked, 2);
    proves("1.24");
  });
});

/** A service without a transport, and an unsigned request for its tool; `turned` becomes true at the next turn. */
function service1000(value: string, maxInputValues = 1_000) {
  const seen = { turned: false };
  const tool = countingTool({ invoke: () => ({ ok: { value: seen.turned } }) });
  const served = new ServedTool(tool.class);
  const service = invokeService({ config: UNSIGNED, store: new ReplayMemory(), log: keptLog(), maxInputValues });
  const body = Buffer.from(`{"value":${value}}`);
  const readBody = async () => {
    setImmediate(() => {
      seen.turned = true;
    });
    return { input: body };
  };
  const bare = bareRequest([["content-length", `${body.length}`]], body);
  return { service, served, request: { ...bare, readBody } };
}

describe("between parsing and decoding", () => {
  for (const [what, count, turned] of [
    ["other events are handled when the input is large", 20_000, true],
    ["a small input takes no turn", 9_000, false],
  ] as const) {
    it(what, async () => {
      const { service, served, request } = service1000(numbers(count), 100_000);
      const { status, body } = await service.handle(served, request);
      assert.deepEqual([status, Buffer.from(body).toString()], [200, `{"ok":{"value":${turned}}}`]);
    });
  }
});
