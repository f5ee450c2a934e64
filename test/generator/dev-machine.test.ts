/** The state machine of `svc-gen dev` under random sequences of edits, deletions, crashes and signals, without processes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  type Effect,
  type Input,
  type Machine,
  newMachine,
  phaseOf,
  type Report,
  step,
} from "#generator/dev/dev-machine.js";

const SEED = Number(process.env.SVC_TYPE_SEED ?? 1);

interface Build {
  readonly key: string;
}

/** What happens in the project, and what the process that starts does. */
const EVENTS = fc.oneof(
  fc.constantFrom(...(["errors", "broken", "unready", "unbuilt", "renewed", "unchanged", "begin"] as const)),
  fc.constantFrom(...(["serves", "fails", "ends", "again"] as const)),
  fc.integer({ min: 0, max: 3 }).map((key) => ({ key: `${key}` })),
);

/** A world in which processes start and end as the machine asks. */
class World {
  machine: Machine<Build>;
  /** The process that starts, and the one that serves. */
  starting: { readonly build: Build; isCancelled: boolean } | undefined;
  serving: Build | undefined;
  reported: Report<Build> | undefined;
  /** The newest build, and whether the sources are better or worse than it. */
  newest: Build | undefined;
  sourcesFail = false;

  readonly #overlaps: boolean;

  constructor(overlaps: boolean) {
    this.#overlaps = overlaps;
    this.machine = newMachine(overlaps);
  }

  input(input: Input<Build>): void {
    const [machine, effects] = step(this.machine, input);
    this.machine = machine;
    // Errors are reported together with their diagnostics.
    if (input.on === "errors") this.reported = { state: "errors", serving: this.serving !== undefined };
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: Effect<Build>): void {
    if (effect.do === "report") this.reported = effect.report;
    if (effect.do === "cancel" && this.starting !== undefined) this.starting.isCancelled = true;
    if (effect.do !== "start") return;
    assert.equal(this.starting, undefined, "one start at a time");
    this.starting = { build: effect.build, isCancelled: false };
    if (!this.#overlaps) this.serving = undefined;
  }

  /** Ends the start of a process. */
  settle(outcome: "serves" | "fails"): void {
    const { starting } = this;
    if (starting === undefined) return;
    this.starting = undefined;
    if (starting.isCancelled) this.input({ on: "cancelled" });
    else if (outcome === "fails") this.input({ on: "failed", reason: "start" });
    else {
      this.serving = starting.build;
      this.input({ on: "serving", url: "u" });
    }
  }
}

const SEQUENCES = fc.tuple(fc.boolean(), fc.array(EVENTS, { maxLength: 30 }));

function run([overlaps, events]: readonly [
  boolean,
  readonly (typeof EVENTS extends fc.Arbitrary<infer E> ? E : never)[],
]) {
  const world = new World(overlaps);
  for (const event of events) {
    if (typeof event === "object") {
      world.newest = event;
      world.sourcesFail = false;
      world.input({ on: "built", build: event });
    } else if (event === "serves" || event === "fails") world.settle(event);
    else if (event === "ends" && world.serving !== undefined) {
      world.serving = undefined;
      world.input({ on: "ended", reason: "crash" });
    } else if (event === "again") world.input({ on: event });
    else if (event === "begin") world.input({ on: "building" });
    else if (event === "unchanged") world.input({ on: event, isAnnounced: true });
    else if (event === "errors" || event === "broken") {
      world.sourcesFail = true;
      world.input(event === "errors" ? { on: event } : { on: event, reason: event });
    } else if (event === "unready") world.input({ on: event, of: "renewed", reason: event });
    else if (event === "unbuilt") {
      world.sourcesFail = false;
      world.input({ on: "unready", of: "built", reason: event });
    } else if (event === "renewed" && world.newest !== undefined) {
      world.newest = { key: `${world.newest.key}'` };
      world.input({ on: event, build: world.newest });
    }
  }
  return world;
}

test("when nothing is in progress, the last report tells that the newest good build is served, or what is wrong", () => {
  fc.assert(
    fc.property(SEQUENCES, (sequence) => {
      const world = run(sequence);
      for (let starts = 0; world.starting !== undefined; starts++) {
        assert.ok(starts < 5, "it comes to rest");
        world.settle("serves");
      }
      const { reported, serving, newest, machine } = world;
      assert.equal(machine.serving?.build.key, serving?.key, "it knows what serves");
      if (newest === undefined && !world.sourcesFail) return;
      if (reported?.state !== "serving") return assert.ok(machine.fault !== undefined, "something is wrong");
      assert.equal(reported.build.key, serving?.key);
      assert.equal(serving?.key, newest?.key, "the newest good build");
      if (world.sourcesFail) assert.ok(reported.isBehind, "it says that the sources have errors");
      else assert.ok(reported.isBehind === (machine.fault !== undefined));
    }),
    { numRuns: 1_000, seed: SEED },
  );
});

test("another good build is always served, whatever happened before", () => {
  fc.assert(
    fc.property(SEQUENCES, (sequence) => {
      const world = run(sequence);
      world.input({ on: "built", build: { key: "last" } });
      while (world.starting !== undefined) world.settle("serves");
      assert.equal(world.serving?.key, "last");
      assert.deepEqual([world.reported?.state, phaseOf(world.machine)], ["serving", "serving"]);
    }),
    { numRuns: 500, seed: SEED },
  );
});

test("after the signal to stop nothing starts and nothing is reported", () => {
  fc.assert(
    fc.property(SEQUENCES, fc.array(EVENTS), (sequence, later) => {
      const { machine } = run(sequence);
      const [stopped, effects] = step(machine, { on: "stop" });
      assert.deepEqual([effects, phaseOf(stopped)], [[{ do: "close" }], "stopping"]);
      const inputs = later.map(
        (event): Input<Build> =>
          typeof event === "object" ? { on: "built", build: event } : { on: "serving", url: event },
      );
      for (const input of [...inputs, { on: "cancelled" } as const]) assert.deepEqual(step(stopped, input)[1], []);
    }),
    { numRuns: 200, seed: SEED },
  );
});
