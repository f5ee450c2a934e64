/** Loss of data, a full server and the end of a store: what a shared store does about them, step by step. */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { until } from "../../runtime/tools.js";
import { type HeldStore, HeldStores, LATE, LEASE, REFUSED, RESULT, request, THIRD, TTL } from "./held-store.js";
import { withRedis } from "./installed.js";
import { RedisServer } from "./redis-server.js";

const HEARTBEAT = 1_000;
const RENEWALS = 5_000;
const POLICY = 60_000;

describe("a Redis that loses data", withRedis(), () => {
  let server: RedisServer;
  before(async () => {
    server = await RedisServer.start({ directives: { appendonly: "yes", appendfsync: "always" } });
  });
  after(() => server.end());
  const stores = new HeldStores(() => server);

  it("a registration that fails is repeated at the next heartbeat", async () => {
    const [one, two] = await stores.share({ graceMs: 60_000 });
    await one.run(1);
    one.on("renew", () => REFUSED);
    await server.client.flushall();
    const seen = one.seen("renew");
    await until(() => {
      stores.fire(HEARTBEAT);
      return one.seen("renew") > seen;
    }, "a registration that fails");
    assert.equal(one.shared.losses, 1);
    one.pass();
    await until(() => {
      stores.fire(HEARTBEAT);
      return one.shared.reclaimed === 1;
    }, "the registration");
    assert.equal(await two.state(1), "in-flight");
  });

  it("every run and every recent end is registered again before new claims", async () => {
    const [one, two] = await stores.share();
    const nonces = Array.from({ length: 70 }, (_, i) => i + 1);
    const leases = await Promise.all(nonces.map((nonce) => one.run(nonce)));
    await Promise.all(nonces.map(async (nonce) => (await one.run(100 + nonce)).complete(RESULT)));
    await server.client.flushall();
    assert.equal(await one.state(1), "in-flight");
    assert.deepEqual([one.shared.losses, one.shared.reclaimed, one.shared.restored], [1, 70, 70]);
    for (const nonce of nonces) assert.equal(await two.state(nonce), "in-flight");
    assert.deepEqual(
      await Promise.all(leases.map((lease) => lease.complete(RESULT))),
      leases.map(() => true),
    );
  });

  /** A failover to a copy that has the claim of `one`'s only run, and none of what `write` changes. */
  async function failOver(one: HeldStore, write: () => Promise<unknown>): Promise<void> {
    const marker = (await stores.key(one.prefix, "r")) ?? assert.fail("no claim");
    const mark = (await server.client.getBuffer(marker)) ?? assert.fail("no claim");
    await write();
    await until(() => {
      stores.retry();
      return one.shared.pendingWrites === 0;
    }, "the write");
    await server.client.flushall();
    await server.client.set(marker, mark, "PX", LEASE + TTL);
    const { losses } = one.shared;
    await until(() => {
      stores.fire(HEARTBEAT);
      return one.shared.losses > losses;
    }, "the loss is seen");
  }

  it("a release whose reply was lost is repeated at a new primary that has missed the release", async () => {
    const [one, two] = await stores.share();
    one.on("claim", async (answer) => {
      assert.equal(await answer(), 1);
      // Carried out, and its reply lost; the take-back waits until the copy has the claim.
      one.on("release", () => REFUSED);
      return REFUSED;
    });
    await assert.rejects(one.store.claim(request(1)), { name: "ReplayStoreUnavailable" });
    await failOver(one, async () => one.pass());
    assert.equal(one.shared.takeBacks, 1);
    assert.equal(await one.state(2), "run");
    assert.equal(await two.state(1), "run");
  });

  it("the release of a claim is repeated at a new primary that has missed the release", async () => {
    const [one, two] = await stores.share();
    const lease = await one.run(1);
    await failOver(one, async () => assert.equal(await lease.release(), true));
    assert.equal(await one.state(2), "run");
    assert.equal(await two.state(1), "run");
  });

  it("after a restart with data, which may lack the last seconds, nothing new runs in the grace period", async () => {
    const [one] = await stores.share({ graceMs: 60_000 });
    await one.run(1);
    const incarnation = `${one.prefix}{00}incarnation`;
    const data = await server.client.getBuffer(incarnation);
    await server.kill();
    await server.start();
    assert.deepEqual(await server.client.getBuffer(incarnation), data, "the data is there");
    await until(() => {
      stores.fire(HEARTBEAT);
      stores.retry();
      return one.shared.losses === 1;
    }, "the loss is seen");
    await assert.rejects(one.store.claim(request(2)), { name: "ReplayStoreUnavailable", reason: "grace" });
    assert.equal(await one.state(1), "in-flight");
  });

  it("waiting ends are written as soon as the server is available again", async () => {
    // A grace period bounds the pause of the connection, so only the pause of the end is long.
    const [one] = await stores.share({ graceMs: 400 });
    const lease = await one.run(1);
    one.relay.attack = () => ({ bytes: "", after: "close" });
    await lease.complete(RESULT);
    const long = () => stores.timers.waiting.some(({ repeats, ms }) => !repeats && ms > 1_000 && ms <= 2_000);
    await until(long, "a long pause");
    one.pass();
    await until(() => one.shared.pendingWrites === 0, "the end is written");
    assert.equal(await one.state(1), "completed");
  });

  it("closing a store writes waiting answers, within the given time", async () => {
    for (const isBack of [true, false]) {
      const one = await stores.open();
      const lease = await one.run(1);
      one.on("end", () => REFUSED);
      await lease.complete(RESULT);
      const closing = one.store.close(30_000);
      const limit = stores.timers.waiting.find(({ ms }) => ms === 30_000) ?? assert.fail("no time limit");
      if (isBack) one.pass();
      else limit.fire();
      await closing;
      const left = one.log.lines.filter(({ message }) => message.startsWith("the server stopped before all answers"));
      assert.deepEqual(
        left.map(({ fields }) => fields),
        isBack ? [] : [{ left: 1 }],
      );
      assert.equal((await stores.key(one.prefix, "e")) !== undefined, isBack);
    }
  });
});

