/** A replica that stands still for longer than its claim lasts, and a Redis whose clock steps: what is documented happens. */

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { VALKEY, withRedis } from "../redis/installed.js";
import { makePair } from "../redis/leaders.js";
import { RedisServer } from "../redis/redis-server.js";
import { FULL_ONLY, Scene } from "../redis/scene.js";
import { until } from "./harness.js";

/** The library of libfaketime, which works with Valkey's build and not with Debian's Redis. */
const FAKETIME = process.env.SVC_TEST_FAKETIME;

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

const CLOCK =
  withRedis().skip ||
  FULL_ONLY.skip ||
  (VALKEY !== undefined && FAKETIME !== undefined && existsSync(FAKETIME)
    ? false
    : "NOT TESTED: steps of the clock (SVC_TEST_VALKEY and SVC_TEST_FAKETIME name a valkey-server and libfaketime.so.1)");
if (typeof CLOCK === "string" && CLOCK.startsWith("NOT")) console.error(`\n${CLOCK}\n`);

describe("a step of the clock of Redis", { skip: CLOCK }, () => {
  for (const [name, step, runsAgain] of [
    ["an hour forward: entries end early", "+1h", true],
    ["an hour back: entries stay", "-1h", false],
  ] as const) {
    it(`${name}, and each has an expiry`, async () => {
      const scene = await faked();
      const pair = makePair(1, { waitMs: 0 });
      assert.equal(await scene.leaders.once(pair), 200);
      moveClock(scene.redis, step);
      await until(async () => {
        const now = Number(((await scene.redis.client.time()) as unknown as string[])[0]);
        return Math.abs(now - Date.now() / 1_000) > 3_000;
      }, "another clock");
      assert.ok(await scene.leaders.call(pair));
      assert.equal(scene.runs.runs().get(1), runsAgain ? 2 : 1);
      const next = makePair(2, { waitMs: 0 });
      assert.ok(await scene.leaders.call(next));
      assert.ok(await scene.leaders.call(next));
      assert.equal(scene.runs.runs().get(2), 1);
      for (const key of await scene.redis.client.keysBuffer("*}[er]:*")) {
        assert.ok((await scene.redis.client.pttl(key)) > 0, "an entry without an expiry");
      }
      await scene.end();
    });
  }

  async function faked(): Promise<Scene> {
    const redis = await RedisServer.start({
      program: VALKEY as string,
      env: {
        LD_PRELOAD: FAKETIME as string,
        FAKETIME_TIMESTAMP_FILE: "faketime",
        FAKETIME_NO_CACHE: "1",
        DONT_FAKE_MONOTONIC: "1",
      },
    });
    return Scene.start({ redis, graceMs: 0 });
  }

  const moveClock = ({ directory }: RedisServer, step: string) =>
    writeFileSync(join(directory, "faketime"), `${step}\n`);
});
