/** The deadline of a run. */

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { test } from "node:test";
import { Run } from "#runtime/server/call/run/run.js";
import type { ServedTool } from "#runtime/server/call/run/served-tool.js";

const calls = new AsyncLocalStorage<string>();

/** Begins runs of a tool, and returns the calls whose deadline has passed, in order. */
function scene(construct: () => Promise<never>) {
  const expired: unknown[] = [];
  const log = { debug() {}, info() {}, error() {}, warn: () => expired.push(calls.getStore()) };
  const tool = { fqn: "xyz.test.slow@1", timeoutMs: 40, construct } as unknown as ServedTool;
  const begin = (name: string) =>
    calls.run(name, () => new Run(tool, { input: { body: Buffer.from("{}") }, auth: undefined, json: false }, log));
  return { begin, expired };
}

test("a deadline passes once, at its time and in the context of its own call", async () => {
  const { begin, expired } = scene(() => new Promise(() => {}));
  const started = performance.now();
  const runs = ["first", "second"].map(begin);
  for (const { answer } of runs) assert.equal((await answer).code, "tool_invocation_timeout");
  assert.ok(performance.now() - started >= 39);
  assert.deepEqual(expired, ["first", "second"]);
});

test("the deadline of a run that has ended does not pass, and one that was brought closer passes once", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { begin, expired } = scene(() => Promise.reject(new Error("refused")));
  assert.equal((await begin("ended").answer).code, "tool_invocation_failed");
  t.mock.timers.tick(100);
  assert.deepEqual(expired, []);
  const closer = scene(() => new Promise(() => {}));
  const run = closer.begin("closer");
  for (const ms of [1, 40]) run.advance(ms);
  t.mock.timers.tick(100);
  assert.equal(closer.expired.length, 1);
});

test("the time in which the tool blocks its start counts", (t) => {
  let now = 1_000;
  t.mock.method(performance, "now", () => now);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { begin, expired } = scene(() => {
    now += 30;
    return new Promise(() => {});
  });
  begin("slow");
  t.mock.timers.tick(9);
  assert.deepEqual(expired, []);
  t.mock.timers.tick(1);
  assert.equal(expired.length, 1);
});

test("a deadline passes once even if timers are replaced during the run", async (t) => {
  const { begin, expired } = scene(() => Promise.reject(new Error("refused")));
  const { answer } = begin("ended");
  t.mock.timers.enable({ apis: ["setTimeout"] });
  assert.equal((await answer).code, "tool_invocation_failed");
  t.mock.timers.reset();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(expired, []);
});
