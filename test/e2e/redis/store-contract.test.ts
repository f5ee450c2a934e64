/** What protocol.md section 8 says of a shared store, on a real server: leases, time, loss of data. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, afterEach, before, describe, it } from "node:test";
import { type RedisReplayOptions, RedisReplayStore } from "#runtime/redis/index.js";
import { MAX_LOOK_UPS } from "#runtime/redis/look-ups.js";
import { END, SCRIPTS } from "#runtime/redis/scripts.js";
import { type CachedAnswer, type Claim, ReplayStoreUnavailable } from "#runtime/server/replay/store.js";
import { KeptLog } from "#runtime/testing/kept-log.js";
import { proves } from "../../proves.js";
import { loseAnswers } from "../../runtime/lost-answers.js";
import { attempt, until } from "../../runtime/tools.js";
import { LEASE, leaseOf, request, TTL } from "./held-store.js";
import { withRedis } from "./installed.js";
import { RedisServer } from "./redis-server.js";

const TOOL = "xyz.test.tool@1";
const RESULT: CachedAnswer = { status: 200, signable: true, body: Buffer.from("result"), seal: Buffer.alloc(144, 7) };
describe("the contract of a shared store", withRedis(), () => {
  let server: RedisServer;
  const opened: RedisReplayStore[] = [];
  before(async () => {
    server = await RedisServer.start();
  });
  after(() => server.end());
  afterEach(() => Promise.all(opened.splice(0).map((store) => store.close(100))));

  let prefixes = 0;
  async function replicas(
    count: number,
    { ttlMs = () => TTL, prefix = `p${prefixes++}:`, ...options }: RedisReplayOptions & { ttlMs?: () => number } = {},
  ): Promise<[RedisReplayStore, RedisReplayStore, string]> {
    for (let i = 0; i < count; i++) {
      const store = new RedisReplayStore({ url: server.url, prefix, graceMs: 0, ...options });
      opened.push(store);
      await store.start({ tools: [{ fqn: TOOL, timeoutMs: 10_000 }], ttlMs, log: new KeptLog().logger });
    }
    const [first, second] = opened.slice(-count);
    return [first as RedisReplayStore, (second ?? first) as RedisReplayStore, prefix];
  }

  /** Milliseconds that each key of a kind (`r` run, `e` record) has left. */
  async function lifetimes(prefix: string, kind: "r" | "e"): Promise<number[]> {
    const keys = await server.client.keysBuffer(`${prefix}*`);
    const own = keys.filter((key) => key.includes(`{00}${kind}:`));
    return Promise.all(own.map((key) => server.client.pttl(key)));
  }
  /** Lets a time pass for every key of a prefix. */
  const pass = (prefix: string, ms: number) =>
    server.client.eval(
      `for _, key in ipairs(redis.call("KEYS", ARGV[1] .. "*")) do
         local left = redis.call("PTTL", key)
         if left >= 0 then redis.call("PEXPIRE", key, math.max(0, left - tonumber(ARGV[2]))) end
       end`,
      0,
      prefix,
      ms,
    );
  const isAbout = (got: number | undefined, wanted: number) =>
    assert.ok(got !== undefined && got <= wanted && got > wanted - 30_000, `expected about ${wanted}, got ${got}`);

  it("state is shared; after a lapsed lease a pair answers 409 until its TTL has passed, then runs", async () => {
    const [one, two, prefix] = await replicas(2);
    await leaseOf(await one.claim(request(1, 1))).complete(RESULT);
    const found = await two.claim(request(1, 1));
    assert.ok(found.state === "completed" && found.sameCaller);
    assert.deepEqual(Buffer.from(found.answer.body), RESULT.body);

    leaseOf(await one.claim(request(2, 1)));
    assert.equal((await two.claim(request(2, 1))).state, "in-flight");
    isAbout((await lifetimes(prefix, "r"))[0], LEASE + TTL);
    await pass(prefix, LEASE + 1_000);
    assert.equal((await two.claim(request(2, 1))).state, "in-flight", "the lease has lapsed");
    await pass(prefix, TTL);
    leaseOf(await two.claim(request(2, 1)));
    proves("8.19");
  });

  it("claims of one pair at the same time share one reply, and only one of them runs", async () => {
    const [one] = await replicas(1);
    const claims = await Promise.all(Array.from({ length: 50 }, () => one.claim(request(20, 1))));
    assert.deepEqual(claims.map(({ state }) => state).sort(), [...new Array(49).fill("in-flight"), "run"]);
    await leaseOf(claims[0] as Claim).complete({ status: 403, signable: false, body: Buffer.from("no") });
    const bob = { leaderId: "bob", leaderKeyId: 1n };
    const [own, repeated, other] = await Promise.all([
      one.claim(request(20, 1)),
      one.claim({ ...request(20, 1), repeat: { memory: "another", ageMs: 0 } }),
      one.claim({ ...request(20, 1), caller: bob }),
    ]);
    assert.deepEqual([own.state, repeated, other.state], ["completed", own, "run"]);
  });

  it("retries of large results at three replicas at once fit beside maxmemory; other leaders' calls run", async () => {
    const page = readFileSync(new URL("../../../docs/deploy/replicas/redis/redis.conf", import.meta.url), "utf8");
    const [, limit = ""] = /^client-output-buffer-limit (.+)$/m.exec(page) ?? [];
    const timeoutMs = 4_000;
    await attempt("replies within the time limit of a command", async () => {
      const own = await RedisServer.start({ directives: { "client-output-buffer-limit": limit } });
      const memory = async (field: string) =>
        Number(new RegExp(`^${field}:(\\d+)`, "m").exec(await own.client.info("memory"))?.[1]);
      try {
        const [first] = await replicas(1, { url: own.url, prefix: "large:", timeoutMs });
        const results = 200;
        const answer = { ...RESULT, body: Buffer.alloc(240_000) };
        for (let i = 0; i < results; i++) await leaseOf(await first.claim(request(i, 1))).complete(answer);
        const stored = await memory("used_memory");
        await replicas(2, { url: own.url, prefix: "large:", timeoutMs });
        const stores = opened.slice(-3);
        const retries = stores.flatMap((store) =>
          Array.from({ length: 5 * results }, (_, i) => store.claim(request(i % results, 1))),
        );
        const others = stores.map((store, i) =>
          store.claim({ ...request(i, 2), caller: { leaderId: "bob", leaderKeyId: 1n } }),
        );
        const claims = await Promise.all([...others, ...retries]);
        const states = claims.map(({ state }) => state);
        assert.deepEqual(new Set(states.splice(0, others.length)), new Set(["run"]));
        assert.deepEqual(new Set(states), new Set(["completed"]));
        const peak = (await memory("used_memory_peak")) - stored;
        assert.ok(peak < 1.5 * stores.length * MAX_LOOK_UPS * 262_144, `${peak} bytes`);
        return true;
      } catch (error) {
        if (error instanceof ReplayStoreUnavailable && error.reason === "timeout") return false;
        throw error;
      } finally {
        await Promise.all(opened.splice(0).map((store) => store.close(100)));
        await own.end();
      }
    });
  });

  it("no answer of two replicas says that nothing ran after a run, with lost answers and changing keys", () => {
    const open = () => new RedisReplayStore({ url: server.url, prefix: "lost:", graceMs: 0 });
    return loseAnswers([open(), open()]);
  });

  it("several registrations share one connection, each with its own TTL; the last one closes it", async () => {
    const store = new RedisReplayStore({ url: server.url, prefix: "shared:", graceMs: 0 });
    const other = "xyz.test.other@1";
    const start = (fqn: string, ttlMs: number) =>
      store.start({ tools: [{ fqn, timeoutMs: 10_000 }], ttlMs: () => ttlMs, log: new KeptLog().logger });
    const connections = async () =>
      String(await server.client.call("CLIENT", "LIST"))
        .trim()
        .split("\n").length;
    await until(async () => (await connections()) === 1, "the connection of the test only");
    await Promise.all([start(TOOL, TTL), start(other, 90_000)]);
    assert.equal(await connections(), 2);
    const lease = leaseOf(await store.claim(request(10, 1)));
    await leaseOf(await store.claim({ ...request(11, 1), tool: other })).complete(RESULT);
    isAbout((await lifetimes("shared:", "e"))[0], 90_000);
    await store.close(1_000);
    assert.equal(await lease.complete(RESULT), true);
    assert.equal((await store.claim(request(10, 1))).state, "completed");
    await store.close(1_000);
    await until(async () => (await connections()) === 1, "the connection is closed");
    await assert.rejects(start(TOOL, TTL), /got a closed one/);
  });

  it("the TTL of a timed-out run counts from the moment when its tool settles", async () => {
    const [one, , prefix] = await replicas(1);
    const lease = leaseOf(await one.claim(request(3, 1)));
    await lease.timeOut({ status: 504, code: "tool_invocation_timeout", signable: false, body: Buffer.from("late") });
    isAbout((await lifetimes(prefix, "e"))[0], LEASE + TTL);
    await pass(prefix, 100_000);
    await lease.settle();
    isAbout((await lifetimes(prefix, "e"))[0], TTL);
    assert.equal((await one.claim(request(3, 1))).state, "completed");
  });

  it("scripts that the server has removed are loaded again, and no call is refused", async () => {
    const [one] = await replicas(1);
    const lease = leaseOf(await one.claim(request(15, 1)));
    await server.client.script("FLUSH");
    assert.equal(await lease.complete(RESULT), true);
    await server.client.script("FLUSH");
    assert.equal((await one.claim(request(15, 1))).state, "completed");
    assert.equal(one.stats().shared.errors.get("refused") ?? 0, 0);
  });

  it("a repeated end sets the lifetime of the record: its first reply may be lost, and the tool may settle meanwhile", async () => {
    const [mark, record] = [Buffer.alloc(48, 1), Buffer.alloc(60, 1)];
    const end = (ms: number) => server.client.eval(SCRIPTS.end.lua, 2, "end:marker", "end:record", mark, record, ms);
    record.set(mark.subarray(32), 4);
    await server.client.set("end:marker", mark);
    assert.equal(await end(LEASE), END.done);
    assert.equal(await end(TTL), END.done);
    isAbout(await server.client.pttl("end:record"), TTL);
  });

  it("the TTL at completion applies, and a claim blocks other hashes with its nonce", async () => {
    const ttl = { now: TTL };
    const [one, two, prefix] = await replicas(2, { ttlMs: () => ttl.now });
    const lease = leaseOf(await one.claim(request(4, 1)));
    ttl.now = 90_000;
    await pass(prefix, LEASE + 1_000);
    assert.equal((await two.claim(request(4, 2))).state, "in-flight", "another hash, the lease has lapsed");
    await lease.complete(RESULT);
    isAbout((await lifetimes(prefix, "e"))[0], 90_000);
    await leaseOf(await two.claim(request(4, 2))).release();
    await pass(prefix, 90_001);
    await leaseOf(await two.claim(request(4, 1))).release();
    proves("8.23");
  });

  it("after a loss of data no new call runs until earlier runs are registered again", async () => {
    // The first start of all makes the incarnation, without a grace period to wait for.
    const [, , prefix] = await replicas(1);
    await Promise.all(opened.splice(0).map((store) => store.close(0)));
    const [one, two] = await replicas(2, { prefix, graceMs: 60_000 });
    const lease = leaseOf(await one.claim(request(5, 1)));
    await leaseOf(await one.claim(request(6, 1))).complete(RESULT);
    await server.client.flushall();
    await assert.rejects(two.claim(request(7, 1)), (error) => {
      assert.ok(error instanceof ReplayStoreUnavailable);
      assert.equal(error.reason, "grace");
      assert.ok(error.retryAfterMs > 30_000 && error.retryAfterMs <= 60_000);
      return true;
    });
    await until(() => one.stats().shared.reclaimed === 1, "the run is registered again");
    await until(() => one.stats().shared.restored === 1, "the end is written again");
    assert.equal((await two.claim(request(5, 1))).state, "in-flight");
    assert.equal((await two.claim(request(6, 1))).state, "completed");
    assert.equal(await lease.complete(RESULT), true);
    assert.equal((await two.claim(request(5, 1))).state, "completed");
    assert.equal(two.unavailable, undefined, "exact retries are answered");
    proves("8.24");
  });

  it("a pair runs once within lease and TTL; a second run after that is detected as a conflict", async () => {
    const [one, two, prefix] = await replicas(2);
    leaseOf(await one.claim(request(8, 1)));
    await one.close(0);
    assert.equal((await two.claim(request(8, 1))).state, "in-flight", "its process has gone");

    const [paused] = await replicas(1, { prefix });
    const first = leaseOf(await paused.claim(request(9, 1)));
    await server.client.flushall();
    await until(() => paused.stats().shared.reclaimed === 1, "the run is registered again");
    assert.equal((await two.claim(request(9, 1))).state, "in-flight", "the data was lost, its process lives");
    await pass(prefix, LEASE + TTL + 1);
    const second = leaseOf(await two.claim(request(9, 1)));
    assert.equal(await first.complete(RESULT), false);
    assert.equal(paused.stats().shared.conflicts, 1);
    assert.equal(await second.complete(RESULT), true);
    proves("8.26");
  });

  const repeat = (memory: string | undefined, ageMs: number) => ({ repeat: { memory: memory ?? "", ageMs } });

  it("replicas share one memory name, and a new one after a loss of data; in the grace period the name is unknown", async () => {
    const [first, , prefix] = await replicas(1);
    const name = first.memoryName;
    assert.match(name ?? "", /^[A-Za-z0-9_-]{22}$/);
    const [one, two] = await replicas(2, { prefix, graceMs: 400 });
    assert.deepEqual([one.memoryName, two.memoryName], [name, name]);
    const other = (await replicas(1))[0].memoryName;
    assert.notEqual(other, name, "of another prefix");
    await leaseOf(await one.claim(request(12, 1))).complete(RESULT);
    await first.close(0);
    await server.client.flushall();
    const young = { ...request(13, 1), ...repeat(name, 0) };
    await assert.rejects(two.claim(young), { name: "ReplayStoreUnavailable", reason: "grace" });
    await until(() => one.memoryName !== name && one.memoryName === two.memoryName, "both know the new name");
    await until(() => one.stats().shared.restored === 1, "the end is written again");
    assert.equal((await two.claim({ ...request(12, 1), ...repeat(name, 0) })).state, "completed");
    await until(
      async () => (await two.claim(young).catch(() => undefined))?.state === "lost",
      "the grace period is over",
    );
    assert.equal((await one.claim({ ...young, ...repeat(one.memoryName, 0) })).state, "run");
    assert.equal(two.stats().shared.claims.get(TOOL)?.lost, 1);
    proves("8.31");
  });

  it("the age of a repeat is compared with the lifetimes of all replicas, including those that have ended", async () => {
    const ttls = { first: 60_000, second: TTL };
    const [one, , prefix] = await replicas(1, { ttlMs: () => ttls.first });
    const [two] = await replicas(1, { prefix, ttlMs: () => ttls.second });
    const lease = leaseOf(await one.claim(request(14, 1)));
    ttls.first = 50_000;
    await lease.complete(RESULT);
    await one.close(1_000);
    await pass(prefix, 50_000);
    const at = (ageMs: number) => two.claim({ ...request(14, 1), ...repeat(two.memoryName, ageMs) });
    for (const age of [50_000, 59_999, 60_000, TTL - 1, TTL]) assert.equal((await at(age)).state, "lost", `${age}`);
    await leaseOf(await at(49_999)).release();
    // Lifetimes that were in force some time ago.
    const [[time = ""]] = [(await server.client.time()).map(String)];
    const now = Number(time) * 1_000;
    await server.client.set(`${prefix}{00}l:${TOOL}`, `20:${now - 100_000} 40:${now - 50_000}`);
    await leaseOf(await at(40_000)).release();
    assert.equal((await at(60_000)).state, "lost");
    assert.equal((await at(30 * 86_400_000)).state, "lost", "longer ago than lifetimes are kept");
    proves("8.34");
  });

  it("a few lifetimes are stored separately; further ones are merged with the shorter lifetime", async () => {
    const note = (ms: number, kept = 1_000_000) => server.client.eval(SCRIPTS.note.lua, 1, "notes", ms, ms * 10, kept);
    const noted = async () => {
      const text = (await server.client.get("notes")) ?? "";
      return text.split(" ").map((each) => Number(each.split(":")[0]));
    };
    await note(500);
    await note(600);
    await note(500);
    assert.deepEqual(await noted(), [500, 600], "each once");
    await note(50);
    for (let ms = 601; ms < 615; ms++) await note(ms);
    assert.equal((await noted()).length, 17);
    await note(1_000);
    // Those that end first are 50 and 500.
    assert.deepEqual(await noted(), [1_000, 50, ...Array.from({ length: 15 }, (_, i) => 600 + i)]);
    assert.ok((await server.client.pttl("notes")) > 900_000);
    await server.client.set("notes", "7:1 8:9999999999999");
    await note(9, 1_000);
    assert.deepEqual(await noted(), [9, 8], "what ended before the time for which notes are kept");
  });
});
