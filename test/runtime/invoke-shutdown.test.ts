/** Runs that are told that the process ends (protocol.md section 8). */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { InvocationAborted, type InvokeContext, PermissionDenied } from "#runtime/index.js";
import { ServedTool } from "#runtime/server/call/run/served-tool.js";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import { proves } from "../proves.js";
import {
  type Behaviour,
  bareRequest,
  countingTool,
  echoCall,
  gate,
  invokeService,
  keptLog,
  type SignedCall,
  signedConfig,
  until,
} from "./tools.js";

/** A service without a transport, and a call of it that is running. */
async function running(behaviour: Behaviour) {
  const tool = countingTool(behaviour);
  const served = new ServedTool(tool.class);
  const config = signedConfig([tool.fqn]);
  const store = new ReplayMemory();
  const start = () => invokeService({ config, store, log: keptLog() });
  const service = start();
  const call = echoCall(tool, "1");
  const send = async ({ headers, body }: SignedCall, to = service, memory?: string) => {
    const named = memory === undefined ? [] : [["X-Svc-Replay-Memory", memory] as const];
    const pairs = [...headers, ["Content-Length", `${body.length}`] as const, ...named];
    const reply = await to.handle(served, bareRequest(pairs, body));
    return { ...reply, body: Buffer.from(reply.body).toString() };
  };
  const answer = send(call);
  await until(() => tool.calls.constructed > 0, "it runs");
  return { tool, service, start, store, call, send, answer };
}

describe("after the drain limit", () => {
  const stopped = async ({ signal }: InvokeContext) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    throw signal.reason;
  };

  it("the signal fires with reason shutdown; a run that then throws gets 503 interrupted, which is not the answer to a retry", async () => {
    let reason: unknown;
    let runs = 0;
    const invoke = async ({ value }: Record<string, unknown>, context: InvokeContext) => {
      if (runs++ > 0) return { ok: { value } };
      return stopped(context).catch((error: unknown) => {
        reason = error;
        throw error;
      });
    };
    const { service, start, store, call, send, answer } = await running({ invoke });
    assert.equal(service.load.runs.inFlight, 1);
    service.abortRuns();
    const { status, headers, body } = await answer;
    assert.deepEqual([status, body], [503, '{"error":"tool_invocation_interrupted"}']);
    assert.deepEqual(headers.slice(-2), ["retry-after", "1"]);
    assert.ok(reason instanceof InvocationAborted);
    assert.equal(reason.reason, "shutdown");
    assert.equal(store.stats().inFlight, 0);
    assert.equal(service.load.runs.inFlight, 0);
    const repeated = await send(call, start(), `${store.memoryName};age=1`);
    assert.equal(repeated.body.slice(0, 29), '{"error":"replay_memory_lost"');
    assert.equal(runs, 1);
    assert.equal((await send(call, start())).status, 200, "a retry without the header runs");
    proves("7.41", "8.14", "8.37", "8.38");
  });

  it("a call that would start a run then gets 503 shutting_down: nothing ran, and its entry is released", async () => {
    const { tool, service, store, send, answer } = await running({ invoke: (_input, context) => stopped(context) });
    service.abortRuns();
    await answer;
    const { status, body } = await send(echoCall(tool, "2"));
    assert.deepEqual([status, body], [503, '{"error":"shutting_down"}']);
    assert.equal(tool.calls.constructed, 1);
    assert.equal(store.stats().inFlight, 0);
    proves("7.30");
  });

  for (const part of ["construct", "authorize", "encodeOutput"] as const) {
    it(`an error of ${part} has the same effect`, async () => {
      const open = gate();
      const { service, store, answer } = await running({
        [part]: () => open.promise.then(() => assert.fail("canary")),
      });
      service.abortRuns();
      open.open();
      assert.deepEqual([(await answer).status, (await answer).body], [503, '{"error":"tool_invocation_interrupted"}']);
      assert.equal(store.stats().entries, 1, "its mark");
    });
  }

  it("a run that ends without throwing is answered and cached: a result, a refusal, an invalid result", async () => {
    for (const [status, end] of [
      [200, { invoke: () => ({ ok: { value: 1 } }) }],
      [403, { authorize: () => Promise.reject(new PermissionDenied("no")) }],
      [500, { invoke: () => ({ ok: { value: Number.NaN } }) }],
    ] as const) {
      const open = gate();
      const { service, store, answer } = await running({ ...end, construct: () => open.promise });
      service.abortRuns();
      open.open();
      assert.equal((await answer).status, status);
      assert.equal(store.stats().entries, 1);
    }
  });
});
