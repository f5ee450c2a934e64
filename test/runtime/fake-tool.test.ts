/** A fake tool: what calls a tool is tested without it, through its contract. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { contractsOf } from "svc-gen/generate";
import type { LeaderError, ToolClient } from "svc-runtime/leader";
import { createFakeTool, type OutputOf } from "svc-runtime/testing";
import { INPUT, project } from "./probe-project.js";
import type { Probe } from "./tested-tools.js";

const contracts = await contractsOf({ root: project.root });
const FQN = "xyz.test.probe@1";

/** What a test tests: it needs no more than the interface of a client. */
const modeOf = async (client: ToolClient<typeof Probe>) => (await client.invoke(INPUT)).tag;

test("answers with the types of the class, signed, and keeps the inputs", async () => {
  await using fake = await createFakeTool<typeof Probe>(contracts, FQN, ({ mode }) =>
    mode === "echo" ? { over: { count: 11 } } : "done",
  );
  const result = await fake.client.invoke(INPUT);
  assert.deepEqual([result.tag, result.value, result.signature], ["over", { count: 11 }, "verified"]);
  assert.equal(await modeOf(fake.client), "over");
  assert.equal((await fake.client.invoke({ ...INPUT, mode: "done" }, { repeat: true })).tag, "done");
  assert.deepEqual(fake.inputs, [INPUT, INPUT, { ...INPUT, mode: "done" }]);
  const request = fake.client.sign(INPUT);
  await fake.client.send(request);
  await fake.client.send(request);
  assert.equal(fake.inputs.length, 4, "an exact retry does not run");
  assert.equal(await fake.client.health(), 200);
  assert.deepEqual(await fake.client.refresh(), []);
});

test("refuses what the tool would refuse, and results that do not fit", async () => {
  const answers: (() => unknown)[] = [
    () => ({ nothing: {} }),
    () => {
      throw new Error("no");
    },
  ];
  await using fake = await createFakeTool<typeof Probe>(
    contracts,
    FQN,
    () => answers.shift()?.() as OutputOf<typeof Probe>,
  );
  const codeOf = (call: Promise<unknown>) =>
    call.then(
      () => "a result",
      ({ code }: LeaderError) => code,
    );
  assert.equal(await codeOf(fake.client.invoke({ ...INPUT, id: "x" as never })), "input_deserialization_error");
  assert.equal(fake.inputs.length, 0);
  assert.equal(await codeOf(fake.client.invoke(INPUT)), "output_serialization_error");
  assert.equal(await codeOf(fake.client.invoke(INPUT)), "tool_invocation_failed");
  await assert.rejects(
    createFakeTool(contracts, "xyz.test.none@1", () => undefined),
    /expected a contract of xyz\.test\.none@1, got xyz\.test\./,
  );
});
