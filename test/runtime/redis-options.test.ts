/** Options, defaults and times of the shared replay store, with a client library that connects to nothing. */

import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  type ConnectionEvents,
  type ConnectionOptions,
  RedisConnection,
  RedisFault,
} from "#runtime/redis/connection.js";
import { Incarnation } from "#runtime/redis/incarnation.js";
import { RedisReplayStore } from "#runtime/redis/index.js";
import type { RedisLease } from "#runtime/redis/lease.js";
import { PendingWrites } from "#runtime/redis/pending-writes.js";
import { decodeRecord, encodeRecord } from "#runtime/redis/record.js";
import { SCRIPTS } from "#runtime/redis/scripts.js";
import { redisFromEnv } from "#runtime/redis/settings.js";
import { parseTarget } from "#runtime/redis/target.js";
import { scratchFolder } from "../scratch-folder.js";
import { type HeldTimers, holdTimers } from "./held-timers.js";

const THIS_FILE = fileURLToPath(import.meta.url);

/** A client of the library: it says what a test says, and keeps the arguments of scripts. */
class Client extends EventEmitter {
  status = "connecting";
  readonly scripts: unknown[][] = [];
  /** Answers the scripts. */
  readonly answers: ((reply: unknown) => void)[] = [];
  readonly stream = { cork() {}, uncork() {} };
  readonly channels: string[] = [];
  constructor(readonly options: Readonly<Record<string, unknown>>) {
    super();
  }
  duplicate(options: object) {
    return library.duplicate({ ...this.options, ...options });
  }
  async subscribe(channel: string) {
    this.channels.push(channel);
  }
  svcHelloBuffer(...args: unknown[]) {
    this.scripts.push(args);
    return new Promise((resolve) => this.answers.push(resolve));
  }
  disconnect() {
    this.status = "end";
  }
  ready() {
    this.status = "ready";
    this.emit("ready");
  }
  /** The connection is lost. */
  end() {
    this.status = "end";
    this.emit("end");
  }
}

let clients: Client[] = [];
const library = {
  duplicate(options: object) {
    const client = new Client(options as Client["options"]);
    clients.push(client);
    return client;
  },
};
const last = () => clients.at(-1) ?? assert.fail("no client");

let timers: HeldTimers;
let open: { close(): void }[] = [];
beforeEach(() => {
  timers = holdTimers(1);
});
afterEach(() => {
  for (const each of open) each.close();
  timers.restore();
  clients = [];
  open = [];
});

/** Turns of the event loop until something holds, at most a thousand. */
async function turnUntil(holds: () => boolean): Promise<void> {
  for (let left = 1_000; !holds(); left--) {
    assert.ok(left > 0, "not within a thousand turns");
    await nextTurn();
  }
}

const events: ConnectionEvents = { ready() {}, lost() {} };
async function connected(options: Partial<ConnectionOptions> = {}, more: Partial<ConnectionEvents> = {}) {
  const connection = new RedisConnection({ to: library, timeoutMs: 1_000, ...options }, { ...events, ...more });
  open.push(connection);
  connection.open();
  return connection;
}

