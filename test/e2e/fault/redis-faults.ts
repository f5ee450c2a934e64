/** One scene with a shared Redis that fails in the middle of a load: a fault for each row. */

import assert from "node:assert/strict";
import { it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { assertOnce, type LoadOptions } from "../redis/leaders.js";
import type { RedisServer } from "../redis/redis-server.js";
import { FULL_ONLY, judged, outageMs, Scene, type SceneOptions, sized } from "../redis/scene.js";
import { FULL, until } from "./harness.js";

/** A pair is sent again while it runs, and up to some seconds after its end. */
const LOAD: LoadOptions = {
  pairs: sized(2_000),
  copies: 3,
  rate: FULL ? 200 : 100,
  spreadMs: 3_000,
  waitMs: [50, 1_500],
};

/** The servers of a row, and what happens to them at half time. */
export interface Row {
  readonly scene?: SceneOptions;
  strike(scene: Scene): Promise<unknown>;
  end?(): Promise<unknown>;
}

export type Strike = (redis: RedisServer) => Promise<unknown>;

export const row = (strike: Strike, scene: SceneOptions = {}) => ({
  scene,
  strike: ({ redis }: Scene) => strike(redis),
});

export const restart: Strike = async (redis) => {
  await redis.kill();
  await redis.start();
};

export const pause =
  (ms: number): Strike =>
  async (redis) => {
    redis.pause();
    await sleep(ms);
    redis.resume();
  };

/** Plays the scene of a row with the load, and judges it. */
export async function play(
  make: () => Row | Promise<Row>,
  judge: (scene: Scene, struckAt: number) => Promise<void>,
  load: LoadOptions = LOAD,
): Promise<void> {
  let made: Row | undefined;
  let struckAt = 0;
  await judged(
    async () => {
      await made?.end?.();
      made = await make();
      return Scene.start({ count: FULL ? 3 : 2, ...made.scene });
    },
    async (scene) => {
      const loading = scene.leaders.run(load);
      await scene.sent((load.pairs * (load.copies ?? 1)) / 2);
      struckAt = performance.now();
      await made?.strike(scene);
      await loading;
    },
    (scene) => judge(scene, struckAt),
  );
  await made?.end?.();
}

interface Fault {
  readonly isFull?: boolean;
  /** Whether new runs are refused meanwhile; undefined if that depends on the moment of the fault. */
  readonly isOut?: boolean;
  readonly make: () => Row | Promise<Row>;
}

/** One test for each fault, by its name: no pair runs twice, and each gets its result. */
export function testFaults(faults: Readonly<Record<string, Fault>>): void {
  for (const [name, { isFull = false, isOut, make }] of Object.entries(faults)) {
    it(`${name}: each pair runs once`, isFull ? FULL_ONLY : {}, (t) =>
      play(make, async (scene, struckAt) => {
        const conflicts = await scene.metric("svc_replay_conflicts_total");
        const found = scene.verdict(t, { outageMs: outageMs(scene.leaders, struckAt), conflicts });
        assertOnce(found);
        assert.equal(conflicts, 0);
        if (isOut) assert.ok((found.counts["503 replay_store_unavailable"] ?? 0) > 0, "new runs wait");
        if (isOut === false) assert.equal(await scene.metric("svc_replay_store_errors_total", 'reason="refused"'), 0);
        for (const gauge of ["svc_replay_running", "svc_replay_pending_writes"]) {
          await until(async () => (await scene.metric(gauge)) === 0, `nothing left of ${gauge}`);
        }
      }),
    );
  }
}
