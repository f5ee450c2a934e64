/** A Redis that is slow, full, without its scripts, or whose keys vanish early: nothing runs twice while they last. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withRedis } from "../redis/installed.js";
import { assertOnce, makePair } from "../redis/leaders.js";
import { RedisServer } from "../redis/redis-server.js";
import { FULL_ONLY, Scene } from "../redis/scene.js";
import { TcpProxy } from "../redis/tcp-proxy.js";
import { until } from "./harness.js";

describe("a slow Redis", { skip: withRedis().skip || FULL_ONLY.skip }, () => {
  for (const [delayMs, jitterMs] of [
    [10, 0],
    [150, 0],
    [20, 200],
  ] as const) {
    it(`${2 * delayMs} ms a round trip, ${2 * jitterMs} ms of jitter: each pair runs once, no 503`, async (t) => {
      const redis = await RedisServer.start();
      const proxy = await TcpProxy.start(redis.port);
      const scene = await Scene.start({ redis, url: `redis://127.0.0.1:${proxy.port}`, timeoutMs: 4_000 });
      Object.assign(proxy, { delayMs, jitterMs });
      await scene.leaders.run({ pairs: 1_000, copies: 3, rate: 100, spreadMs: 500, waitMs: [0, 100] });
      const times = scene.leaders.attempts.filter(({ status }) => status === 200).map(({ ms }) => ms);
      times.sort((one, other) => one - other);
      const found = scene.verdict(t, { p50: Math.round(times[times.length >> 1] ?? 0) });
      assertOnce(found);
      // What is below the time limit of a command is not refused; a machine that stands still is beyond it.
      const timeouts = await scene.metric("svc_replay_store_errors_total", 'reason="timeout"');
      if (timeouts === 0) assert.equal(found.counts["503 replay_store_unavailable"], undefined);
      await scene.end();
    });
  }

  it("slower than the time limit of a command: 503, claims are withdrawn, each pair runs once", async (t) => {
    const redis = await RedisServer.start();
    const proxy = await TcpProxy.start(redis.port);
    const scene = await Scene.start({ redis, url: `redis://127.0.0.1:${proxy.port}`, timeoutMs: 400 });
    const loading = scene.leaders.run({ pairs: 2_000, copies: 2, rate: 200, spreadMs: 500, waitMs: [0, 100] });
    for (let round = 1; round <= 4; round++) {
      await scene.sent(round * 700);
      Object.assign(proxy, { delayMs: 180, jitterMs: 120 });
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      Object.assign(proxy, { delayMs: 0, jitterMs: 0 });
    }
    await loading;
    const found = scene.verdict(t, { takeBacks: await scene.metric("svc_replay_takebacks_total") });
    assertOnce(found);
    assert.ok((found.counts["503 replay_store_unavailable"] ?? 0) > 0, "some were too late");
    await scene.end();
  });

  it("SCRIPT FLUSH under load: no command fails, each pair runs once", async (t) => {
    // Longer than a machine stands still.
    const scene = await Scene.start({ timeoutMs: 4_000 });
    const loading = scene.leaders.run({ pairs: 2_000, copies: 3, rate: 300, spreadMs: 200, waitMs: [0, 50] });
    for (let round = 1; round <= 20; round++) {
      await scene.sent(round * 250);
      await scene.redis.client.script("FLUSH");
    }
    await loading;
    const found = scene.verdict(t);
    assertOnce(found);
    assert.equal(await scene.metric("svc_replay_store_errors_total", 'reason="refused"'), 0);
    await scene.end();
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
    assert.equal(await scene.metric("svc_replay_pending_writes"), 0);
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
