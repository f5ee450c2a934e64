/** The limit on the runs of a process (docs/settings.md): over all tools, signed or not, with any store. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { BootstrapOptions } from "#runtime/index.js";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import { expectError, RawConnection, type RawResponse, requestText } from "./raw.js";
import {
  aliceKey2,
  bob,
  countingTool,
  echoCall,
  echoed,
  expectResult,
  sendPlain,
  serveFor,
  serveSigned,
  until,
  waitingTool,
} from "./tools.js";

const overloaded = (response: RawResponse) => assert.equal(expectError(response, 503, "overloaded"), undefined);

describe("maxRuns", () => {
  it("limits signed runs: 503, nothing is stored, exact retries are answered", async () => {
    const { tool, open } = waitingTool();
    const quick = countingTool({ path: "quick" });
    const store = new ReplayMemory();
    const { url, load } = await serveSigned([tool, quick], { maxRuns: 4, replayStore: store });
    const done = echoCall(quick, "7");
    expectResult(await done.send(url), echoed("7"), done);
    const ofAlice = ["1", "2", "3"].map((value) => echoCall(tool, value));
    const running = ofAlice.slice(0, 2).map((call) => call.send(url));
    await until(() => tool.calls.invoked === 2, "two run");
    const more = ofAlice[2] ?? assert.fail();
    overloaded(await more.send(url));
    overloaded(await echoCall(quick, "8").send(url));
    overloaded(await echoCall(tool, "4", { leader: aliceKey2 }).send(url));
    assert.equal(store.stats().inFlight, 2, "a refused call holds no claim");
    expectResult(await done.send(url), echoed("7"), done);
    const ofBob = echoCall(tool, "5", { leader: bob });
    running.push(ofBob.send(url));
    await until(() => tool.calls.invoked === 3, "another leader has room");
    assert.deepEqual([load().runs.inFlight, load().runs.most, load().refused.runs], [3, 4, 3]);
    open();
    for (const response of running) assert.equal((await response).status, 200);
    expectResult(await more.send(url), echoed("3"), more);
    assert.equal(load().runs.inFlight, 0);
  });

  it("bounds unsigned runs", async () => {
    const { tool, open } = waitingTool();
    const { url, load } = await serveFor([tool], { maxRuns: 6 });
    const calls = Array.from({ length: 5 }, (_, i) => sendPlain(url, tool.target, `{"value":${i}}`));
    await until(() => tool.calls.invoked === 5, "one of each connection, and as many as are left for all others");
    overloaded(await sendPlain(url, tool.target, '{"value":5}'));
    assert.equal(load().refused.runs, 1);
    open();
    for (const [i, answer] of calls.entries()) expectResult(await answer, echoed(`${i}`));
    await until(() => load().runs.inFlight === 0, "nothing is held");
  });

  it("counts a call that waits for a slot, and releases it when it is refused or its caller disconnects", async () => {
    const { tool, open } = waitingTool();
    const { url, load } = await serveFor([tool], {
      maxRuns: 8,
      load: { limits: { concurrency: 1, queue: 1, queueTimeoutMs: 60_000 } },
    });
    const first = sendPlain(url, tool.target, '{"value":0}');
    await until(() => tool.calls.invoked === 1, "one runs");
    const leaver = await RawConnection.open(url);
    leaver.send(requestText("POST", tool.target, [["Content-Length", "11"]], '{"value":1}'));
    await until(() => load().runs.inFlight === 2, "one waits");
    overloaded(await sendPlain(url, tool.target, '{"value":2}'));
    assert.deepEqual([load().refused.queueFull, load().refused.runs, load().runs.inFlight], [1, 0, 2]);
    leaver.close();
    await until(() => load().runs.inFlight === 1, "the caller has left");
    open();
    expectResult(await first, echoed("0"));
    assert.equal(load().runs.inFlight, 0);
  });

  it("a run that cannot begin releases its capacity", async () => {
    const tool = countingTool({ construct: () => assert.fail("canary") });
    const { url, load } = await serveSigned([tool], { maxRuns: 2 });
    for (let i = 0; i < 3; i++) expectError(await echoCall(tool, "1").send(url), 500, "tool_invocation_failed");
    assert.deepEqual([load().runs.inFlight, load().refused.runs], [0, 0]);
  });
});

describe("the number", () => {
  const tool = countingTool();
  const most = async (options: BootstrapOptions = {}) => {
    const server = await serveFor([tool], options);
    await server.close();
    return server.load().runs.most;
  };
  const environment = (t: TestContext, text: string) => {
    process.env.SVC_MAX_RUNS = text;
    t.after(() => delete process.env.SVC_MAX_RUNS);
  };

  it("is 4,096, SVC_MAX_RUNS, or the option, which takes precedence", async (t) => {
    assert.equal(await most(), 4_096);
    environment(t, "100");
    assert.equal(await most(), 100);
    assert.equal(await most({ maxRuns: 2 }), 2);
  });

  it("is at least 2", async (t) => {
    for (const maxRuns of [1, 0, -1, 2.5]) await assert.rejects(most({ maxRuns }), /^RangeError: maxRuns: /);
    for (const text of ["1", "", "many", "-5", "1e3"]) {
      environment(t, text);
      await assert.rejects(most(), /^RangeError: SVC_MAX_RUNS: expected an? /);
    }
  });
});
