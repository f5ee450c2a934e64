/** Overloaded servers: calls begin in slices of a turn of the event loop, everything else is answered between them. */

import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { TimeSlices } from "#runtime/server/load/time-slices.js";
import { exchange, RawConnection, requestText } from "./raw.js";
import { type CountingTool, countingTool, echoCall, echoed, expectResult, serveSigned, until } from "./tools.js";

/** Counts turns of the event loop, from its making on. */
class Turns {
  count = 0;
  #next: NodeJS.Immediate;

  constructor() {
    const turn = () => {
      this.count++;
      this.#next = setImmediate(turn);
    };
    this.#next = setImmediate(turn);
  }

  stop(): void {
    clearImmediate(this.#next);
  }
}

/**
 * Lets calls enter in one turn.
 *
 * @param callMs what each call takes, on a clock that nothing else moves
 * @returns the turn in which each call began
 */
async function turnsOf(calls: number, callMs: number, inTurn: (slices: TimeSlices, turn: number) => void = () => {}) {
  let clock = 0;
  const slices = new TimeSlices(() => clock);
  const turns = new Turns();
  const begun: number[] = [];
  const order: number[] = [];
  const call = async (index: number): Promise<void> => {
    const wait = slices.enter(100);
    if (wait !== undefined) await wait;
    order.push(index);
    begun.push(turns.count);
    clock += callMs;
    inTurn(slices, turns.count);
  };
  try {
    await Promise.all(Array.from({ length: calls }, (_, index) => call(index)));
  } finally {
    turns.stop();
  }
  assert.deepEqual(
    order,
    Array.from({ length: calls }, (_, index) => index),
  );
  assert.equal(slices.waiting, 0);
  return begun;
}

describe("calls that arrive in one turn of the event loop", () => {
  it("begin at once for 10 ms; the others begin in order, for 10 ms of each later turn", async () => {
    assert.deepEqual(await turnsOf(3, 3), [0, 0, 0]);
    assert.deepEqual(await turnsOf(11, 4), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3]);
    assert.deepEqual(await turnsOf(4, 50), [0, 1, 2, 3]);
  });

  it("wait while turns accept connections, until a slice began 20 ms ago", async () => {
    let clock = 0;
    const slices = new TimeSlices(() => clock);
    assert.equal(slices.enter(100), undefined);
    clock = 10;
    const waits = [100, 100].map((bytes) => slices.enter(bytes));
    let begun = 0;
    for (const wait of waits) void wait?.then(() => begun++);
    clock = 19;
    for (let turn = 0; turn < 3; turn++) {
      slices.accepted();
      await new Promise(setImmediate);
      assert.equal(begun, 0);
    }
    clock = 20;
    slices.accepted();
    await Promise.all(waits);
    assert.equal(begun, 2);
  });

  it("begin in the first turn that accepts no connection", async () => {
    let clock = 0;
    const slices = new TimeSlices(() => clock);
    assert.equal(slices.enter(100), undefined);
    clock = 10;
    const wait = slices.enter(100);
    slices.accepted();
    await new Promise(setImmediate);
    assert.equal(slices.waiting, 1);
    await wait;
    assert.equal(slices.waiting, 0);
  });

  it("begin at once for another slice if an earlier turn began the current slice", async () => {
    let clock = 0;
    const slices = new TimeSlices(() => clock);
    slices.enter(100);
    await new Promise(setImmediate);
    const waits = [5, 9, 10, 19, 20].map((at) => {
      clock = at;
      return slices.enter(100) !== undefined;
    });
    assert.deepEqual(waits, [false, false, false, false, true]);
  });

  it("begin at once when waiting calls have read 16 MiB of bodies ahead", async () => {
    let clock = 0;
    const slices = new TimeSlices(() => clock);
    assert.equal(slices.enter(12_582_912), undefined);
    clock = 10;
    const waits = Array.from({ length: 256 }, () => slices.enter(12_582_912));
    assert.equal(slices.waiting, 256);
    assert.equal(slices.enter(1), undefined);
    assert.ok(slices.enter(0));
    await Promise.all(waits);
    await until(() => slices.waiting === 0, "none waits");
    clock = 20;
    slices.enter(0);
    clock = 30;
    assert.ok(slices.enter(12_582_912));
  });
});