describe("a connection", () => {
  for (const [most, options, expected] of [
    ["2 s", {}, [50, 100, 200, 400, 800, 1_600, 2_000, 2_000]],
    ["maxPauseMs", { maxPauseMs: 125 }, [50, 100, 125, 125]],
  ] as const) {
    it(`is established again after at most 50 ms, then after twice the pause each time, up to ${most}`, async (t) => {
      t.mock.method(Math, "random", () => 1);
      await connected(options);
      const pauses = expected.map(() => {
        last().end();
        const pause = timers.waiting.find(({ repeats }) => !repeats) ?? assert.fail("it waits for nothing");
        pause.fire();
        return pause.ms;
      });
      assert.deepEqual(pauses, expected);
      assert.equal(clients.length, expected.length + 1);
    });
  }

  it("is not established again after close: no timer is left, and the end of the client starts none", async () => {
    for (const lose of [true, false]) {
      const connection = await connected();
      const client = last();
      if (lose) client.end();
      const made = clients.length;
      connection.close();
      client.end();
      assert.deepEqual(timers.waiting, []);
      assert.equal(clients.length, made);
    }
  });

  it("is not established again if it is closed by the listener for its loss", async () => {
    const connection = await connected({}, { lost: () => connection.close() });
    last().end();
    assert.deepEqual([clients.length, timers.waiting.length], [1, 0]);
  });

  it("is established again when a Sentinel announces another primary, and its watchers end", async () => {
    const sentinels = [{ host: "a", port: 1 }, { host: "b" }];
    const group = { sentinels, name: "svc", sentinelPassword: "secret", password: "other" };
    const faults: RedisFault[] = [];
    const lost = (fault: RedisFault) => void faults.push(fault);
    await connected({ to: { duplicate: (options) => library.duplicate({ ...group, ...options }) } }, { lost });
    const client = last();
    client.ready();
    const watchers = clients.slice(1);
    const targets = watchers.map(({ options: { sentinels, host, port, username, password } }) => [
      sentinels,
      `${host}:${port}`,
      username,
      password,
    ]);
    assert.deepEqual(targets, [
      [null, "a:1", null, "secret"],
      [null, "b:26379", null, "secret"],
    ]);
    for (const watcher of watchers) watcher.ready();
    assert.deepEqual(
      watchers.map(({ channels }) => channels),
      [["+switch-master"], ["+switch-master"]],
    );
    // An error without a listener would end the process.
    watchers[1]?.emit("error", new Error("NOAUTH"));
    watchers[1]?.emit("message", "+switch-master", "svc2 10.0.0.1 6379 10.0.0.2 6379");
    assert.deepEqual([client.status, faults], ["ready", []]);
    watchers[1]?.emit("message", "+switch-master", "svc 10.0.0.1 6379 10.0.0.2 6379");
    assert.deepEqual(
      [client, ...watchers].map(({ status }) => status),
      ["end", "end", "end"],
    );
    assert.deepEqual(
      faults.map(({ code }) => code),
      ["another primary"],
    );
    watchers[0]?.emit("message", "+switch-master", "svc 10.0.0.1 6379 10.0.0.2 6379");
    assert.equal(faults.length, 1);
  });

  for (const [timeoutMs, seconds] of [
    [1_000, 3],
    [3_500, 5],
  ] as const) {
    it(`is replaced after ${seconds} s without a reply, if a command may take ${timeoutMs} ms`, async () => {
      const faults: string[] = [];
      await connected({ timeoutMs }, { lost: ({ message }) => faults.push(message) });
      last().ready();
      const watchdog = timers.waiting.find(({ repeats }) => repeats) ?? assert.fail("no watchdog");
      assert.equal(watchdog.ms, 1_000);
      for (let i = 1; i < seconds; i++) watchdog.fire();
      assert.deepEqual(faults, []);
      watchdog.fire();
      assert.deepEqual(faults, [`timeout: no reply for ${seconds} s`]);
    });
  }

  it("a handshake has the time limit of a command, and connecting, also by several Sentinels, ten seconds", async () => {
    const faults: string[] = [];
    const connection = await connected({ timeoutMs: 700 }, { lost: ({ message }) => faults.push(message) });
    const watchdog = timers.waiting.find(({ repeats }) => repeats) ?? assert.fail("no watchdog");
    for (let i = 1; i < 10; i++) watchdog.fire();
    assert.deepEqual(faults, []);
    last().status = "connect";
    last().emit("connect");
    const interval = timers.waiting.find(({ ms }) => ms === 70) ?? assert.fail("no interval");
    for (let i = 0; i < 10; i++) interval.fire();
    await turnUntil(() => faults.length > 0);
    assert.deepEqual([faults, connection.ready], [["timeout: no reply within the time limit"], false]);
    // A given client's own limits do not apply.
    assert.deepEqual([last().options.commandTimeout, last().options.socketTimeout], [undefined, undefined]);
  });

  it("a command fails after ten intervals without a reply; a tool that blocks the event loop delays the next one", async () => {
    for (const intervals of [9, 10]) {
      const connection = await connected({ timeoutMs: 700 });
      last().ready();
      const reply = connection.run(SCRIPTS.hello).catch((error: RedisFault) => error.message);
      const interval = timers.waiting.find(({ ms }) => ms === 70) ?? assert.fail("no interval");
      for (let i = 0; i < intervals; i++) interval.fire();
      last().answers[0]?.("in time");
      assert.equal(await reply, intervals === 9 ? "in time" : "timeout: no reply within the time limit");
      assert.ok(!timers.waiting.includes(interval));
    }
  });

  it("ignores events of a client that was replaced", async () => {
    const counts = { ready: 0, lost: 0 };
    const connection = await connected({}, { ready: () => counts.ready++, lost: () => counts.lost++ });
    const [old, watchdog] = [last(), timers.waiting.find(({ repeats }) => repeats) ?? assert.fail("no watchdog")];
    old.ready();
    const late = connection.run(SCRIPTS.hello);
    for (let i = 0; i < 3; i++) watchdog.fire();
    timers.waiting.find(({ repeats }) => !repeats)?.fire();
    last().ready();
    old.emit("ready");
    old.emit("error", Object.assign(new Error("WRONGPASS"), { name: "ReplyError" }));
    old.emit("end");
    assert.deepEqual([counts, clients.length, connection.ready], [{ ready: 2, lost: 1 }, 2, true]);
    for (let i = 0; i < 2; i++) watchdog.fire();
    old.answers[0]?.("late");
    assert.equal(await late, "late");
    watchdog.fire();
    assert.equal(counts.lost, 2);
  });

  it("reads its files: a password, and certificates for TLS", async () => {
    const directory = scratchFolder();
    const files = Object.fromEntries(
      ["passwordFile", "caPath", "certPath", "keyPath"].map((name) => {
        writeFileSync(join(directory, name), `text of ${name}\n`);
        return [name, join(directory, name)];
      }),
    );
    await connected({ to: { ...parseTarget("rediss://127.0.0.1:1"), ...library }, ...files });
    const { password, tls } = last().options;
    assert.equal(password, "text of passwordFile");
    assert.deepEqual(tls, { ca: "text of caPath\n", cert: "text of certPath\n", key: "text of keyPath\n" });
  });
});

