/** Parts of the shared replay store that need no server: addresses, settings, records, pending writes. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { RedisFault } from "#runtime/redis/connection.js";
import { PendingWrites } from "#runtime/redis/pending-writes.js";
import { callerDigest, decodeRecord, encodeRecord, newToken, RecordKeys } from "#runtime/redis/record.js";
import { RedisReplayStore } from "#runtime/redis/redis-replay-store.js";
import { checkServer, policyFault } from "#runtime/redis/server-check.js";
import { redisFromEnv } from "#runtime/redis/settings.js";
import { addressOf, crossesNetworkInClear, parseTarget } from "#runtime/redis/target.js";
import type { CachedAnswer } from "#runtime/server/replay/store.js";
import { until } from "./tools.js";

const SECRET = "s3cr3t-canary";

describe("the address", () => {
  const main = [{ host: "a", port: 26379 }];
  const cases: [string, object][] = [
    ["redis://h", { at: { host: "h", port: 6379 }, tls: false, db: 0 }],
    ["redis://h:1/3", { at: { host: "h", port: 1 }, tls: false, db: 3 }],
    ["rediss://u:p%40w@h:7", { at: { host: "h", port: 7 }, tls: true, username: "u", password: "p@w", db: 0 }],
    ["redis://:p@[::1]:7", { at: { host: "::1", port: 7 }, tls: false, password: "p", db: 0 }],
    ["unix:///run/redis%20a.sock", { at: { path: "/run/redis a.sock" }, tls: false, db: 0 }],
    [
      "redis+sentinel://:p@a,b:7/main",
      { at: { sentinels: [...main, { host: "b", port: 7 }], name: "main" }, tls: false, password: "p", db: 0 },
    ],
    ["rediss+sentinel://a/main", { at: { sentinels: main, name: "main" }, tls: true, db: 0 }],
  ];
  for (const [text, target] of cases) it(text, () => assert.deepEqual(parseTarget(text), target));

  for (const text of [
    ...["", "h", `:${SECRET}@h`, `http://u:${SECRET}@h`, `redis:/${SECRET}`, `redis://u:${SECRET}@h:70000`],
    ...[`redis://u:${SECRET}@`, `redis://u:${SECRET}@h/x`, `redis://u:${SECRET}@h:0`, `redis://u:%zz${SECRET}@h`],
    ...[`redis://a,b`, `redis+sentinel://u:${SECRET}@a`, `redis://u:${SECRET}@h?db=1`, "unix://host/path", "unix:///"],
  ]) {
    it(`refuses ${JSON.stringify(text)} without its secret`, () => {
      assert.throws(
        () => redisFromEnv({ SVC_REPLAY_REDIS_URL: text }),
        (error) => {
          assert.ok(error instanceof Error);
          assert.match(error.message, /^SVC_REPLAY_REDIS_URL: expected /);
          assert.doesNotMatch(error.message, new RegExp(SECRET));
          return true;
        },
      );
    });
  }

  it("is shown without user and password", () => {
    for (const text of ["redis://h:1", "rediss://[::1]:2", "unix:///a", "redis+sentinel://a:1,b:2/main"]) {
      assert.equal(addressOf(parseTarget(text)), text);
      assert.equal(addressOf(parseTarget(text.replace("://", `://u:${SECRET}@`))), text);
    }
  });

  it("detects a password that would be sent over a network unencrypted", () => {
    const clear = ["redis://10.0.0.1", "redis://h", "redis+sentinel://127.0.0.1,h/main", "redis://127.example.org"];
    const own = ["redis://127.0.0.1", "redis://127.255.0.2", "redis://localhost", "redis://[::1]", "unix:///a"];
    const safe = [...own, "rediss://h"];
    for (const text of clear) assert.equal(crossesNetworkInClear(parseTarget(text)), true, text);
    for (const text of safe) assert.equal(crossesNetworkInClear(parseTarget(text)), false, text);
  });
});

describe("settings", () => {
  const URL = "redis://127.0.0.1:1";
  for (const [variables, message] of [
    [
      { TIMEOUT_MS: "1s" },
      /^SVC_REPLAY_REDIS_TIMEOUT_MS: expected a number of milliseconds, such as 1000, got another value$/,
    ],
    [{ TIMEOUT_MS: "5" }, /^SVC_REPLAY_REDIS_TIMEOUT_MS: /],
    [{ GRACE_MS: "9999999" }, /^SVC_REPLAY_REDIS_GRACE_MS: /],
    [
      { CA_PATH: "/a" },
      /^SVC_REPLAY_REDIS_URL: expected a URL that begins with rediss, because SVC_REPLAY_REDIS_CA_PATH or SVC_REPLAY_REDIS_CERT_PATH is set; got one without TLS$/,
    ],
    [
      { URL: "rediss://h", CERT_PATH: "/a" },
      /^SVC_REPLAY_REDIS_CERT_PATH and SVC_REPLAY_REDIS_KEY_PATH: expected both, got one$/,
    ],
    [
      { URL: `redis://:${SECRET}@h`, PASSWORD_FILE: "/a" },
      /^SVC_REPLAY_REDIS_PASSWORD_FILE: the URL contains a password/,
    ],
  ] as const) {
    it(Object.entries(variables).join(), () => {
      const all = Object.entries({ URL, ...variables });
      const env = Object.fromEntries(all.map(([name, value]) => [`SVC_REPLAY_REDIS_${name}`, value]));
      assert.throws(() => redisFromEnv(env), { name: "StartupError", message });
    });
  }

  it("in code: either a URL or a client, and no cluster", () => {
    const client = { duplicate: () => ({}) };
    assert.throws(() => new RedisReplayStore({}), RangeError);
    assert.throws(() => new RedisReplayStore({ url: URL, client }), RangeError);
    assert.throws(
      () => new RedisReplayStore({ client, caPath: "/a" }),
      /caPath: set them in the options of the given client/,
    );
    assert.throws(() => new RedisReplayStore({ client: Object.assign(client, { isCluster: true }) }), /cluster/);
  });
});

describe("the server", () => {
  const facts = (changes: object) =>
    new Map(
      Object.entries({
        ...{ redis_version: "7.0.15", role: "master", maxmemory: "1000", maxmemory_policy: "noeviction", run_id: "a" },
        ...changes,
      }) as [string, string][],
    );
  for (const [changes, fault] of [
    [{}, undefined],
    [{ redis_version: "6.2.14" }, /expected Redis 7.0 or later, got 6.2.14/],
    [{ redis_version: "" }, /no version/],
    [{ redis_version: "7.2.4", valkey_version: "7.2.5" }, undefined],
    [{ redis_version: "7.2.4", valkey_version: "7.1.0" }, /expected Valkey 7.2 or later/],
    [{ cluster_enabled: "1" }, /a cluster node/],
    [{ role: "slave" }, /expected a primary, got a replica/],
    [{ maxmemory_policy: "allkeys-lru" }, /maxmemory-policy is allkeys-lru/],
    [{ maxmemory_policy: "\u001b[31m<script>" }, /maxmemory-policy is \?\[31m<script>,/],
  ] as const) {
    it(JSON.stringify(changes), () => {
      const verdict = checkServer(facts(changes));
      if (fault === undefined) assert.deepEqual([verdict.fault, verdict.warnings], [undefined, []]);
      else assert.match(verdict.fault ?? "", fault);
    });
  }
  it("warns of unknown properties", () => {
    const unknown = facts({ maxmemory: "0" });
    unknown.delete("run_id");
    unknown.delete("maxmemory_policy");
    assert.equal(checkServer(unknown).warnings.length, 3);
    assert.equal(policyFault(unknown), undefined);
  });
});

describe("records", () => {
  const [token, caller] = [newToken(), callerDigest({ leaderId: "a", leaderKeyId: 1n })];
  const answers: fc.Arbitrary<CachedAnswer> = fc.oneof(
    fc.record({
      status: fc.constant(200),
      signable: fc.constant(true),
      seal: fc.uint8Array({ minLength: 1, maxLength: 256 }),
      body: fc.uint8Array({ maxLength: 2_000 }),
    }),
    fc.record({
      status: fc.integer({ min: 400, max: 599 }),
      signable: fc.constant(false),
      code: fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 255 }),
      body: fc.uint8Array({ maxLength: 2_000 }),
    }),
  );

  it("have different digests of callers, even if ids and key ids join to the same text", () => {
    const of = (leaderId: string, leaderKeyId: bigint) => callerDigest({ leaderId, leaderKeyId }).toString("hex");
    const names = [of("1x", 1n), of("x", 11n), of("11x", 0n), of("x", 1n)];
    assert.equal(new Set(names).size, names.length);
  });

  it("are decoded to the answer that was encoded", () => {
    fc.assert(
      fc.property(answers, (answer) => {
        const record = decodeRecord(encodeRecord(answer, token, caller));
        assert.deepEqual(record, { answer: { ...answer }, caller });
      }),
    );
  });

  it("are invalid if truncated before the body, or of another version", () => {
    const answer = { status: 200, signable: true, seal: Buffer.alloc(144), body: new Uint8Array(9) };
    const record = encodeRecord(answer, token, caller);
    for (let length = 0; length < record.length - 9; length++) {
      assert.equal(decodeRecord(record.subarray(0, length)), undefined);
    }
    for (const version of [0, 2, 255]) {
      assert.equal(decodeRecord(Buffer.from(record.with(0, version))), undefined);
    }
    assert.equal(decodeRecord(Buffer.from(record.with(1, 2))), undefined, "an unknown flag");
    assert.equal(decodeRecord(Buffer.from(record.with(1, 0))), undefined, "an error of status 200");
  });

  it("never throw when decoded, whatever their content", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => void decodeRecord(Buffer.from(bytes))));
  });

  it("keys of different calls differ, and tokens", () => {
    const keys = new RecordKeys("p:");
    const call = (tool: string, nonce: number, hash: number) =>
      keys.of({
        ...{ tool, nonce: new Uint8Array(32).fill(nonce), inputHash: new Uint8Array(32).fill(hash) },
        ...{ caller: { leaderId: "a", leaderKeyId: 1n }, leaseMs: 1 },
      });
    const all = [call("a@1", 1, 1), call("a@1", 1, 2), call("a@1", 2, 1), call("b@1", 1, 1)];
    assert.equal(new Set(all.map(({ record }) => record.toString("latin1"))).size, 4);
    assert.equal(new Set(all.map(({ marker }) => marker.toString("latin1"))).size, 3, "one marker for a nonce");
    assert.notDeepEqual(newToken(), newToken());
  });
});

describe("pending writes", () => {
  const fault = new RedisFault("disconnected", "ECONNREFUSED", true);
  function queue() {
    const state = { up: false, dropped: 0, faults: [] as unknown[] };
    const writes = new PendingWrites(
      () => state.up,
      (count) => {
        state.dropped += count;
      },
      (error) => state.faults.push(error),
    );
    return { state, writes };
  }
  const later = () => performance.now() + 600_000;

  it("are repeated in order until they succeed", async () => {
    const { state, writes } = queue();
    const done: number[] = [];
    let failures = 2;
    for (let i = 0; i < 40; i++) {
      writes.add({
        ...{ bytes: 1, until: later() },
        write: async () => {
          if (i === 35 && failures-- > 0) throw fault;
          done.push(i);
        },
      });
    }
    await writes.kick();
    assert.deepEqual(done, [], "not while the store cannot be written to");
    state.up = true;
    await until(() => writes.size === 0, "all are written");
    assert.equal(done.length, 40, "each of them once");
    assert.deepEqual(
      done.slice(0, 32),
      Array.from({ length: 32 }, (_, i) => i),
    );
  });

  it("above the limits the oldest is dropped and counted", () => {
    const { state, writes } = queue();
    const write = async () => {};
    for (let i = 0; i < 10_003; i++) writes.add({ bytes: 1, until: later(), write });
    assert.deepEqual([writes.size, state.dropped], [10_000, 3]);
    writes.add({ bytes: 64 * 1024 * 1024, until: later(), write });
    assert.deepEqual([writes.size, state.dropped], [1, 10_003]);
    assert.equal(writes.stop(), 1);
    assert.equal(writes.size, 0);
  });

  it("writes that are always refused do not block the others", async () => {
    const { state, writes } = queue();
    state.up = true;
    const refused = new RedisFault("refused", "WRONGTYPE", false);
    for (let i = 0; i < 64; i++) {
      writes.add({ bytes: 1, until: later(), write: () => Promise.reject(refused) });
    }
    let written = false;
    writes.add({
      ...{ bytes: 1, until: later() },
      write: async () => {
        written = true;
      },
    });
    for (let i = 0; i < 3; i++) await writes.kick();
    assert.equal(written, true);
    assert.equal(writes.stop(), 64);
  });

  it("a first attempt in progress is waited for, and counted if it is abandoned", async () => {
    const { state, writes } = queue();
    state.up = true;
    let fail = (_: Error) => {};
    const stuck = () => writes.attempt({ bytes: 1, until: later(), write: () => new Promise((_, no) => (fail = no)) });
    const first = stuck();
    let done = false;
    const waiting = writes.done().then(() => {
      done = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(done, false);
    assert.equal(writes.stop(), 1);
    fail(fault);
    assert.equal(await first, undefined);
    await waiting;
    assert.equal(state.dropped, 0, "it was counted once");
  });

  it("a write that is dropped during an attempt is not retried", async () => {
    const { state, writes } = queue();
    state.up = true;
    let fail = (_: Error) => {};
    writes.add({ bytes: 1, until: later(), write: () => new Promise((_, no) => (fail = no)) });
    const tried = writes.kick();
    writes.add({ bytes: 64 * 1024 * 1024, until: later(), write: async () => {} });
    fail(fault);
    await tried;
    assert.deepEqual([writes.stop(), state.dropped], [1, 1]);
  });

  it("after the end nothing is queued", async () => {
    const { state, writes } = queue();
    writes.stop();
    await writes.attempt({ bytes: 1, until: later(), write: () => assert.fail("it cannot be written") });
    assert.deepEqual([writes.size, state.dropped], [0, 1]);
  });

  it("that wait are tried at the end, and no new waiting one is queued", async () => {
    const { state, writes } = queue();
    state.up = true;
    let tried = 0;
    const waiting = () => ({
      ...{ bytes: 1, until: later(), notBefore: later() },
      write: async () => {
        tried++;
        writes.add(waiting());
      },
    });
    writes.add(waiting());
    await writes.kick();
    assert.equal(tried, 0);
    await writes.done();
    assert.deepEqual([tried, writes.size, state.dropped], [1, 0, 0]);
  });

  it("are dropped if they are pointless; a programming error is logged, not retried", async () => {
    const { state, writes } = queue();
    state.up = true;
    writes.add({ bytes: 1, until: 0, write: () => assert.fail("too late") });
    writes.add({ bytes: 1, until: later(), write: () => Promise.reject(new TypeError("own")) });
    await writes.kick();
    assert.deepEqual([writes.size, state.dropped, state.faults.length], [0, 1, 1]);
  });
});
