/** The rules of replay stores, by the suite of `svc-runtime/testing`, and what a server makes of a shared store. */

import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import {
  type CachedAnswer,
  type Claim,
  type ReplayContext,
  type ReplayRequest,
  type ReplayStore,
  ReplayStoreUnavailable,
} from "#runtime/server/replay/store.js";
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

describe("the suite finds each fault of a store", () => {
  const wrong = (change: (store: ReplayStore) => Partial<ReplayStore>) => (): StoreUnderTest => {
    const { store, ...rest } = memory();
    return {
      store: Object.assign(Object.create(store), { claim: store.claim.bind(store), ...change(store) }),
      ...rest,
    };
  };
  const changed = (store: ReplayStore, change: (claim: Claim) => Claim) => ({
    claim: (request: ReplayRequest) => change(store.claim(request) as Claim),
  });
  for (const [name, make] of Object.entries({
    "ignores callers": wrong((store) => ({
      claim: (request) => store.claim({ ...request, caller: { leaderId: "x", leaderKeyId: 0n } }),
    })),
    "ignores tools": wrong((store) => ({ claim: (request) => store.claim({ ...request, tool: "one" }) })),
    "ignores input hashes": wrong((store) => ({
      claim: (request) => store.claim({ ...request, inputHash: new Uint8Array(32) }),
    })),
    "runs what is in flight": wrong((store) => ({
      ...changed(store, (claim) =>
        claim.state === "in-flight"
          ? {
              state: "run",
              lease: { complete: () => true, timeOut: () => true, settle: () => true, release: () => true },
            }
          : claim,
      ),
    })),
    "forgets interrupted runs": wrong((store) =>
      changed(store, (claim) => {
        if (claim.state !== "run") return claim;
        const lease = Object.create(claim.lease, {
          complete: {
            value: (answer: CachedAnswer) =>
              answer.status === 503 ? claim.lease.release() : claim.lease.complete(answer),
          },
        });
        return { state: "run", lease };
      }),
    ),
    "says yes to every end": wrong((store) =>
      changed(store, (claim) => {
        if (claim.state !== "run") return claim;
        const { lease } = claim;
        const yes = (end: () => unknown) => {
          end();
          return true;
        };
        return {
          state: "run",
          lease: {
            complete: (answer) => yes(() => lease.complete(answer)),
            timeOut: (answer) => yes(() => lease.timeOut(answer)),
            settle: () => yes(() => lease.settle()),
            release: () => yes(() => lease.release()),
          },
        };
      }),
    ),
    "cuts bodies": wrong((store) =>
      changed(store, (claim) => {
        if (claim.state !== "completed") return claim;
        const answer: CachedAnswer = { ...claim.answer, body: claim.answer.body.slice(0, 100) };
        return { ...claim, answer };
      }),
    ),
    "has no name of 16 bytes": wrong(() => ({ memoryName: "memory" })),
    "ignores what a repeat knows": wrong((store) => ({
      claim: ({ repeat: _, ...request }) => store.claim(request),
    })),
    "loses a repeat of what it knows": wrong((store) => ({
      claim: (request) => (request.repeat?.memory === "" ? { state: "lost" } : store.claim(request)),
    })),
    "keeps what a lost repeat claims": wrong((store) => ({
      claim: ({ repeat, ...request }) => {
        const claim = store.claim(request);
        return repeat?.memory === "" ? { state: "lost" } : claim;
      },
    })),
    "never forgets": () => ({ store: memory().store, expire: () => {} }),
  })) {
    it(name, async () => {
      const failed: string[] = [];
      for (const each of replayStoreCases(make)) await each.run().catch(() => failed.push(each.name));
      assert.notDeepEqual(failed, []);
    });
  }
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
