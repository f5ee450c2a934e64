/** How the store reaches a server: unix socket, TLS, credentials that change, rights of a user, clients of the host. */

import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { Redis } from "ioredis";
import { Redis as Valkey } from "iovalkey";
import { type RedisReplayOptions, RedisReplayStore } from "#runtime/redis/index.js";
import { KeptLog } from "#runtime/testing/kept-log.js";
import { makeCertificate } from "../../runtime/certificate.js";
import { until } from "../../runtime/tools.js";
import { scratchFolder } from "../../scratch-folder.js";
import { leaseOf, request } from "./held-store.js";
import { withRedis } from "./installed.js";
import { RedisServer } from "./redis-server.js";

const TOOL = "xyz.test.tool@1";
describe("the connection of a shared store", withRedis(), () => {
  const folder = scratchFolder();
  const path = (name: string) => join(folder, name);
  const { cert, key } = makeCertificate();
  let server: RedisServer;
  let tlsPort: number;
  const opened: RedisReplayStore[] = [];
  before(async () => {
    writeFileSync(path("cert.pem"), cert);
    writeFileSync(path("key.pem"), key);
    tlsPort = 20_000 + (process.pid % 20_000);
    server = await RedisServer.start({
      directives: {
        unixsocket: path("redis.sock"),
        "tls-port": `${tlsPort}`,
        "tls-cert-file": path("cert.pem"),
        "tls-key-file": path("key.pem"),
        "tls-ca-cert-file": path("cert.pem"),
        "tls-auth-clients": "yes",
      },
    });
  });
  after(async () => {
    await server.end();
  });
  afterEach(() => Promise.all(opened.splice(0).map((store) => store.close(100))));

  let nonces = 0;
  async function runs(store: RedisReplayStore): Promise<void> {
    const lease = leaseOf(await store.claim(request(++nonces)));
    assert.equal(await lease.complete({ status: 500, signable: false, body: new Uint8Array(1) }), true);
  }
  async function start(options: RedisReplayOptions, log = new KeptLog()): Promise<RedisReplayStore> {
    const store = new RedisReplayStore({ graceMs: 0, ...options });
    opened.push(store);
    await store.start({ tools: [{ fqn: TOOL, timeoutMs: 10_000 }], ttlMs: () => 60_000, log: log.logger });
    return store;
  }

  it("works through a unix socket", async () => runs(await start({ url: `unix://${path("redis.sock")}` })));

  it("works through TLS with a client certificate; an unknown authority ends the start at once", async () => {
    const url = `rediss://localhost:${tlsPort}`;
    const files = { certPath: path("cert.pem"), keyPath: path("key.pem") };
    await runs(await start({ url, ...files, caPath: path("cert.pem") }));
    await assert.rejects(start({ url, ...files }), {
      name: "StartupError",
      message:
        /^replay store: Redis at rediss:\/\/localhost:\d+: (?:DEPTH_ZERO_)?SELF_SIGNED_CERT; check SVC_REPLAY_REDIS_URL$/,
    });
  });

  it("a user with the documented permissions is sufficient, and each permission is necessary", async () => {
    const url = await server.addUser("replay");
    await runs(await start({ url }));
    for (const right of ["get", "getrange", "set", "del", "exists", "pexpire", "pttl", "info"]) {
      await server.client.call("ACL", "SETUSER", "replay", `-${right}`);
      await assert.rejects(start({ url }), { message: /lacks a permission \(NOPERM\)/ }, right);
      await server.client.call("ACL", "SETUSER", "replay", `+${right}`);
    }
  });

  it("reads the password file for each connection", async () => {
    const client = server.client;
    await server.addUser("rotated", "old");
    writeFileSync(path("password"), "old\n");
    const url = server.url.replace("://", "://rotated@");
    const store = await start({ url, passwordFile: path("password") });
    await client.call("ACL", "SETUSER", "rotated", "resetpass", ">new");
    writeFileSync(path("password"), "new\n");
    await client.call("CLIENT", "KILL", "USER", "rotated");
    await until(
      () =>
        runs(store).then(
          () => true,
          () => false,
        ),
      "the store is connected with the new password",
    );
  });

  const clients = {
    ioredis: () => new Redis({ port: server.port, lazyConnect: true }),
    iovalkey: () => new Valkey({ port: server.port, lazyConnect: true }),
  };
  for (const [name, make] of Object.entries(clients)) {
    it(`connects with the options of a given ${name} client`, async () => {
      const client = make();
      await runs(await start({ client, prefix: `${name}:` }));
      assert.equal(client.status, "wait", "the given client itself is not used");
    });
  }

  it("an eviction policy that appears later stops new runs", async () => {
    const log = new KeptLog();
    const store = await start({ url: server.url, prefix: "policy:" }, log);
    await server.client.config("SET", "maxmemory-policy", "allkeys-lru");
    try {
      await assert.rejects(start({ url: server.url, prefix: "policy:" }), /maxmemory-policy is allkeys-lru/);
      await server.client.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      await until(() => store.unavailable?.startsWith("maxmemory-policy") === true, "the policy is seen");
      await assert.rejects(runs(store), { name: "ReplayStoreUnavailable" });
    } finally {
      await server.client.config("SET", "maxmemory-policy", "noeviction");
    }
    await server.client.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await until(() => store.unavailable === undefined, "the policy is seen to be right again");
    await until(
      () => log.lines.some(({ message }) => message === "replay store: maxmemory-policy is noeviction again"),
      "a line about it",
    );
  });

  it("a removed permission makes the store unready until it is restored, with one log line", async () => {
    const log = new KeptLog();
    const client = server.client;
    const store = await start({ url: await server.addUser("taken") }, log);
    await client.call("ACL", "SETUSER", "taken", "-exists");
    await assert.rejects(runs(store), { name: "ReplayStoreUnavailable" });
    await until(() => store.unavailable === "refused: NOPERM", "it is unready, although greetings are answered");
    await client.call("ACL", "SETUSER", "taken", "+exists");
    await until(() => store.unavailable === undefined, "it serves again");
    await runs(store);
    const lines = log.lines.map(({ message }) => message);
    assert.equal(
      lines.filter((line) => line === "the replay store in Redis is unavailable; new calls are refused").length,
      1,
    );
    assert.equal(lines.filter((line) => line === "the replay store in Redis is available again").length, 1);
  });

  it("logs each cause of an outage once, and no secret", async () => {
    const log = new KeptLog();
    const client = server.client;
    await server.addUser("causes", "old-canary");
    writeFileSync(path("causes"), "old-canary\n");
    const url = server.url.replace("://", "://causes@");
    const store = await start({ url, passwordFile: path("causes") }, log);
    const causes = () =>
      log.lines.flatMap(({ message, fields }) =>
        message === "the replay store in Redis is unavailable; new calls are refused" ? [String(fields.reason)] : [],
      );
    await client.call("ACL", "SETUSER", "causes", "resetpass", ">new-canary");
    await client.call("CLIENT", "KILL", "USER", "causes");
    await until(() => causes().includes("refused: WRONGPASS"), "the refused password is logged");
    rmSync(path("causes"));
    const missing =
      "disconnected: SVC_REPLAY_REDIS_PASSWORD_FILE must be a readable file with the password, got ENOENT; correct the path";
    await until(() => causes().includes(missing), "the missing file is logged");
    writeFileSync(path("causes"), "new-canary\n");
    await until(
      () => log.lines.some(({ message }) => message === "the replay store in Redis is available again"),
      "the store serves again",
    );
    await runs(store);
    const codes = causes().map((reason) => reason.replace(/^\w+: /, ""));
    assert.equal(new Set(codes).size, codes.length, "each once");
    assert.doesNotMatch(JSON.stringify(log.lines), /canary/);
  });
});
