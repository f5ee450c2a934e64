/** Habits of the client library that the store must not inherit: other databases, printed errors, watchers left behind. */

import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { after, afterEach, before, describe, it, mock } from "node:test";
import { Redis } from "ioredis";
import { RedisConnection } from "#runtime/redis/connection.js";
import { RedisReplayStore } from "#runtime/redis/index.js";
import { KeptLog } from "#runtime/testing/kept-log.js";
import { until } from "../../runtime/tools.js";
import { atEnd } from "../../teardown.js";
import { FULL } from "../fault/harness.js";
import { request } from "./held-store.js";
import { HostileRedis } from "./hostile-redis.js";
import { withRedis } from "./installed.js";
import { RedisServer } from "./redis-server.js";

const TOOL = "xyz.test.tool@1";
const CANARY = "c4nary";
describe("the client library", withRedis(), () => {
  let server: RedisServer;
  const opened: RedisReplayStore[] = [];
  before(async () => {
    server = await RedisServer.start();
  });
  after(() => server.end());
  afterEach(async () => {
    mock.restoreAll();
    await Promise.all(opened.splice(0).map((store) => store.close(0)));
    await server.client.flushall();
  });

  const context = { tools: [{ fqn: TOOL, timeoutMs: 10_000 }], ttlMs: () => 60_000, log: new KeptLog().logger };
  function make(url: string, graceMs = 0): RedisReplayStore {
    const store = new RedisReplayStore({ url, graceMs });
    opened.push(store);
    return store;
  }

  const inFullRuns = { skip: FULL ? false : "in full runs only: the watchdog waits for 10 s" };
  it("the watchdog replaces a client that neither connects nor ends", inFullRuns, async () => {
    const real = new Redis({ port: server.port, lazyConnect: true });
    let made = 0;
    const client = {
      duplicate(options: object): unknown {
        made++;
        const stuck = { status: "connecting", disconnect: () => {} };
        return made === 2 ? Object.assign(new EventEmitter(), stuck) : real.duplicate(options);
      },
    };
    const store = new RedisReplayStore({ client, graceMs: 0 });
    opened.push(store);
    await store.start(context);
    await server.client.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await until(() => made === 2, "the client that hangs");
    await until(() => store.stats().shared.up, "another connection");
    assert.equal(made, 3);
  });

  it("a database that cannot be selected ends the start; nothing is written to another one", async () => {
    await assert.rejects(make(`${server.url}/99`).start(context), /database 99 cannot be selected \(ERR\)/);
    await assert.rejects(
      make(`${await server.addUser("replay")}/3`).start(context),
      /database 3 cannot be selected \(NOPERM\)/,
    );
    assert.deepEqual(await server.client.keys("*"), []);
  });

  it("a claim that was carried out although a proxy answered with an error is withdrawn", async () => {
    const hostile = await HostileRedis.start(server.client);
    const store = make(hostile.url);
    await store.start(context);
    hostile.attack = async ([, , keys], answer) => {
      if (String(keys) !== "5") return "pass";
      await answer();
      return { bytes: "-ERR upstream failure\r\n" };
    };
    await assert.rejects(store.claim(request(1)), { name: "ReplayStoreUnavailable", reason: "refused" });
    hostile.attack = undefined;
    await until(() => store.stats().shared.takeBacks === 1, "the claim is taken back");
    assert.equal((await store.claim(request(1))).state, "run");
  });

  it("prints no text of a server that refuses INFO", async () => {
    const warn = mock.method(console, "warn", () => {});
    const hostile = await HostileRedis.start(server.client);
    hostile.attack = ([name]) => (/^info$/i.test(name) ? { bytes: `-NOPERM ${CANARY}\r\n` } : "pass");
    await assert.rejects(make(hostile.url).start(context), /lacks a permission \(NOPERM\)/);
    assert.equal(warn.mock.callCount(), 0);
  });

  it("reports at the start that a server is still loading its data", async () => {
    const hostile = await HostileRedis.start(server.client);
    let loads = 3;
    hostile.attack = ([name]) =>
      /^eval/i.test(name) && loads-- > 0 ? { bytes: "-LOADING Redis is loading the dataset in memory\r\n" } : "pass";
    await make(hostile.url).start(context);
    assert.ok(loads < 0, "it was asked again");
  });

  it("prints no text of a Sentinel that refuses the subscription to failovers", async () => {
    const error = mock.method(console, "error", () => {});
    const refusing = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", () => socket.write(`-WRONGPASS ${CANARY}\r\n`));
      socket.on("close", () => refusing.emit("refused"));
    });
    refusing.listen(0, "127.0.0.1");
    atEnd(async () => void refusing.close());
    await once(refusing, "listening");
    const sentinel = await RedisServer.start({
      lines: ["bind 127.0.0.1", `sentinel monitor svc 127.0.0.1 ${server.port} 1`],
      args: ["--sentinel"],
    });
    const refused = once(refusing, "refused");
    const { port } = refusing.address() as AddressInfo;
    await assert.rejects(make(`redis://127.0.0.1:${sentinel.port}`).start(context), {
      message: /: expected Redis, got a Sentinel: use redis\+sentinel:\/\/HOST:PORT\/NAME; check SVC_REPLAY_REDIS_URL$/,
    });
    await make(`redis+sentinel://127.0.0.1:${sentinel.port},127.0.0.1:${port}/svc`).start(context);
    await refused;
    const clients = async () => String(await sentinel.client.call("CLIENT", "LIST"));
    await until(async () => / sub=1 /.test(await clients()), "the watcher of the other Sentinel");
    assert.equal(error.mock.callCount(), 0);
    await sentinel.end();
  });

  it("a lost connection leaves no timer that keeps the process alive", async () => {
    const sockets = new Set<Socket>();
    const relay = createServer((socket) => {
      sockets.add(socket.on("error", () => {}));
      socket.on("data", () => socket.destroy());
    });
    relay.listen(0, "127.0.0.1");
    atEnd(async () => void relay.close());
    await once(relay, "listening");
    let isLost = false;
    const connection = new RedisConnection(
      {
        to: { at: { host: "127.0.0.1", port: (relay.address() as AddressInfo).port }, tls: false, db: 0 },
        timeoutMs: 100,
      },
      {
        ready: () => {},
        lost: () => {
          isLost = true;
        },
      },
    );
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const others = timers();
    connection.open();
    await until(() => isLost, "a lost connection");
    connection.close();
    await until(() => timers() <= others, "no timer of the lost connection", 1_500);
  });

  it("a store that is closed while it starts leaves no connection", async () => {
    const store = make(server.url);
    const started = assert.rejects(store.start(context), /expected an open store, got a closed one/);
    await store.close(0);
    await started;
    const list = String(await server.client.call("CLIENT", "LIST"));
    assert.equal(list.trim().split("\n").length, 1, "that of the test only");
  });

  it("a start that waits for the grace period keeps its connection alive", async () => {
    const hostile = await HostileRedis.start(server.client);
    const store = make(hostile.url, 60_000);
    const log = new KeptLog();
    const starting = assert.rejects(
      store.start({ ...context, log: log.logger }),
      /expected an open store, got a closed one/,
    );
    await until(
      () => log.lines.some(({ message }) => message.startsWith("the server starts when")),
      "a start that waits",
    );
    const seen = hostile.seen.length;
    await until(() => hostile.seen.length >= seen + 2, "heartbeats");
    await store.close(0);
    await starting;
  });
});
