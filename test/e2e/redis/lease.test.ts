/** Leases of a shared store: their renewals, the lifetime of what they write, and writes that fail. */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { END, SCRIPTS } from "#runtime/redis/scripts.js";
import { gate, until } from "../../runtime/tools.js";
import {
  type HeldStore,
  HeldStores,
  LATE,
  LEASE,
  leaseOf,
  PASS,
  REFUSED,
  RESULT,
  request,
  THIRD,
  TTL,
} from "./held-store.js";
import { encodeReply } from "./hostile-redis.js";
import { withRedis } from "./installed.js";
import { RedisServer } from "./redis-server.js";

const RENEWALS = 5_000;

describe("a lease in Redis", withRedis(), () => {
  let server: RedisServer;
  before(async () => {
    server = await RedisServer.start();
  });
  after(() => server.end());
  const stores = new HeldStores(() => server);

  /** Leaves a key 10 s. */
  async function shorten(prefix: string, kind: "r" | "e"): Promise<void> {
    const key = await stores.key(prefix, kind);
    assert.equal(await server.client.pexpire(key ?? "", 10_000), 1);
  }
  const drop = async (prefix: string, kind: "r" | "e") => server.client.del((await stores.key(prefix, kind)) ?? "");
  /** A lifetime that has just been set to `wanted`. */
  async function assertLifetime(prefix: string, kind: "r" | "e", wanted: number): Promise<void> {
    const got = await stores.lifetime(prefix, kind);
    assert.ok(got !== undefined && got <= wanted && got > wanted - 30_000, `expected about ${wanted}, got ${got}`);
  }
  const written = (one: HeldStore) =>
    until(() => {
      stores.retry();
      return one.shared.pendingWrites === 0;
    }, "the write is repeated");

  it("is renewed, for the time of lease and TTL, when a third of the lease has passed and not earlier", async () => {
    const { store, prefix } = await stores.open();
    const pass = stores.stopClock();
    leaseOf(await store.claim(request(1)));
    const renewals = (ms: number) => {
      pass(ms);
      stores.fire(RENEWALS);
      return store.stats().shared.renewals;
    };
    assert.equal(renewals(THIRD - 2), 0);
    await shorten(prefix, "r");
    assert.equal(renewals(2), 1);
    assert.equal((await store.claim(request(1))).state, "in-flight");
    await assertLifetime(prefix, "r", LEASE + TTL);
    assert.equal(renewals(THIRD - 2), 1);
    assert.equal(renewals(2), 2);
  });

  it("keeps the 504 of a tool that outlives its deadline while the tool runs, also after a loss of data", async () => {
    const { store, prefix } = await stores.open();
    const pass = stores.stopClock();
    const lease = leaseOf(await store.claim(request(1)));
    assert.equal(await lease.timeOut(LATE), true);
    for (let third = 1; third <= 30; third++) {
      pass(THIRD);
      await shorten(prefix, "e");
      stores.fire(RENEWALS);
      assert.equal(store.stats().shared.renewals, third);
      assert.equal((await store.claim(request(1))).state, "completed");
    }
    await assertLifetime(prefix, "e", LEASE + TTL);
    // Longer than the store remembers recent writes.
    pass(11_000);
    await server.client.flushall();
    assert.equal((await store.claim(request(1))).state, "completed", "it is written again");
    await assertLifetime(prefix, "e", LEASE + TTL);
    assert.equal(await lease.settle(), true);
    await assertLifetime(prefix, "e", TTL);
  });

  it("is no longer held after each kind of end", async () => {
    const { store } = await stores.open();
    for (const [nonce, end] of (["complete", "release", "timeOut"] as const).entries()) {
      const lease = leaseOf(await store.claim(request(nonce)));
      assert.equal(store.stats().inFlight, 1);
      await (end === "release" ? lease.release() : lease[end](end === "timeOut" ? LATE : RESULT));
      if (end === "timeOut") {
        assert.equal(store.stats().inFlight, 1, "its tool runs");
        await lease.settle();
      }
      assert.equal(store.stats().inFlight, 0, end);
    }
  });

  for (const reply of ["-ERR refused", "+OK", ":7", ":-1", "$-1", "*0"]) {
    it(`repeats an end that is answered with ${reply}; its TTL counts from the end`, async () => {
      const one = await stores.open();
      const lease = await one.run(1);
      one.on("end", () => ({ bytes: `${reply}\r\n` }));
      const pass = stores.stopClock();
      assert.equal(await lease.complete(RESULT), true);
      assert.equal(one.shared.pendingWrites, 1);
      pass(100_000);
      one.pass();
      await written(one);
      await assertLifetime(one.prefix, "e", TTL - 100_000);
    });
  }

  it("stops repeating an end when lease and TTL have passed, with a log line", async () => {
    const one = await stores.open();
    const lease = await one.run(1);
    one.on("end", () => REFUSED);
    const pass = stores.stopClock();
    await lease.complete(RESULT);
    pass(LEASE + TTL - 1);
    const tried = one.seen("end");
    await until(() => {
      stores.retry();
      return one.seen("end") > tried + 1;
    }, "further attempts");
    assert.deepEqual([one.shared.pendingWrites, one.shared.droppedWrites], [1, 0]);
    pass(1);
    await written(one);
    assert.equal(one.shared.droppedWrites, 1);
    assert.ok(one.log.lines.some(({ level, message }) => level === "error" && message.startsWith("answers could")));
  });

  it("an end whose reply was lost is repeated and does not count as a conflict", async () => {
    const one = await stores.open();
    const lease = await one.run(1);
    one.on("end", async (answer) => {
      await answer();
      return REFUSED;
    });
    assert.equal(await lease.complete(RESULT), true);
    one.pass();
    await written(one);
    assert.equal(one.shared.conflicts, 0);
  });

  it("repeats a release that fails, and the pair runs again", async () => {
    const one = await stores.open();
    const lease = await one.run(1);
    one.on("release", () => REFUSED);
    assert.equal(await lease.release(), true);
    assert.equal(one.shared.pendingWrites, 1);
    one.pass();
    await written(one);
    assert.equal(await one.state(1), "run");
  });

  it("repeats a failed report that the tool has settled", async () => {
    const one = await stores.open();
    const lease = await one.run(1);
    await lease.timeOut(LATE);
    one.on("touch", () => REFUSED);
    assert.equal(await lease.settle(), true);
    assert.equal(one.shared.pendingWrites, 1);
    one.pass();
    await written(one);
    await assertLifetime(one.prefix, "e", TTL);
  });

  it("if a tool settles while its 504 is being written, the TTL counts from that moment", async () => {
    const one = await stores.open();
    const lease = await one.run(1);
    const going = gate();
    one.on("end", async () => {
      await going.promise;
      return PASS;
    });
    const seen = one.seen("end");
    const timedOut = lease.timeOut(LATE);
    await until(() => one.seen("end") > seen, "the write");
    assert.equal(await lease.settle(), true);
    going.open();
    assert.equal(await timedOut, true);
    await assertLifetime(one.prefix, "e", TTL);
  });

  it("if a tool settles before its 504 is written, it is written with the TTL", async () => {
    const one = await stores.open();
    const lease = await one.run(1);
    one.on("end", () => REFUSED);
    assert.equal(await lease.timeOut(LATE), true);
    assert.equal(await lease.settle(), true);
    one.pass();
    await written(one);
    assert.equal(one.seen("touch"), 1, "by the check at the start only");
    await assertLifetime(one.prefix, "e", TTL);
  });

  it("the report that a tool has settled does not change the record of another process", async () => {
    const [one] = await stores.share();
    const two = await stores.open({ prefix: one.prefix, ttlMs: 90_000 });
    const lease = await one.run(1);
    await lease.timeOut(LATE);
    await drop(one.prefix, "e");
    await (await two.run(1)).complete(RESULT);
    assert.equal(await lease.settle(), false);
    await assertLifetime(one.prefix, "e", 90_000);
  });

  it("detects at a renewal that another process is running the pair, and counts one conflict", async () => {
    const [one, two] = await stores.share();
    const pass = stores.stopClock();
    const lease = await one.run(1);
    pass(THIRD);
    await drop(one.prefix, "r");
    const other = await two.run(1);
    stores.fire(RENEWALS);
    assert.equal(await one.state(1), "in-flight");
    assert.equal(one.shared.conflicts, 1);
    assert.equal(await lease.complete(RESULT), false);
    assert.equal(one.shared.conflicts, 1);
    assert.equal(await other.complete(RESULT), true);
  });

  it("detects at a renewal that another process has run the pair, and does not claim the pair again", async () => {
    const [one, two] = await stores.share();
    const pass = stores.stopClock();
    await one.run(1);
    pass(THIRD);
    await drop(one.prefix, "r");
    await (await two.run(1)).complete(RESULT);
    stores.fire(RENEWALS);
    assert.equal(await one.state(1), "completed");
    assert.deepEqual([one.shared.conflicts, await stores.key(one.prefix, "r")], [1, undefined]);
  });

  it("the end of a run does not replace the answer of another process that has run the pair", async () => {
    const [one, two] = await stores.share();
    const lease = await one.run(1);
    await drop(one.prefix, "r");
    await (await two.run(1)).complete(RESULT);
    assert.equal(await lease.complete({ ...RESULT, body: Buffer.from("second") }), false);
    assert.equal(one.shared.conflicts, 1);
    const found = await two.store.claim(request(1));
    assert.ok(found.state === "completed");
    assert.deepEqual(Buffer.from(found.answer.body), RESULT.body);
  });

  it("a replaced 403 is no conflict, and its refused end is not repeated after a loss", async () => {
    const [one, two] = await stores.share();
    const forbidden = await one.run(1);
    await drop(one.prefix, "r");
    await (await two.run(1)).complete(RESULT);
    assert.equal(await forbidden.complete({ ...LATE, status: 403 }), false);
    assert.equal(one.shared.conflicts, 0);
    await server.client.flushall();
    await until(() => {
      stores.fire(1_000);
      return one.shared.losses === 1 && two.shared.restored === 1;
    }, "the loss is seen");
    assert.equal(one.shared.restored, 0);
  });

  it("does not affect the run of another pair with the same nonce, and reports no conflict", async () => {
    const [one, two] = await stores.share();
    const pass = stores.stopClock();
    await one.run(1, 1);
    pass(THIRD);
    await drop(one.prefix, "r");
    const other = await two.run(1, 2);
    stores.fire(RENEWALS);
    assert.equal(await two.state(1, 2), "in-flight");
    assert.equal(one.shared.conflicts, 0);
    assert.equal(await other.complete(RESULT), true);
  });

  it("a renewal that arrives after its run has ended claims nothing", async () => {
    const [mark, record] = [Buffer.alloc(48, 1), Buffer.alloc(60, 1)];
    record.writeUInt16BE(403, 2);
    mark.copy(record, 4, 32);
    await server.client.set("renewed:record", record);
    const reply = await server.client.eval(SCRIPTS.renew.lua, 2, "renewed:marker", "renewed:record", mark, LEASE);
    assert.equal(reply, END.done);
    assert.equal(await server.client.exists("renewed:marker"), 0);
  });

  it("a late release does not remove the claim of another process", async () => {
    const [one, two] = await stores.share();
    const [going, replies] = [gate(), [] as unknown[]];
    one.on("claim", () => {
      one.on("release", async (answer) => {
        await going.promise;
        replies.push(await answer());
        return { bytes: encodeReply(replies.at(-1)) };
      });
      return REFUSED;
    });
    await assert.rejects(one.store.claim(request(1)), { name: "ReplayStoreUnavailable" });
    const lease = await two.run(1);
    going.open();
    await until(() => replies.length > 0, "the claim is taken back");
    assert.deepEqual(replies, [0]);
    assert.equal(await two.state(1), "in-flight");
    assert.equal(await lease.complete(RESULT), true);
    assert.equal(one.shared.takeBacks, 0);
  });

  for (const after of ["close", "silence"] as const) {
    it(`a claim that was carried out and answered by ${after} is withdrawn`, async () => {
      const [one, two] = await stores.share({ timeoutMs: 300 });
      one.on("claim", async (answer) => {
        assert.equal(await answer(), 1);
        return { bytes: "", after };
      });
      const refused = assert.rejects(one.store.claim(request(1)), { name: "ReplayStoreUnavailable" });
      await until(async () => (await stores.key(one.prefix, "r")) !== undefined, "the claim is carried out");
      one.pass();
      await refused;
      // The watchdog replaces the silent connection. Meanwhile the other store gets replies.
      for (const nonce of [91, 92, 93]) {
        stores.fire(1_000);
        await (await two.run(nonce)).release();
      }
      await until(() => {
        stores.retry();
        return one.shared.takeBacks === 1;
      }, "the claim is taken back");
      assert.equal(await two.state(1), "run");
    });
  }

  it("a claim that Redis carries out only after the first withdrawal is withdrawn again", async () => {
    const [one, two] = await stores.share();
    const pass = stores.stopClock();
    let carryOut = async (): Promise<unknown> => assert.fail("no claim");
    one.on("claim", (answer) => {
      carryOut = answer;
      return REFUSED;
    });
    const seen = one.seen("release");
    await assert.rejects(one.store.claim(request(1)), { name: "ReplayStoreUnavailable" });
    await until(() => one.seen("release") > seen && one.shared.pendingWrites === 1, "the first attempt");
    one.pass();
    assert.equal(await carryOut(), 1);
    assert.equal(await two.state(1), "in-flight");
    pass(300);
    await until(() => one.shared.takeBacks === 1, "the claim is taken back");
    assert.equal(await two.state(1), "run");
  });
});
