/** One process remembers the signed calls of a tool once (protocol.md section 8), also with several listeners. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type FastifyInstance, fastify, svcTools } from "#runtime/fastify.js";
import { ReplayMemory, StartupError } from "#runtime/index.js";
import { atEnd } from "../teardown.js";
import { countingTool, echoCall, echoed, expectResult, keptLog, serveFor, serveSigned, signedConfig } from "./tools.js";

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

  it("of two applications neither", async () => {
    const tool = countingTool();
    const mount = async (app: FastifyInstance) => {
      const config = signedConfig([tool.fqn]);
      await app.register(svcTools, { tools: [tool.class], config, logger: keptLog() });
      await app.ready();
    };
    const [first, second] = [fastify(), fastify()];
    atEnd(() => first.close());
    await mount(first);
    await assert.rejects(mount(second), isTwice(tool.fqn));
    await second.close();
    await assert.rejects(serveSigned([tool]), isTwice(tool.fqn));
  });

  it("can share a store: a signed call runs once", async () => {
    const tool = countingTool();
    const replayStore = new ReplayMemory();
    const servers = [await serveSigned([tool], { replayStore }), await serveSigned([tool], { replayStore })];
    const call = echoCall(tool, "1");
    for (const { url } of servers) expectResult(await call.send(url), echoed("1"), call);
    assert.equal(tool.calls.invoked, 1);
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