const CALLS = 24;

let tools = 0;

/** A tool each of whose runs takes longer than a slice. */
function blockingTool(): CountingTool {
  return countingTool({
    fqn: `xyz.test.blocking${++tools}@1`,
    invoke: ({ value }) => {
      const end = performance.now() + 15;
      while (performance.now() < end);
      return { ok: { value } };
    },
  });
}

/** Open connections that the server has accepted. */
async function openAll(url: string, path: string, count: number): Promise<RawConnection[]> {
  const all = await Promise.all(Array.from({ length: count }, () => RawConnection.open(url)));
  for (const connection of all) assert.equal((await connection.send(requestText("GET", path)).response()).status, 200);
  return all;
}

describe("a server with more calls than it can answer", () => {
  it("answers health checks and probes between them, and counts the waiting times in its metrics", async () => {
    const tool = blockingTool();
    const { url, adminUrl = assert.fail() } = await serveSigned([tool], { admin: [[127, 0, 0, 1], 0] });
    const connections = await openAll(url, "/health", CALLS);
    const [health] = await openAll(url, "/health", 1);
    const [probe] = await openAll(adminUrl, "/livez", 1);
    assert.ok(health !== undefined && probe !== undefined);
    const calls = connections.map((_, index) => echoCall(tool, `${index}`));
    // All of it is there for one turn of the event loop.
    for (const [index, connection] of connections.entries()) connection.send(calls[index]?.text() ?? "");
    health.send(requestText("GET", "/health"));
    probe.send(requestText("GET", "/readyz"));
    const begun = await Promise.all(
      [health, probe].map(async (each) => {
        assert.equal((await each.response()).status, 200);
        return tool.calls.invoked;
      }),
    );
    for (const count of begun)
      assert.ok(count < CALLS / 2, `${count} of ${CALLS} calls began before a probe was answered`);
    for (const [index, connection] of connections.entries())
      expectResult(await connection.response("POST"), echoed(`${index}`), calls[index]);
    const metrics = (await exchange(adminUrl, requestText("GET", "/metrics"))).body.toString();
    const waited = /^svc_call_queue_seconds_count\{tool="xyz.test.blocking1@1"\} (\d+)$/m.exec(metrics)?.[1];
    assert.ok(Number(waited) >= CALLS / 2, `${waited} calls have waited`);
  });

  it("neither verifies nor runs a call whose caller has disconnected while it waited", async () => {
    const tool = blockingTool();
    // The rate counts verified calls.
    const { url } = await serveSigned([tool], { load: { rateLimit: { calls: CALLS / 2 + 1, windowMs: 86_400_000 } } });
    const connections = await openAll(url, "/health", CALLS);
    const staying = connections.slice(0, CALLS / 2);
    for (const [index, connection] of connections.entries()) connection.send(echoCall(tool, `${index}`).text());
    for (const connection of connections.slice(CALLS / 2)) connection.close();
    for (const connection of staying) assert.equal((await connection.response("POST")).status, 200);
    assert.equal((await echoCall(tool, "99").send(url)).status, 200);
    assert.equal(tool.calls.invoked, CALLS / 2 + 1);
  });

  it("lets connections that are accepted or dropped delay a slice", async () => {
    const accepted = mock.method(TimeSlices.prototype, "accepted");
    try {
      const { url } = await serveSigned([countingTool()], { maxConnections: 1 });
      await RawConnection.open(url);
      await until(() => accepted.mock.callCount() === 1, "one was accepted");
      await (await RawConnection.open(url)).closed();
      assert.equal(accepted.mock.callCount(), 2);
    } finally {
      accepted.mock.restore();
    }
  });
});