describe("the store", () => {
  const context = {
    tools: [],
    ttlMs: () => 1,
    log: { debug() {}, info() {}, warn() {}, error() {}, child: () => context.log },
    observe: undefined,
  } as unknown as Parameters<RedisReplayStore["start"]>[0];

  async function started(options: object) {
    const store = new RedisReplayStore({ client: library, ...options });
    open.push({ close: () => void store.close(0) });
    store.start(context).catch(() => {});
    while (clients.length === 0) await nextTurn();
    const client = last();
    client.ready();
    while (client.scripts.length === 0) await nextTurn();
    return client;
  }

  for (const [options, prefix, timeoutMs, graceMs] of [
    [{}, "svc:", 1_000, 5_000],
    [{ prefix: "other:", timeoutMs: 250, graceMs: 7_000 }, "other:", 250, 7_000],
  ] as const) {
    it(`prefix ${prefix}, timeoutMs ${timeoutMs}, graceMs ${graceMs}: ${JSON.stringify(options)}`, async () => {
      const { scripts } = await started(options);
      assert.ok(timers.waiting.some(({ ms, repeats }) => repeats && ms === timeoutMs / 10));
      const [incarnation, grace, , ms] = scripts[0] ?? [];
      assert.deepEqual([String(incarnation), String(grace)], [`${prefix}{00}incarnation`, `${prefix}{00}grace`]);
      assert.equal(ms, graceMs);
    });
  }

  it("graceMs: a lost connection is established again within a quarter of it, so that runs are registered in time", async (t) => {
    t.mock.method(Math, "random", () => 1);
    (await started({ graceMs: 100 })).end();
    assert.ok(
      timers.waiting.some(({ ms }) => ms === 25),
      `${timers.started}`,
    );
  });

  it("the environment has a variable for each option", async (t) => {
    const seen: unknown[] = [];
    t.mock.method(RedisConnection.prototype, "open", async function (this: unknown) {
      const { to, ...options } = (this as { options: ConnectionOptions }).options;
      seen.push(to, options);
    });
    t.mock.getter(RedisConnection.prototype, "ready", () => true);
    t.mock.method(RedisConnection.prototype, "run", (_script: unknown, ...args: readonly unknown[]) => {
      seen.push(String(args[0]), args[3]);
      return new Promise(() => {});
    });
    const url = "rediss://user@127.0.0.1:6380/2";
    const variables = {
      ...{ URL: url, PASSWORD_FILE: "/p", CA_PATH: "/a", CERT_PATH: "/c", KEY_PATH: "/k" },
      ...{ PREFIX: "x:", TIMEOUT_MS: "20", GRACE_MS: "8000" },
    };
    const env = Object.entries(variables).map(([name, value]) => [`SVC_REPLAY_REDIS_${name}`, value]);
    const store = redisFromEnv(Object.fromEntries(env));
    open.push({ close: () => void store.close(0) });
    store.start(context).catch(() => {});
    while (seen.length < 4) await nextTurn();
    const options = { passwordFile: "/p", caPath: "/a", certPath: "/c", keyPath: "/k" };
    assert.deepEqual(seen, [
      parseTarget(url),
      { ...options, timeoutMs: 20, maxPauseMs: 2_000 },
      "x:{00}incarnation",
      8_000,
    ]);
  });

  it("refuses times outside their bounds", () => {
    const make = (options: object) => () => new RedisReplayStore({ client: library, ...options });
    for (const timeoutMs of [10, 4_000]) make({ timeoutMs })();
    for (const timeoutMs of [9, 4_001, 10.5]) assert.throws(make({ timeoutMs }), /^RangeError: timeoutMs: /);
    for (const graceMs of [0, 3_600_000]) make({ graceMs })();
    for (const graceMs of [-1, 3_600_001, 0.5]) assert.throws(make({ graceMs }), /^RangeError: graceMs: /);
  });

  for (const [option, variable, more] of [
    ["passwordFile", "SVC_REPLAY_REDIS_PASSWORD_FILE", {}],
    ["caPath", "SVC_REPLAY_REDIS_CA_PATH", {}],
    ["certPath", "SVC_REPLAY_REDIS_CERT_PATH", { keyPath: THIS_FILE }],
    ["keyPath", "SVC_REPLAY_REDIS_KEY_PATH", { certPath: THIS_FILE }],
  ] as const) {
    it(`${option} is read at the start`, async () => {
      const path = join(tmpdir(), "svc-no-such-file");
      const store = new RedisReplayStore({ url: "rediss://127.0.0.1:1", [option]: path, ...more });
      await assert.rejects(store.start(context), new RegExp(`${variable}.*ENOENT`));
    });
  }
});

