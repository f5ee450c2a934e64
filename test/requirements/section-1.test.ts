/** Names and limits that no other file proves (protocol.md section 1). */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Port } from "#client/wire/codec/contract.js";
import { NexusData, NexusValue, OffchainToolOutput, SvcTool } from "#runtime/index.js";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import { formats } from "#runtime/server/wire/formats.js";
import { proves } from "../proves.js";
import { expectError } from "../runtime/raw.js";
import {
  countingTool,
  data,
  echoCall,
  echoed,
  one,
  sendPlain,
  serveFor,
  serveSigned,
  signedCall,
} from "../runtime/tools.js";

const MIB = 1024 * 1024;
const text = (length: number) => JSON.stringify("x".repeat(length - 2));

describe("the header prefix", () => {
  it("changes the names of the headers and nothing else", async () => {
    const tool = countingTool();
    const nonce = Buffer.alloc(32, 5);
    const answers = await Promise.all(
      ["X-Svc-", "X-Nexus-"].map(async (prefix) => {
        const { url } = await serveSigned([tool], { headerPrefix: prefix, replayStore: new ReplayMemory() });
        const { status, headers, body } = await echoCall(tool, "1", { nonce, prefix }).send(url);
        const lower = prefix.toLowerCase();
        const plain = [...headers].filter(([name]) => name !== "date" && name !== "x-request-id");
        // Each memory has a name of its own.
        const named = plain.map(([name, value]) => [name.replace(lower, ""), name.endsWith("-memory") ? "" : value]);
        return { status, body, headers: named };
      }),
    );
    assert.equal(answers[0]?.status, 200);
    assert.deepEqual(answers[1], answers[0]);
    proves("1.1");
  });
});

describe("the budgets", () => {
  it("are not raised by a larger limit of the body", async () => {
    const tool = countingTool({ invoke: () => ({ ok: { value: "x".repeat(61_439) } }) });
    const { url } = await serveSigned([tool], { maxBody: 32 * MIB });
    const over = await echoCall(tool, text(13 * MIB)).send(url);
    const details = expectError(over, 422, "input_deserialization_error");
    assert.equal(details, "ports[0].value.one: the input is over the budget of 8388608 bytes");
    const result = await echoCall(tool, text(8 * MIB)).send(url);
    expectError(result, 500, "output_serialization_error");
    assert.equal(tool.calls.invoked, 1);
    proves("1.15");
  });

  it("of input and output are independent: both full in one call", async () => {
    const blob = NexusValue.walrus("A".repeat(43), new Uint8Array(32), 8 * MIB);
    const tool = countingTool({
      output: [{ name: "ok", ports: [one("blob")] }],
      encodeOutput: () => OffchainToolOutput.fromPorts("ok", [["blob", NexusData.one(blob)]]),
    });
    const { url } = await serveSigned([tool]);
    const response = await signedCall(tool, { value: data(text(8 * MIB)) }).send(url);
    assert.equal(response.status, 200, response.body.toString());
    proves("1.14");
  });
});

describe("the timeout of a tool", () => {
  it("is 10 s by default", () => {
    assert.equal(SvcTool.timeout(), 10_000);
    proves("1.16");
  });

  it("counts the decoding of the input: a tool is not invoked past it", async () => {
    (formats as Record<string, (text: string) => boolean>).slow = () => {
      const end = performance.now() + 600;
      while (performance.now() < end);
      return true;
    };
    const input: readonly Port[] = [{ name: "value", many: false, codec: { kind: "string", format: "slow" } }];
    const tool = countingTool({ timeout: 500, input });
    const { url } = await serveFor([tool]);
    const response = await sendPlain(url, tool.target, '{"value":"a"}');
    assert.equal(expectError(response, 504, "tool_invocation_timeout"), undefined);
    assert.equal(tool.calls.invoked, 0);
    const quick = countingTool({ timeout: 500 });
    const fine = await serveFor([quick]);
    assert.deepEqual((await sendPlain(fine.url, quick.target, '{"value":1}')).body, echoed("1"));
    proves("1.16");
  });
});
