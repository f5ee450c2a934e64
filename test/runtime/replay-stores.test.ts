/** The rules of replay stores, by the suite that every store is held to. */

import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import { type ReplayContext, ReplayStoreUnavailable } from "#runtime/server/replay/store.js";
import { replayStoreCases, type StoreUnderTest } from "./replay-store-suite.js";

const TTL = 60_000;

function memory(): StoreUnderTest {
  const time = { now: 0 };
  const store = new ReplayMemory({ now: () => time.now, ttlMs: () => TTL });
  return {
    store,
    expire: () => {
      time.now += TTL;
    },
  };
}

describe("the memory store", () => {
  for (const { name, run } of replayStoreCases(memory)) it(name, run);
});

test("the error of a store that cannot claim names its reason", () => {
  const error = new ReplayStoreUnavailable("grace", 5_000, { cause: new Error("x") });
  assert.deepEqual([error.name, error.reason, error.retryAfterMs], ["ReplayStoreUnavailable", "grace", 5_000]);
  assert.equal(error.message, "the replay store cannot claim a run: grace");
});

test("the memory store takes the lifetimes of its server, unless it has its own", async () => {
  for (const [own, wanted] of [
    [undefined, 10],
    [() => 1_000, 1_000],
  ] as const) {
    const time = { now: 0 };
    const store = new ReplayMemory({ now: () => time.now, ...(own && { ttlMs: own }) });
    store.start({
      tools: [{ fqn: "t", timeoutMs: 1 }],
      ttlMs: () => 10,
      log: undefined as unknown as ReplayContext["log"],
    });
    const bytes = new Uint8Array(32);
    const caller = { leaderId: "a", leaderKeyId: 1n };
    const request = { tool: "t", nonce: bytes, inputHash: bytes, caller, leaseMs: 1 };
    const claim = store.claim(request);
    assert.ok(claim.state === "run");
    claim.lease.complete({ status: 200, signable: true, body: bytes });
    time.now = wanted - 1;
    assert.equal(store.claim(request).state, "completed");
    time.now = wanted;
    assert.equal(store.claim(request).state, "run");
  }
});
