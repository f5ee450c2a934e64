/** Replicas that share a Redis: no pair runs twice, also when one of them is killed (design of the shared store, section 5). */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withRedis } from "../redis/installed.js";
import { assertOnce, makePair } from "../redis/leaders.js";
import { FULL_ONLY, Scene, sized } from "../redis/scene.js";
import { until } from "./harness.js";

const PAIRS = sized(10_000);
/** Milliseconds of a run, so long that a kill meets some of them. */
const KILLED_RUNS = { waitMs: [20, 120] } as const;
const LOAD = { pairs: PAIRS, copies: 3, rate: 700, spreadMs: 60, leaving: 0.1, waitMs: [0, 20] } as const;

describe("three replicas", withRedis(), () => {
  it(`${PAIRS} pairs, each sent three times concurrently, run ${PAIRS} times`, async (t) => {
    const scene = await Scene.start();
    await scene.leaders.run(LOAD);
    const found = scene.verdict(t);
    assertOnce(found);
    assert.ok((found.counts["409 request_in_flight"] ?? 0) > 0, "they met");
    const shares = scene.replicas.map(({ name }) => scene.runs.read().filter(({ replica }) => replica === name).length);
    assert.ok(
      shares.every((share) => share > 0),
      `every replica ran some: ${shares}`,
    );
    await scene.end();
  });

  it("a replica is killed halfway and restarted: only pairs that it was running may keep answering 409", async (t) => {
    const scene = await Scene.start();
    const inFlight = await killAtHalfTime(scene, { ...LOAD, ...KILLED_RUNS, patienceMs: 6_000 });
    await scene.leaders.askAgain();
    const found = scene.verdict(t, { inFlightAtKill: inFlight.size });
    assert.equal(found.doubles, 0);
    assert.equal(found.inconsistent, 0);
    assert.deepEqual(found.lost, []);
    const runs = scene.runs.runs();
    assert.deepEqual(
      // A claim may also be lost between the store and the begin of its run.
      found.stuck.filter((pair) => !inFlight.has(pair) && runs.has(pair)),
      [],
      "only what was in flight at the kill",
    );
    await scene.end();
  });

  it(
    "a replica is killed, with a short lease and TTL: only pairs that were running may run once more",
    FULL_ONLY,
    async (t) => {
      const scene = await Scene.start({ leaseMs: 1_000, ttlMs: 5_000 });
      const inFlight = await killAtHalfTime(scene, { ...LOAD, ...KILLED_RUNS });
      const found = scene.verdict(t, { inFlightAtKill: inFlight.size });
      assert.deepEqual([found.stuck, found.lost], [[], []]);
      const twice = [...scene.runs.runs()].filter(([, times]) => times > 1);
      assert.deepEqual(
        twice.filter(([pair, times]) => times > 2 || !inFlight.has(pair)),
        [],
      );
      assert.equal(found.inconsistent, 0, "the second run alone has answered");
      await scene.end();
    },
  );
});

/** Kills a replica while the load runs and starts it again; the pairs that it ran without an answer yet. */
async function killAtHalfTime(scene: Scene, load: Parameters<Scene["leaders"]["run"]>[0]): Promise<Set<number>> {
  const [victim] = scene.replicas;
  assert.ok(victim !== undefined);
  const loading = scene.leaders.run(load);
  await scene.sent((load.pairs * (load.copies ?? 1)) / 2);
  // A replica in the middle of some runs, whatever the moment.
  const open = () => {
    const running = new Set<number>();
    for (const { kind, replica, pair } of scene.runs.read()) {
      if (replica === victim.name) running[kind === "begin" ? "add" : "delete"](pair);
    }
    return running;
  };
  await until(() => open().size > 0, "runs of the victim");
  await victim.kill();
  const killedAt = performance.now();
  const begun = scene.runs.read().filter(({ replica }) => replica === victim.name);
  // What the file says and no leader has: a result may also be lost between the end of its run and the store.
  const inFlight = new Set(begun.map(({ pair }) => pair));
  await victim.start();
  await loading;
  for (const { id, answeredAt } of scene.leaders.pairs) {
    if (answeredAt !== undefined && answeredAt < killedAt) inFlight.delete(id);
  }
  return inFlight;
}

describe("beyond lease and TTL", { skip: withRedis().skip || FULL_ONLY.skip }, () => {
  it("when a paused replica resumes after another one has run its pair, its result is refused and counted as a conflict", async (t) => {
    const scene = await Scene.start({ count: 2, leaseMs: 500, ttlMs: 4_000 });
    const [late, other] = scene.replicas;
    assert.ok(late !== undefined && other !== undefined);
    const pair = makePair(1, { waitMs: 200 });
    const first = scene.leaders.once(pair, late.url);
    await until(() => scene.runs.read().length === 1, "a run");
    late.process.kill("SIGSTOP");
    assert.equal(await scene.leaders.once(pair, other.url), 409, "while the claim lasts");
    let status = 409;
    await until(async () => {
      status = await scene.leaders.once(pair, other.url);
      return status !== 409;
    }, "the end of the claim");
    assert.equal(status, 200);
    late.process.kill("SIGCONT");
    assert.equal(await first, 200, "the result of a finished run is always delivered");
    await until(async () => (await late.metric("svc_replay_conflicts_total")) === 1, "a counted conflict");
    assert.equal(await other.metric("svc_replay_conflicts_total"), 0);
    assert.equal(scene.runs.runs().get(1), 2);
    // A retry gets the end that is kept: the second.
    const [, kept] = [...pair.results];
    pair.results.clear();
    for (const { url } of scene.replicas) assert.equal(await scene.leaders.once(pair, url), 200);
    t.diagnostic(JSON.stringify({ runs: 2, conflicts: 1 }));
    assert.equal(pair.results.size, 1);
    assert.ok(kept !== undefined);
    await scene.end();
  });
});
