/** What a replica says and does when its Redis is not what it must be, at the start and at the end. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { HostileRedis } from "../redis/hostile-redis.js";
import { withRedis } from "../redis/installed.js";
import { Leaders, makePair } from "../redis/leaders.js";
import { RedisServer } from "../redis/redis-server.js";
import { Replica, type ReplicaOptions, RunLog } from "../redis/replicas.js";
import { until } from "./harness.js";

const PASSWORD = "CANARY-PASSWORD-83ab";
const WRONG_PASSWORD = "CANARY-WRONG-PASSWORD-9e21";
const SECRETS = [PASSWORD, WRONG_PASSWORD, encodeURIComponent(`%${PASSWORD}`)];

describe("a replica that cannot use its Redis", { ...withRedis(), concurrency: 4 }, () => {
  let redis: RedisServer;
  let locked: RedisServer;
  let copy: RedisServer;
  let evicting: RedisServer;
  let old: HostileRedis;
  const runs = new RunLog();
  before(async () => {
    [redis, locked, copy, evicting] = await Promise.all([
      RedisServer.start(),
      RedisServer.start({ directives: { requirepass: PASSWORD } }),
      RedisServer.start(),
      RedisServer.start({ directives: { "maxmemory-policy": "allkeys-lru" } }),
    ]);
    await copy.replicate(redis.port);
    old = await HostileRedis.start(redis.client);
    old.attack = async ([name], answer) => {
      if (!/^info$/i.test(name)) return "pass";
      const text = String(await answer()).replace(/redis_version:.*/, "redis_version:6.2.14");
      return { bytes: `$${Buffer.byteLength(text)}\r\n${text}\r\n` };
    };
  });
  after(() => Promise.all([redis, locked, copy, evicting].map((server) => server.end())));

  let serial = 0;
  async function failedStart(options: ReplicaOptions): Promise<string> {
    const replica = await Replica.prepare(`start${serial++}`, runs, options);
    const child = replica.launch();
    const ended = await Promise.race([child.ended, child.url.then(() => undefined).catch(() => child.ended)]);
    assert.ok(ended !== undefined, "it serves");
    const { code, stderr, stdout } = ended;
    assert.equal(code, 1, stderr);
    replica.assertCleanLog(SECRETS);
    assert.equal(stdout, "");
    const line = stderr.split("\n").find((each) => each.startsWith("cannot start: "));
    assert.ok(line !== undefined, stderr);
    assert.doesNotMatch(stderr, /\n {4}at /, "no stack");
    return line;
  }

  const port = (server: RedisServer) => `127.0.0.1:${server.port}`;
  const file = (name: string, text: string) => {
    const path = join(runs.directory, name);
    writeFileSync(path, text);
    return path;
  };
  const cases: Readonly<Record<string, readonly [() => ReplicaOptions, RegExp]>> = {
    "an evicting policy": [() => ({ url: evicting.url }), /maxmemory-policy is allkeys-lru.*SVC_REPLAY_REDIS_URL/],
    "no password": [() => ({ url: locked.url }), /NOAUTH.*SVC_REPLAY_REDIS_URL/],
    "a wrong password in the URL": [
      () => ({ url: `redis://:${WRONG_PASSWORD}@${port(locked)}` }),
      /WRONGPASS.*SVC_REPLAY_REDIS_URL/,
    ],
    "a wrong user": [() => ({ url: `redis://nobody:${PASSWORD}@${port(locked)}` }), /WRONGPASS.*SVC_REPLAY_REDIS_URL/],
    "a wrong password in a file": [
      () => ({
        url: locked.url,
        env: { SVC_REPLAY_REDIS_PASSWORD_FILE: file("wrong-password", `${WRONG_PASSWORD}\n`) },
      }),
      /WRONGPASS.*SVC_REPLAY_REDIS_PASSWORD_FILE$/,
    ],
    "a copy of another server": [() => ({ url: copy.url }), /replica.*SVC_REPLAY_REDIS_URL/],
    "version 6": [() => ({ url: old.url }), /7\.0.*6\.2\.14.*SVC_REPLAY_REDIS_URL/],
    "a misspelt name of the URL": [
      () => ({ env: { SVC_REPLAY_REDS_URL: `redis://:${PASSWORD}@${port(redis)}` } }),
      /SVC_REPLAY_REDS_URL is set but SVC_REPLAY_REDIS_URL is not: without a shared replay store/,
    ],
    "companions without a URL": [() => ({ env: { SVC_REPLAY_REDIS_PREFIX: "x:" } }), /SVC_REPLAY_REDIS_(?:PREFIX|URL)/],
  };
  for (const [name, [options, expected]] of Object.entries(cases)) {
    it(name, async () => {
      assert.match(await failedStart(options()), expected);
    });
  }

  it("no server at the address: an error within the time limit of the start", async () => {
    const gone = await RedisServer.start();
    await gone.end();
    assert.match(await failedStart({ url: gone.url }), /ECONNREFUSED.*SVC_REPLAY_REDIS_URL/);
  });

  it("a server that never answers: an error within the time limit of the start", async () => {
    const hung = await RedisServer.start();
    hung.pause();
    assert.match(await failedStart({ url: `redis://:${PASSWORD}@${port(hung)}` }), /SVC_REPLAY_REDIS_URL/);
    hung.resume();
    await hung.end();
  });

  it("TLS to a server without TLS: an error that names the variable", async () => {
    assert.match(await failedStart({ url: `rediss://:${PASSWORD}@${port(redis)}` }), /SVC_REPLAY_REDIS_URL/);
  });
});

describe("shutdown of a replica while its Redis is unavailable", withRedis(), () => {
  it("ends within the drain limit, delivers the result of its run and counts the writes that failed", async () => {
    const redis = await RedisServer.start();
    const runs = new RunLog();
    const replica = await Replica.start("last", runs, { url: redis.url, graceMs: 0 });
    const leaders = new Leaders([replica.url]);
    const pair = makePair(1, { waitMs: 1_500 });
    const call = leaders.once(pair);
    await until(() => runs.read().length === 1, "a run");
    await redis.kill();
    replica.process.kill("SIGTERM");
    assert.equal(await call, 200, "the result of a finished run is always delivered");
    await until(() => replica.process.exitCode !== null, "the end of the process");
    assert.equal(replica.process.exitCode, 0, replica.log);
    assert.match(replica.log, /"left":1\b/);
    replica.assertCleanLog();
    leaders.close();
    await redis.end();
  });
});