describe("a full Redis", withRedis(), () => {
  let server: RedisServer;
  before(async () => {
    server = await RedisServer.start();
  });
  after(() => server.end());
  const stores = new HeldStores(() => server);

  it("runs are renewed, end, and are registered again after a loss; retries are answered; new calls do not run", async () => {
    const [one] = await stores.share();
    const pass = stores.stopClock();
    const [ends, times, released] = [await one.run(1), await one.run(2), await one.run(3)];
    await one.run(4);
    await (await one.run(5)).complete(RESULT);
    await server.client.config("SET", "maxmemory", "1");
    try {
      assert.equal(await one.state(6), "full");
      pass(2_000);
      assert.equal(one.store.unavailable, undefined);
      assert.equal(await one.state(5), "completed");
      assert.equal(await ends.complete(RESULT), true);
      assert.equal(await times.timeOut(LATE), true);
      assert.equal(await released.release(), true);
      pass(THIRD);
      stores.fire(RENEWALS);
      assert.equal(await one.state(4), "in-flight");
      assert.equal(await times.settle(), true);
      assert.equal(one.shared.pendingWrites, 0);
      await server.client.flushall();
      stores.fire(HEARTBEAT);
      await until(() => one.shared.reclaimed === 1 && one.shared.restored === 1, "the registration after a loss");
      assert.deepEqual([...one.shared.errors.keys()], ["full"]);
    } finally {
      await server.client.config("SET", "maxmemory", "256mb");
    }
    assert.equal(await one.state(6), "run");
  });

  it("makes the store unready after 2 s", async () => {
    const one = await stores.open();
    const pass = stores.stopClock();
    one.on("claim", () => REFUSED);
    await assert.rejects(one.store.claim(request(1)));
    pass(1_999);
    assert.equal(one.store.unavailable, undefined);
    pass(1);
    assert.equal(one.store.unavailable, "refused: ERR");
  });

  it("the eviction policy is checked each minute", async () => {
    const one = await stores.open();
    const look = async (policy: string, isWanted: () => boolean) => {
      await server.client.config("SET", "maxmemory-policy", policy);
      stores.fire(POLICY);
      await until(isWanted, policy);
    };
    await look("allkeys-lru", () => one.store.unavailable !== undefined);
    await assert.rejects(one.store.claim(request(1)), { name: "ReplayStoreUnavailable", reason: "refused" });
    await look("noeviction", () => one.store.unavailable === undefined);
    assert.equal(await one.state(1), "run");
  });
});
