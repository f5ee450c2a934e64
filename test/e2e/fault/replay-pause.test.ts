/** A Redis that stops for two seconds under load: nothing runs twice, and no claim that it took late stays behind. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withRedis } from "../redis/installed.js";
import { assertOnce } from "../redis/leaders.js";
import { FULL_ONLY, judged, outageMs, Scene, sized } from "../redis/scene.js";

const PAUSE_MS = 2_000;
/** Pairs a second, over the pause and a second on both sides. */
const RATE = 400;
const PAIRS = sized(2_000) + RATE * 2;

describe("SIGSTOP of Redis", withRedis(), () => {
  it(`${PAUSE_MS} ms at ${RATE} calls a second: each pair runs once, and no pair keeps answering 409`, async (t) => {
    let resumedAt = 0;
    const play = async (scene: Scene) => {
      resumedAt = await loadWithPause(scene);
    };
    await judged(Scene.start, play, async (scene) => {
      const last = Math.max(...scene.leaders.pairs.map(({ answeredAt = Number.POSITIVE_INFINITY }) => answeredAt));
      const conflicts = await scene.metric("svc_replay_conflicts_total");
      const found = scene.verdict(t, {
        takeBacks: await scene.metric("svc_replay_takebacks_total"),
        outageMs: outageMs(scene.leaders, resumedAt),
        lastAnswerMs: Math.round(last - resumedAt),
        conflicts,
      });
      assertOnce(found);
      assert.ok((found.counts["503 replay_store_unavailable"] ?? 0) > 0, "some were refused");
      assert.equal(conflicts, 0);
    });
  });

  it("without the release of lost claims, their pairs answer 409 until their lease ends", async (t) => {
    // A stalled machine may have no claim on its way to Redis at the pause, which spoils an attempt.
    for (let left = 3, stuck = 0; stuck === 0; left--) {
      assert.ok(left > 0, "a test that cannot fail");
      const scene = await Scene.start({ parts: { takeBack: false } });
      await loadWithPause(scene, 4_000);
      await scene.leaders.askAgain();
      const found = scene.verdict(t);
      assert.equal(found.doubles, 0);
      stuck = found.stuck.length;
      await scene.end();
    }
  });

  it("ten pauses of different lengths: each pair runs once", FULL_ONLY, async (t) => {
    const scene = await Scene.start();
    const loading = scene.leaders.run({ pairs: 12_000, rate: RATE, waitMs: [0, 100] });
    for (let round = 1; round <= 10; round++) {
      await scene.sent(round * 1_000);
      scene.redis.pause();
      await new Promise((resolve) => setTimeout(resolve, 200 + round * 300));
      scene.redis.resume();
    }
    await loading;
    assertOnce(scene.verdict(t));
    await scene.end();
  });
});

/** Loads the replicas and stops their Redis after a second; when it went on. */
async function loadWithPause(scene: Scene, patienceMs?: number): Promise<number> {
  const loading = scene.leaders.run({
    pairs: PAIRS,
    rate: RATE,
    waitMs: [0, 100],
    ...(patienceMs !== undefined && { patienceMs }),
  });
  await scene.sent(RATE);
  scene.redis.pause();
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  scene.redis.resume();
  const resumedAt = performance.now();
  await loading;
  return resumedAt;
}
