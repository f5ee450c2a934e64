/** Replicas that do not all reach the same Redis: one is cut off, or two primaries serve at once. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withRedis } from "../redis/installed.js";
import { assertOnce, Leaders, makePair, summary, verdict } from "../redis/leaders.js";
import { RedisServer } from "../redis/redis-server.js";
import { Replica, RunLog, stopAll } from "../redis/replicas.js";
import { FULL_ONLY } from "../redis/scene.js";
import { TcpProxy } from "../redis/tcp-proxy.js";
import { until } from "./harness.js";

const CUT_MS = 10_000;

describe("partition", { skip: withRedis().skip || FULL_ONLY.skip }, () => {
  for (const way of ["hold", "cut"] as const) {
    it(`a replica that is cut off for ${CUT_MS} ms (${way}) is not ready and answers 503, its runs end, and the others serve calls`, async (t) => {
      const redis = await RedisServer.start();
      const proxy = await TcpProxy.start(redis.port);
      const runs = new RunLog();
      const [other, cut] = await Promise.all([
        Replica.start("other", runs, { url: redis.url }),
        Replica.start("cut", runs, { url: `redis://127.0.0.1:${proxy.port}` }),
      ]);
      const leaders = new Leaders([cut.url, other.url]);
      const loading = leaders.run({ pairs: 4_000, copies: 2, rate: 200, spreadMs: 2_000, waitMs: [0, 1_500] });
      await until(() => leaders.sent > 1_000, "load");
      const at = performance.now();
      if (way === "hold") proxy.hold();
      else {
        proxy.refuses = true;
        proxy.cut();
      }
      await until(async () => (await cut.readiness()).status === 503, "a replica that is not ready");
      const unreadyMs = Math.round(performance.now() - at);
      const { text } = await cut.readiness();
      assert.match(text, /^not ready: replay store: /);
      assert.equal((await other.readiness()).status, 200);
      const refused = makePair(1_000_000, { waitMs: 0 });
      assert.equal(await leaders.once(refused, cut.url), 503);
      assert.equal(await leaders.once(refused, other.url), 200);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, CUT_MS - (performance.now() - at))));
      proxy.refuses = false;
      proxy.letPass();
      await until(async () => (await cut.readiness()).status === 200, "a replica that is ready again");
      await loading;
      leaders.pairs.push(refused);
      const found = verdict(leaders, runs);
      t.diagnostic(`${summary(found)} ${JSON.stringify({ unreadyMs, text: text.trim() })}`);
      assertOnce(found);
      for (const replica of [other, cut]) assert.equal(await replica.metric("svc_replay_conflicts_total"), 0);
      leaders.close();
      await stopAll([other, cut]);
      await redis.end();
    });
  }

  for (const [name, graceMs] of [
    ["a grace period beyond the lag: each pair runs once", 5_000],
    ["a grace period below the lag: some pairs run twice, and each is a conflict", 200],
  ] as const) {
    it(`two primaries, min-replicas set, ${name}`, async (t) => {
      const directives = { "min-replicas-to-write": "1", "min-replicas-max-lag": "2" };
      const [old, next] = await Promise.all([RedisServer.start({ directives }), RedisServer.start()]);
      const link = await TcpProxy.start(old.port);
      await next.replicate(link.port);
      const [left, right] = await Promise.all([TcpProxy.start(old.port), TcpProxy.start(old.port)]);
      const runs = new RunLog();
      const replicas = await Promise.all(
        Object.entries({ left, right }).map(([side, { port }]) =>
          Replica.start(side, runs, { url: `redis://127.0.0.1:${port}`, graceMs }),
        ),
      );
      const leaders = new Leaders(replicas.map(({ url }) => url));
      const loading = leaders.run({ pairs: 2_000, copies: 3, rate: 200, spreadMs: 1_500, waitMs: [0, 300] });
      await until(() => leaders.sent > 2_000, "load");
      const at = performance.now();
      // The old primary hears nothing of its copy, which becomes the primary of the right side.
      link.hold();
      await next.client.replicaof("NO", "ONE");
      right.target = next.port;
      right.cut();
      const probe = () => old.client.set("probe", "1").catch((error: Error) => error.message);
      await until(async () => (await probe()) !== "OK", "an old primary that refuses writes");
      const refusesMs = Math.round(performance.now() - at);
      // The partition ends: all have one primary again.
      left.target = next.port;
      left.cut();
      await loading;
      const found = verdict(leaders, runs);
      const counts = await Promise.all(replicas.map((replica) => replica.metric("svc_replay_conflicts_total")));
      const conflicts = counts.reduce((sum, count) => sum + count, 0);
      t.diagnostic(`${summary(found)} ${JSON.stringify({ refusesMs, conflicts })}`);
      assert.equal(conflicts, found.doubles);
      if (graceMs > 2_000) assertOnce(found);
      else assert.ok(found.doubles > 0, "a test that cannot fail");
      leaders.close();
      await stopAll(replicas);
      await Promise.all([old.end(), next.end()]);
    });
  }
});
