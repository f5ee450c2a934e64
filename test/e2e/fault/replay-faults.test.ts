/** A Redis that fails in the middle of a load. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { withRedis } from "../redis/installed.js";
import { assertOnce, makePair } from "../redis/leaders.js";
import { RedisServer } from "../redis/redis-server.js";
import { FULL_ONLY, Scene } from "../redis/scene.js";
import { Sentinels } from "../redis/sentinel.js";
import { TcpProxy } from "../redis/tcp-proxy.js";
import { until } from "./harness.js";
import { pause, type Row, row, type Strike, testFaults } from "./redis-faults.js";

const flushScripts: Strike = async ({ client }) => {
  for (let round = 0; round < 20; round++) {
    await client.script("FLUSH");
    await sleep(50);
  }
};

/** Replicas that reach their Redis through a proxy. */
async function proxied(strike: (proxy: TcpProxy) => Promise<unknown>, timeoutMs: number): Promise<Row> {
  const redis = await RedisServer.start();
  const proxy = await TcpProxy.start(redis.port);
  const scene = { redis, url: `redis://127.0.0.1:${proxy.port}`, timeoutMs };
  return { scene, strike: () => strike(proxy), end: () => proxy.close() };
}

/** Slower than the time limit of a command, again and again. */
async function slow(proxy: TcpProxy): Promise<void> {
  for (let round = 0; round < 4; round++) {
    Object.assign(proxy, { delayMs: 180, jitterMs: 120 });
    await sleep(1_000);
    Object.assign(proxy, { delayMs: 0, jitterMs: 0 });
    await sleep(500);
  }
}

/** An address that moves to a copy which has missed the last 300 ms of writes. */
async function movedAddress(): Promise<Row> {
  const [redis, copy] = await Promise.all([RedisServer.start(), RedisServer.start()]);
  const [address, replication] = await Promise.all([TcpProxy.start(redis.port), TcpProxy.start(redis.port)]);
  await copy.replicate(replication.port);
  return {
    scene: { redis, url: `redis://127.0.0.1:${address.port}` },
    strike: async () => {
      replication.hold();
      await sleep(300);
      await redis.kill();
      replication.refuses = true;
      replication.cut();
      await copy.client.replicaof("NO", "ONE");
      address.target = copy.port;
      address.cut();
    },
    end: () => Promise.all([copy.end(), address.close(), replication.close()]),
  };
}

async function sentinels(strike: Strike): Promise<Row> {
  const group = await Sentinels.start();
  return { ...row(strike, { redis: group.servers[0] as RedisServer, url: group.url }), end: () => group.end() };
}

describe("faults of a shared Redis under load", withRedis(), () => {
  testFaults({
    "suspended for 2 s": { isOut: true, make: () => row(pause(2_000)) },
    // A call whose script is removed again while the store loads it is refused.
    "without its scripts": { make: () => row(flushScripts, { timeoutMs: 4_000 }) },
    "slower than the time limit of a command": { isOut: true, isFull: true, make: () => proxied(slow, 400) },
    "300 ms a round trip, 400 ms of jitter": {
      isOut: false,
      isFull: true,
      make: () => proxied(async (proxy) => Object.assign(proxy, { delayMs: 150, jitterMs: 200 }), 4_000),
    },
    "an address that moves to a copy without the last writes": { isOut: true, isFull: true, make: movedAddress },
    "a primary of Sentinels is killed": { isOut: true, isFull: true, make: () => sentinels((redis) => redis.kill()) },
    "a primary of Sentinels is suspended for 8 s": {
      isOut: true,
      isFull: true,
      make: () => sentinels(pause(8_000)),
    },
  });

  it("one replica that is cut off is not ready and answers 503, and the other serves", async () => {
    const redis = await RedisServer.start();
    const proxy = await TcpProxy.start(redis.port);
    const cutOff = await Scene.start({ redis, count: 1, url: `redis://127.0.0.1:${proxy.port}` });
    const other = await Scene.start({ redis, count: 1 });
    const [[cut], [well]] = [cutOff.replicas, other.replicas];
    assert.ok(cut !== undefined && well !== undefined);
    proxy.hold();
    await until(async () => (await cut.readiness()).status === 503, "a replica that is not ready");
    assert.match((await cut.readiness()).text, /^not ready: replay store: /);
    assert.equal((await well.readiness()).status, 200);
    const pair = makePair(1_000_000, { waitMs: 0 });
    assert.equal(await cutOff.leaders.once(pair, cut.url), 503);
    assert.equal(await other.leaders.once(pair, well.url), 200);
    proxy.letPass();
    await until(async () => (await cut.readiness()).status === 200, "a replica that is ready again");
    assert.equal(await cut.metric("svc_replay_conflicts_total"), 0);
    await cutOff.end();
    await other.end();
  });
});

describe("a full Redis", { skip: withRedis().skip || FULL_ONLY.skip }, () => {
  it("while Redis is full, new runs get 503, retries are answered and started runs end; with room, new runs start again", async (t) => {
    const scene = await Scene.start({ timeoutMs: 4_000 });
    const { leaders, redis } = scene;
    const answered = Array.from({ length: 20 }, (_, i) => makePair(1_000_000 + i, { waitMs: 0 }));
    for (const pair of answered) assert.ok(await leaders.call(pair));
    await redis.client.config("SET", "maxmemory", `${Number(await redis.info("used_memory")) + 3_000_000}`);
    // Fills it, with runs that are under way when it is full.
    const loading = leaders.run({ pairs: 1_500, rate: 400, waitMs: [500, 1_000], bytes: 5_000, patienceMs: 120_000 });
    await until(() => leaders.attempts.some(({ code }) => code === "replay_store_full"), "a full store");
    const begun = new Set(scene.runs.runs().keys());
    await until(async () => (await scene.metric("svc_replay_running")) === 0, "ends of all runs");
    for (const pair of [...answered, ...leaders.pairs.filter(({ id }) => begun.has(id))]) {
      assert.ok(await leaders.call(pair, { patienceMs: 30_000 }), "its end is there");
    }
    await redis.client.config("SET", "maxmemory", "256mb");
    await loading;
    leaders.pairs.push(...answered);
    const found = scene.verdict(t, { memory: await redis.info("used_memory_peak") });
    assert.ok((found.counts["503 replay_store_full"] ?? 0) > 0);
    assertOnce(found);
    await scene.end();
  });
});