describe("writes that are remembered for a loss", () => {
  describe("a queue of writes", () => {
    const fault = new RedisFault("disconnected", "ECONNREFUSED", true);
    const until = Number.POSITIVE_INFINITY;
    function queue() {
      const state = { isUp: true, looks: 0 };
      const writes = new PendingWrites(
        () => {
          assert.ok(++state.looks < 1_000, "it looks again and again without a pause");
          return state.isUp;
        },
        () => {},
        (error) => assert.fail(String(error)),
      );
      open.push({ close: () => void writes.stop() });
      return { state, writes };
    }
    const pause = () => timers.waiting.at(-1)?.ms ?? assert.fail("it waits for nothing");

    it("repeats a write after 50 ms, then after twice the pause each time, at most after 2 s", async () => {
      const { state, writes } = queue();
      writes.add({ bytes: 1, until, write: () => Promise.reject(fault) });
      const pauses: number[] = [];
      for (let i = 0; i < 8; i++) {
        const timer = timers.waiting.at(-1) ?? assert.fail("it waits for nothing");
        pauses.push(timer.ms);
        timer.fire();
        for (let turn = 0; turn < 5; turn++) await nextTurn();
      }
      state.isUp = false;
      assert.deepEqual(pauses, [50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
    });

    it("pauses 50 ms again after a write that succeeded", async () => {
      const { writes } = queue();
      let isRefused = true;
      const write = async () => {
        if (isRefused) throw fault;
      };
      writes.add({ bytes: 1, until, write });
      for (let i = 0; i < 4; i++) await writes.kick();
      assert.ok(pause() >= 800);
      isRefused = false;
      await writes.kick();
      writes.add({ bytes: 1, until, write });
      assert.equal(pause(), 50);
    });

    it("pauses at the end too", async () => {
      const { state, writes } = queue();
      state.isUp = false;
      writes.add({ bytes: 1, until, write: async () => {} });
      const done = writes.done();
      done.catch(() => {});
      await nextTurn();
      assert.equal(pause(), 50);
      state.isUp = true;
      await turnUntil(() => {
        for (const timer of timers.waiting) timer.fire();
        return writes.size === 0;
      });
      await done;
    });
  });

  /** The state of a server that greets with this value. */
  const incarnationOf = (value: () => Promise<Buffer>, lost = () => {}) =>
    new Incarnation({ hello: async () => ({ value: await value(), graceMs: 0 }), lost, recovered() {} });

  /**
   * Loses the data of the server `ms` after the last of some writes; gives those that are written again. Each is made
   * `after` milliseconds after the one before.
   */
  async function again(
    ms: number,
    ...writes: readonly { readonly after?: number; readonly bytes: number }[]
  ): Promise<number[]> {
    let now = performance.now();
    mock.method(performance, "now", () => now);
    let incarnation = 0;
    const state = incarnationOf(async () => Buffer.from([incarnation]));
    await state.check();
    const written: number[] = [];
    for (const [i, { after = 0, bytes }] of writes.entries()) {
      now += after;
      state.remember({ bytes, writeAgain: async () => void written.push(i) });
    }
    now += ms;
    incarnation++;
    await state.check();
    mock.restoreAll();
    return written;
  }

  it("a `hello` reply on a lost connection is ignored and blocks no other", async () => {
    const greetings: ((value: Buffer) => void)[] = [];
    const lost = mock.fn();
    const state = incarnationOf(() => new Promise((resolve) => greetings.push(resolve)), lost);
    const first = state.check();
    greetings[0]?.(Buffer.from("one"));
    await first;
    const late = state.check();
    state.forget();
    assert.equal(state.value, undefined);
    const next = state.check();
    assert.equal(greetings.length, 3);
    greetings[1]?.(Buffer.from("other"));
    await late;
    assert.deepEqual([state.value, lost.mock.callCount()], [undefined, 0]);
    greetings[2]?.(Buffer.from("other"));
    await next;
    assert.deepEqual([String(state.value), lost.mock.callCount()], ["other", 1]);
  });

  it("a registration on a lost connection does not replace the next one", async () => {
    const renewals: { resolve: () => void; reject: (error: Error) => void }[] = [];
    let incarnation = 0;
    const state = incarnationOf(async () => Buffer.from([incarnation]));
    await state.check();
    const renew = () => new Promise<void>((resolve, reject) => renewals.push({ resolve, reject }));
    state.leases.add({ renew } as unknown as RedisLease);
    incarnation++;
    const late = state.check();
    await turnUntil(() => renewals.length === 1);
    state.forget();
    const next = state.check();
    await turnUntil(() => renewals.length === 2);
    renewals[0]?.resolve();
    await late;
    renewals[1]?.reject(new RedisFault("refused", "ERR", false));
    await assert.rejects(next, RedisFault);
    const again = state.check();
    await turnUntil(() => renewals.length === 3);
    renewals[2]?.resolve();
    await again;
  });

  it("writes of the last 10 s are repeated, whenever their run ended", async () => {
    const bytes = 1;
    assert.deepEqual(await again(0, { bytes }, { after: 10_000, bytes }), [0, 1]);
    assert.deepEqual(await again(0, { bytes }, { after: 10_001, bytes }), [1]);
    assert.deepEqual(await again(10_000, { bytes }, { after: 1, bytes }), [1]);
    assert.deepEqual(await again(10_001, { bytes }), []);
  });

  it("the latest 16 MiB of writes are kept", async () => {
    const bytes = 8 * 1024 * 1024;
    assert.deepEqual(await again(0, { bytes }, { bytes }), [0, 1]);
    assert.deepEqual(await again(0, { bytes }, { bytes }, { bytes: 1 }), [1, 2]);
  });

  it("a record has at most 255 bytes of a code, and a seal of at most 256 bytes or none", () => {
    const [token, caller] = [Buffer.alloc(16), Buffer.alloc(16)];
    const body = new Uint8Array(1);
    const read = (answer: object) =>
      decodeRecord(encodeRecord(answer as Parameters<typeof encodeRecord>[0], token, caller))?.answer;
    const refused = { status: 500, signable: false, body };
    for (const length of [255, 256]) assert.equal(read({ ...refused, code: "c".repeat(length) })?.code?.length, 255);
    const signed = { status: 200, signable: true, body };
    assert.equal(read({ ...signed, seal: new Uint8Array(256) })?.seal?.length, 256);
    assert.equal(read({ ...signed, seal: new Uint8Array(257) })?.seal, undefined);
  });
});
