/** Sentinels that make a copy the primary: when the primary is killed, and when it only hangs. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RedisReplayStore } from "#runtime/redis/redis-replay-store.js";
import { KeptLog } from "#runtime/testing/kept-log.js";
import { withRedis } from "../redis/installed.js";
import { assertOnce } from "../redis/leaders.js";
import type { RedisServer } from "../redis/redis-server.js";
import { FULL_ONLY, judged, outageMs, Scene } from "../redis/scene.js";
import { Sentinels } from "../redis/sentinel.js";
import { until } from "./harness.js";

const LOAD = { pairs: 4_000, copies: 3, rate: 200, spreadMs: 3_000, waitMs: [50, 1_500] } as const;
const HUNG_MS = 8_000;
/** Rounds of the last test, 50 for the figure of the design. */
const ROUNDS = Number(process.env.SVC_TEST_HUNG_ROUNDS ?? 5);
/** Milliseconds after which a client counts as not come back. */
const STALL_MS = 28_000;

const FAULTS: Readonly<Record<string, (primary: RedisServer) => Promise<void>>> = {
  killed: (primary) => primary.kill(),
  [`hung for ${HUNG_MS} ms`]: async (primary) => {
    primary.pause();
    await new Promise((resolve) => setTimeout(resolve, HUNG_MS));
    primary.resume();
  },
};

describe("Sentinel", { skip: withRedis().skip || FULL_ONLY.skip }, () => {
  for (const [name, fault] of Object.entries(FAULTS)) {
    it(`primary ${name}: each pair runs once`, async (t) => {
      let group: Sentinels | undefined;
      let at = 0;
      const start = async () => {
        group = await Sentinels.start();
        return Scene.start({ redis: group.servers[0] as RedisServer, url: group.url });
      };
      const play = async (scene: Scene) => {
        const loading = scene.leaders.run(LOAD);
        await scene.sent((LOAD.pairs * LOAD.copies) / 3);
        at = performance.now();
        await fault(scene.redis);
        await loading;
      };
      await judged(start, play, async (scene) => {
        const found = scene.verdict(t, {
          outageMs: outageMs(scene.leaders, at),
          conflicts: await scene.metric("svc_replay_conflicts_total"),
          replaced: await scene.metric("svc_replay_replaced_connections_total"),
        });
        assertOnce(found);
        assert.equal(scene.leaders.open, 0);
        for (const gauge of ["svc_replay_running", "svc_replay_pending_writes"]) {
          await until(async () => (await scene.metric(gauge)) === 0, `nothing left of ${gauge}`);
        }
      });
      await group?.end();
    });
  }

  it(`measures how long three clients need to reconnect after ${ROUNDS} hung primaries`, async (t) => {
    const group = await Sentinels.start();
    const stores = Array.from({ length: 3 }, () => new RedisReplayStore({ url: group.url, graceMs: 0 }));
    const logs = stores.map(() => new KeptLog());
    await Promise.all(
      stores.map((store, i) => store.start({ tools: [], ttlMs: () => 60_000, log: (logs[i] as KeptLog).logger })),
    );
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await until(async () => {
        const primary = await group.primary();
        return (await primary?.info("connected_slaves")) === "1";
      }, "a primary with a copy in step");
      const primary = await group.primary();
      assert.ok(primary !== undefined);
      // A hang of random length, in a connection with claims under way.
      const stop = new AbortController();
      const claiming = stores.map((store) => claimUntil(store, stop.signal));
      primary.pause();
      const at = performance.now();
      const resumed = new Promise((resolve) => setTimeout(resolve, 4_000 + Math.random() * 8_000)).then(() =>
        primary.resume(),
      );
      const back = await Promise.all(claiming.map(async (claimed) => (await claimed()) - at));
      stop.abort();
      times.push(...back);
      await resumed;
      await until(async () => (await group.primary()) !== primary, "another primary");
    }
    times.sort((one, other) => one - other);
    const replaced = stores.reduce((sum, store) => sum + (store.stats().shared.replacedConnections ?? 0), 0);
    const stalls = times.filter((ms) => ms > STALL_MS).length;
    t.diagnostic(
      JSON.stringify({
        clients: times.length,
        medianMs: Math.round(times[times.length >> 1] ?? 0),
        longestMs: Math.round(times.at(-1) ?? 0),
        stalls,
        replaced,
      }),
    );
    assert.equal(stalls, 0);
    await Promise.all(stores.map((store) => store.close(1_000)));
    await group.end();
  });
});

/** Claims and releases again and again; gives the time of the first success after the last failure once it is asked. */
function claimUntil(store: RedisReplayStore, signal: AbortSignal): () => Promise<number> {
  let failed = false;
  let resolveBack = (_: number) => {};
  const back = new Promise<number>((resolve) => {
    resolveBack = resolve;
  });
  const work = async () => {
    while (!signal.aborted) {
      try {
        const claim = await store.claim({
          tool: "xyz.fault.hung@1",
          nonce: crypto.getRandomValues(new Uint8Array(32)),
          inputHash: new Uint8Array(32),
          caller: { leaderId: "leader", leaderKeyId: 0n },
          leaseMs: 40_000,
        });
        if (claim.state === "run") await claim.lease.release();
        if (failed) resolveBack(performance.now());
      } catch {
        failed = true;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  void work();
  return () => back;
}
