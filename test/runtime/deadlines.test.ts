/** The deadlines of a tool's runs share one timer. */

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { spawnSync } from "node:child_process";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Run } from "#runtime/server/call/run/run.js";
import { type Due, RunDeadlines } from "#runtime/server/call/run/run-deadlines.js";
import type { ServedTool } from "#runtime/server/call/run/served-tool.js";

const SOURCE = fileURLToPath(new URL("../../runtime/dist/server/call/run/run-deadlines.js", import.meta.url));

/** A deadline some milliseconds from now, and by how much it was missed. */
function dueIn(ms: number, missed: number[]): Due {
  const deadline = performance.now() + ms;
  return { deadline, onExpired: () => missed.push(performance.now() - deadline) };
}

/** Stops the time of this process; the returned function lets it pass. */
function stopTime(t: TestContext): (ms: number) => void {
  let now = 1_000;
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.mock.method(performance, "now", () => now);
  return (ms) => {
    for (let left = ms; left > 0; left--) {
      now++;
      t.mock.timers.tick(1);
    }
  };
}

test("each deadline expires once, at its time", (t) => {
  const pass = stopTime(t);
  const deadlines = new RunDeadlines();
  const missed: number[] = [];
  const met: number[] = [];
  for (let i = 0; i < 20; i++) {
    deadlines.add(dueIn(40, missed));
    const [early, late] = [dueIn(40, met), dueIn(40, met)];
    deadlines.add(early);
    deadlines.add(late);
    deadlines.cancel(early);
    pass(3);
    deadlines.cancel(late);
  }
  pass(100);
  assert.deepEqual([missed, met], [Array(20).fill(0), []]);
});

test("a run that begins while another deadline expires has its own deadline", (t) => {
  const pass = stopTime(t);
  const deadlines = new RunDeadlines();
  const missed: number[] = [];
  deadlines.add({ deadline: performance.now() + 20, onExpired: () => deadlines.add(dueIn(20, missed)) });
  deadlines.add(dueIn(30, missed));
  pass(120);
  assert.deepEqual(missed, [0, 0]);
});

test("a process waits for an open deadline, but not for one that was cancelled", () => {
  const script = (end: string) => `
    import { RunDeadlines } from ${JSON.stringify(SOURCE)};
    const deadlines = new RunDeadlines();
    const due = { deadline: performance.now() + 200, onExpired: () => console.log("onExpired") };
    deadlines.add(due);
    ${end}`;
  const run = (end: string) => {
    const args = ["--input-type=module", "--eval", script(end)];
    const started = performance.now();
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    assert.equal(stderr, "");
    return { stdout, ms: performance.now() - started };
  };
  const met = run("deadlines.cancel(due);");
  assert.equal(met.stdout, "");
  const again = run("deadlines.cancel(due); deadlines.add(due);");
  assert.equal(again.stdout, "onExpired\n");
  assert.ok(again.ms > 200);
});

test("a deadline expires in the context of its own call", async (t) => {
  const pass = stopTime(t);
  const calls = new AsyncLocalStorage<string>();
  const tool = toolOf("xyz.test.slow@1", 40);
  const seen: unknown[] = [];
  const log = { debug() {}, info() {}, error() {}, warn: () => seen.push(calls.getStore()) };
  const begin = (name: string) =>
    calls.run(
      name,
      () => new Run(tool, { input: { body: Buffer.from("{}") }, auth: undefined, json: false }, log).answer,
    );
  const first = begin("first");
  pass(15);
  const second = begin("second");
  pass(40);
  await Promise.all([first, second]);
  assert.deepEqual(seen, ["first", "second"]);
});

/** A tool of which no run ends. */
function toolOf(fqn: string, timeoutMs: number): ServedTool {
  const construct = () => new Promise(() => {});
  return { fqn, timeoutMs, deadlines: new RunDeadlines(), construct } as unknown as ServedTool;
}
