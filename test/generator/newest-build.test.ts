/** The newest build under random sequences of builds, failed starts and crashes, without processes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settled } from "node:timers/promises";
import fc from "fast-check";
import { NewestBuild, type Started } from "#generator/dev/newest-build.js";

const SEED = Number(process.env.SVC_TYPE_SEED ?? 1);

/** A build by its key, or what happens to processes. A cancelled start may come too late. */
const OUTCOMES = ["serves", "fails", "serves late", "fails late"];
const EVENTS = fc.array(fc.constantFrom("0", "1", "2", "ends", "again", ...OUTCOMES), { maxLength: 30 });

class World {
  readonly reports: string[] = [];
  newest: string | undefined;
  serving: string | undefined;
  starting: { readonly key: string; readonly end: (outcome: Started) => void; isCancelled: boolean } | undefined;
  readonly builds = new NewestBuild<{ readonly key: string }>(
    {
      isServing: () => this.serving !== undefined,
      start: ({ key }) => {
        assert.equal(this.starting, undefined, "one start at a time");
        return new Promise((end) => {
          this.starting = { key, end, isCancelled: false };
        });
      },
      cancelStart: () => {
        if (this.starting !== undefined) this.starting.isCancelled = true;
      },
    },
    {
      onServing: ({ key }, url, isNew) => {
        assert.deepEqual([key, url], [this.serving, `url of ${key}`]);
        this.reports.push(isNew ? "new" : "same");
      },
      onFailed: (reason) => {
        assert.equal(reason, `${this.newest} failed`);
        this.reports.push(reason);
      },
    },
  );

  async play(event: string): Promise<void> {
    if (event === "ends") this.serving = undefined;
    else if (event === "again") void this.builds.again();
    else if (OUTCOMES.includes(event)) this.#settle(event.startsWith("serves"), event.endsWith("late"));
    else {
      this.newest = event;
      void this.builds.serve({ key: event });
      const { starting } = this;
      assert.ok(starting === undefined || starting.key === event || starting.isCancelled);
    }
    await settled();
  }

  #settle(serves: boolean, isLate: boolean): void {
    const { starting } = this;
    if (starting === undefined) return;
    this.starting = undefined;
    const { key, end, isCancelled } = starting;
    if (isCancelled && !isLate) end({ state: "cancelled" });
    else if (!serves) end({ state: "failed", reason: `${key} failed` });
    else {
      this.serving = key;
      end({ state: "serving", url: `url of ${key}` });
    }
  }

  async rest(): Promise<void> {
    for (let starts = 0; this.starting !== undefined; starts++) {
      assert.ok(starts < 3, "it comes to rest");
      await this.play("serves");
    }
  }
}

async function played(events: readonly string[]): Promise<World> {
  const world = new World();
  for (const event of events) await world.play(event);
  return world;
}

const holds = (property: (world: World) => Promise<void>) =>
  fc.assert(
    fc.asyncProperty(EVENTS, async (events) => property(await played(events))),
    { numRuns: 400, seed: SEED },
  );

test("at rest, the newest build serves, or the last report says that it failed or its process has ended", () =>
  holds(async (world) => {
    await world.rest();
    const { reports, newest, serving } = world;
    if (newest === undefined) assert.deepEqual(reports, []);
    else if (reports.at(-1) === "new" || reports.at(-1) === "same") assert.ok([newest, undefined].includes(serving));
    else assert.equal(reports.at(-1), `${newest} failed`);
  }));

test("a process that ended is started again, and a build that serves or starts is not started twice", () =>
  holds(async (world) => {
    await world.rest();
    await world.play("ends");
    await world.play("again");
    assert.equal(world.starting?.key, world.newest);
    await world.rest();
    const { length } = world.reports;
    await world.play("again");
    assert.equal(world.reports.length, length);
    if (world.newest !== undefined) await world.play(world.newest);
    assert.deepEqual([world.starting, world.serving], [undefined, world.newest]);
  }));

test("another build is always served, whatever happened before", () =>
  holds(async (world) => {
    await world.play("last");
    await world.rest();
    assert.deepEqual([world.serving, world.reports.at(-1)], ["last", "new"]);
  }));

test("after the end nothing starts and nothing is reported", () =>
  holds(async (world) => {
    world.builds.stop();
    const { length } = world.reports;
    const starting = world.starting !== undefined;
    for (const event of ["serves", "last", "ends", "again"]) await world.play(event);
    assert.equal(world.reports.length, length);
    assert.ok(starting || world.starting === undefined);
    assert.notEqual(world.starting?.key, "last");
  }));
