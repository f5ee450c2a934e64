/** What the replay memory costs, in steps (protocol.md section 8). */

import assert from "node:assert/strict";
import { it } from "node:test";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import type { Claim } from "#runtime/server/replay/store.js";
import { proves } from "../proves.js";
import { stepsOf } from "../steps.js";

const TTL = 300_000;
const CALLER = { leaderId: "alice", leaderKeyId: 1n };
const ANSWER = { status: 200, signable: true, body: new Uint8Array(1) };

/** A store of one tool, whose nonces are numbers, with a clock of its own. */
function store(Memory = ReplayMemory, maxBytes = 16 * 1024 * 1024) {
  const time = { now: 1000 };
  const memory = new Memory({ maxBytes, now: () => time.now, ttlMs: () => TTL });
  const key = new Uint8Array(32);
  const view = new DataView(key.buffer);
  const claim = (nonce: number): Claim => {
    view.setUint32(4, nonce);
    return memory.claim({ tool: "tool", nonce: key, inputHash: key, caller: CALLER, leaseMs: 40_000 });
  };
  const run = (nonce: number) => {
    const claimed = claim(nonce);
    assert.ok(claimed.state === "run", claimed.state);
    return claimed.lease;
  };
  /** The steps of a thousand calls at a time, ten milliseconds from one to the next. */
  const costs = (from: number, to: number) =>
    Array.from({ length: (to - from) / 1000 }, (_, block) =>
      steps(() => {
        for (let i = 0; i < 1000; i++) {
          time.now += 10;
          run(from + block * 1000 + i).complete(ANSWER);
        }
      }),
    );
  return { time, memory, claim, run, costs };
}

const steps = (work: () => void) => stepsOf("/server/replay/memory", work);

it("the cost of adding and expiring an entry does not depend on their number (30,000)", (t) => {
  // The timer would clear entries away too.
  t.mock.method(globalThis, "setTimeout", () => ({ unref: () => undefined }));
  const { time, memory, claim, run, costs } = store();
  const growing = costs(0, 30_000);
  assert.equal(memory.stats().entries, 30_000);
  const steady = costs(30_000, 60_000);
  const [early = 0] = steady;
  assert.ok(early > 1000, `${early} steps`);
  for (const cost of [...growing, ...steady]) assert.ok(cost < 3 * early, `${cost} steps, at first ${early}`);
  const one = early / 1000;
  assert.ok(steps(() => assert.equal(claim(45_000).state, "completed")) < 4 * one);
  time.now += TTL;
  // All have expired: a claim clears a few of them away, and the rest waits for the timer.
  const clearing = steps(() => run(1).release());
  assert.ok(clearing >= one && clearing < 10 * one, `${clearing} steps, one ${one}`);
  const counting = steps(() => assert.ok(memory.stats().entries < 28_000));
  assert.ok(counting < 5_000 * one, `${counting} steps, one ${one}`);
  proves("8.17");
});

it("30,000 expired entries are removed in turns of bounded work", (t) => {
  const timers: { callback: () => void; ms: number }[] = [];
  t.mock.method(globalThis, "setTimeout", ((callback: () => void, ms: number) => {
    timers.push({ callback, ms });
    return { unref: () => ({}) };
  }) as unknown as typeof setTimeout);
  const { time, memory, costs } = store();
  costs(0, 30_000);
  time.now += TTL;
  const turns: number[] = [];
  for (let timer = timers.shift(); timer !== undefined; timer = timers.shift()) {
    if (turns.length > 0) assert.equal(timer.ms, 1, "the next turn follows at once");
    turns.push(steps(timer.callback));
  }
  assert.deepEqual([turns.length, memory.stats().bytes], [15, 0]);
  for (const cost of turns) assert.ok(cost < 10_000, `${cost} steps in a turn`);
});

it("a claim in a full store removes only as many expired entries as needed", () => {
  const { time, memory, claim, run } = store();
  let count = 0;
  for (let claimed = claim(0); claimed.state === "run"; claimed = claim(++count)) claimed.lease.complete(ANSWER);
  const before = memory.stats().bytes;
  time.now += 10 * TTL;
  const cost = steps(() => run(count).release());
  assert.ok(memory.stats().bytes > before / 2, "most of the expired entries are still there");
  assert.ok(cost < 2_000, `${cost} steps`);
  while (memory.stats().bytes > 0);
  assert.equal(claim(1).state, "run");
});
