/** A failover by a moving address, to a copy that has missed the last writes of the primary. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withRedis } from "../redis/installed.js";
import { assertOnce } from "../redis/leaders.js";
import { RedisServer } from "../redis/redis-server.js";
import type { ReplicaOptions } from "../redis/replicas.js";
import { FULL_ONLY, judged, outageMs, Scene } from "../redis/scene.js";
import { TcpProxy } from "../redis/tcp-proxy.js";

/** Milliseconds of writes that the copy misses. */
const MISSED_MS = 300;
const LOAD = { pairs: 2_000, copies: 3, rate: 200, spreadMs: 3_000, waitMs: [50, 1_500] } as const;

describe("failover by a moving address", { skip: withRedis().skip || FULL_ONLY.skip }, () => {
  it(`three failovers to a copy that missed ${MISSED_MS} ms of writes: each pair runs once`, async (t) => {
    for (let round = 0; round < 3; round++) {
      await failOver({}, async (scene, at) => {
        const conflicts = await scene.metric("svc_replay_conflicts_total");
        const found = scene.verdict(t, {
          outageMs: outageMs(scene.leaders, at),
          reclaimed: await scene.metric("svc_replay_reclaimed_total"),
          restored: await scene.metric("svc_replay_restored_total"),
          conflicts,
        });
        assertOnce(found);
      });
    }
  });

  const variants: Readonly<Record<string, ReplicaOptions>> = {
    "without grace period and reports": { graceMs: 0, parts: { reclaim: false } },
    "without reports": { parts: { reclaim: false } },
  };
  for (const [name, options] of Object.entries(variants)) {
    it(`${name}: some pairs run twice, or answer 409 until their lease ends`, async (t) => {
      await failOver(options, async (scene) => {
        await scene.leaders.askAgain();
        const found = scene.verdict(t);
        assert.ok(found.doubles + found.stuck.length > 0, "a test that cannot fail");
      });
    });
  }

  it("without a grace period, but with repeated registrations: no pair is lost", async (t) => {
    await failOver({ graceMs: 0 }, async (scene) => {
      // A race that is mostly won: the figure is what counts.
      const { lost } = scene.verdict(t);
      assert.deepEqual(lost, []);
    });
  });
});

/** Loads replicas and moves their address at half time; `judge` is told when it moved. */
async function failOver(options: ReplicaOptions, judge: (scene: Scene, at: number) => Promise<void>): Promise<void> {
  const now: { primary?: RedisServer; copy?: RedisServer; address?: TcpProxy; replication?: TcpProxy } = {};
  let at = 0;
  const start = async () => {
    const [primary, copy] = await Promise.all([RedisServer.start(), RedisServer.start()]);
    const [address, replication] = await Promise.all([TcpProxy.start(primary.port), TcpProxy.start(primary.port)]);
    await copy.replicate(replication.port);
    Object.assign(now, { primary, copy, address, replication });
    return Scene.start({ redis: primary, ...options, url: `redis://127.0.0.1:${address.port}` });
  };
  const play = async (scene: Scene) => {
    const { primary, copy, address, replication } = now as Required<typeof now>;
    // Without reports some calls stay at 409: their leaders do not wait for ever.
    const loading = scene.leaders.run({ ...LOAD, patienceMs: options.parts === undefined ? 60_000 : 10_000 });
    await scene.sent((LOAD.pairs * LOAD.copies) / 2);
    replication.hold();
    await new Promise((resolve) => setTimeout(resolve, MISSED_MS));
    await primary.kill();
    replication.refuses = true;
    replication.cut();
    await copy.client.replicaof("NO", "ONE");
    address.target = copy.port;
    address.cut();
    at = performance.now();
    await loading;
  };
  await judged(start, play, (scene) => judge(scene, at));
  await Promise.all([now.copy?.end(), now.address?.close(), now.replication?.close()]);
}
