/** A Redis that loses what it held: processes report their runs and recent ends again before anything new runs. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withRedis } from "../redis/installed.js";
import { assertOnce } from "../redis/leaders.js";
import type { RedisServer } from "../redis/redis-server.js";
import { judged, outageMs, Scene, type SceneOptions, sized } from "../redis/scene.js";
import { FULL } from "./harness.js";

const PAIRS = sized(2_000);
const REPLICAS = FULL ? 3 : 2;
// A pair is sent again while it runs, and up to some seconds after its end.
const LOAD = { pairs: PAIRS, copies: 3, rate: FULL ? 200 : 100, spreadMs: 3_000, waitMs: [50, 1_500] } as const;

type Fault = (redis: RedisServer) => Promise<unknown>;

const LOSSES: Readonly<Record<string, { readonly fault: Fault; readonly scene?: SceneOptions }>> = {
  "killed and restarted empty": { fault: (redis) => restart(redis) },
  FLUSHALL: { fault: (redis) => redis.client.flushall() },
  "killed and restarted from its append-only file": {
    fault: (redis) => restart(redis),
    scene: { redis: { directives: { appendonly: "yes", appendfsync: "everysec" } } },
  },
};

async function restart(redis: RedisServer): Promise<void> {
  await redis.kill();
  await redis.start();
}

describe("loss of data", withRedis(), () => {
  for (const [name, { fault, scene: options = {} }] of Object.entries(LOSSES)) {
    it(`${name}: each pair runs once`, async (t) => {
      let at = 0;
      const start = () => Scene.start({ count: REPLICAS, ...options });
      const play = async (scene: Scene) => {
        at = await loadWithFault(scene, fault);
      };
      await judged(start, play, async (scene) => {
        const conflicts = await scene.metric("svc_replay_conflicts_total");
        const found = scene.verdict(t, {
          outageMs: outageMs(scene.leaders, at),
          losses: await scene.metric("svc_replay_losses_total"),
          reclaimed: await scene.metric("svc_replay_reclaimed_total"),
          restored: await scene.metric("svc_replay_restored_total"),
          conflicts,
        });
        assertOnce(found);
        assert.ok((found.counts["503 replay_store_unavailable"] ?? 0) > 0, "new runs wait for the grace period");
        assert.equal(conflicts, 0);
      });
    });
  }

  it("after an empty restart without a grace period and without repeated registrations, pairs run twice", async (t) => {
    const start = () => Scene.start({ count: REPLICAS, graceMs: 0, parts: { reclaim: false } });
    const play = async (scene: Scene) => {
      await loadWithFault(scene, restart);
    };
    await judged(start, play, async (scene) => {
      const found = scene.verdict(t, { conflicts: await scene.metric("svc_replay_conflicts_total") });
      assert.ok(found.doubles > 0, "a test that cannot fail");
    });
  });
});

/** Loads the replicas and strikes at half time; when it struck. */
async function loadWithFault(scene: Scene, fault: Fault): Promise<number> {
  const loading = scene.leaders.run(LOAD);
  await scene.sent((LOAD.pairs * LOAD.copies) / 2);
  const at = performance.now();
  await fault(scene.redis);
  await loading;
  return at;
}
