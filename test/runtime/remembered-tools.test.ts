/** One process remembers the signed calls of a tool once (protocol.md section 8), also with several listeners. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ReplayMemory, StartupError } from "#runtime/index.js";
import { countingTool, echoCall, echoed, expectResult, serveFor, serveSigned } from "./tools.js";

/** Whether an error is the refusal of a second memory for a tool. */
const isTwice = (fqn: string) => (error: unknown) => {
  assert.ok(error instanceof StartupError, `${error}`);
  assert.equal(
    error.message,
    `${fqn} is served twice in this process, each time with its own replay memory, so a signed call could run twice: pass the same replayStore to both, such as one new ReplayMemory() of svc-runtime`,
  );
  return true;
};

describe("two listeners of a process", () => {
  it("cannot serve a tool with separate memories: the second does not start", async () => {
    const [tool, other] = [countingTool(), countingTool({ path: "other" })];
    const first = await serveSigned([tool]);
    await assert.rejects(serveSigned([other, tool]), isTwice(tool.fqn));
    const call = echoCall(tool, "1");
    expectResult(await call.send(first.url), echoed("1"), call);
    await serveSigned([other]);
  });

  it("serve a tool one after the other, and both where no signatures are required", async () => {
    const tool = countingTool();
    for (let i = 0; i < 2; i++) await (await serveSigned([tool])).close();
    for (let i = 0; i < 2; i++) await serveFor([tool]);
  });
});

it("a shared memory keeps the lifetimes of each registration's tools", async () => {
  const [a, b] = [countingTool({ path: "a" }), countingTool({ path: "b" })];
  const time = { now: 0 };
  const replayStore = new ReplayMemory({ now: () => time.now });
  for (const [tool, ttlMs] of [
    [a, 1_000],
    [b, 2_000],
  ] as const) {
    const { url } = await serveSigned([tool], { replayStore, ttlMs });
    await echoCall(tool, "1").send(url);
  }
  assert.equal(replayStore.stats().entries, 2);
  time.now = 1_000;
  assert.equal(replayStore.stats().entries, 1);
  time.now = 2_000;
  assert.equal(replayStore.stats().entries, 0);
});
