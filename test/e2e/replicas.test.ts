/** docs/deploy/replicas: three replicas behind nginx, their replay store in Redis with Sentinel and TLS, from the files as they stand. */

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createServer, request, type Server } from "node:https";
import { after, before, describe, it } from "node:test";
import { connect } from "node:tls";
import { LeaderClient, LeaderError, publicKeyOf } from "#runtime/leader.js";
import { SUM, signedConfig, TOOL_SEED } from "../bench/requests.js";
import { atEnd } from "../teardown.js";
import { Deployment, type Running, until, WITHOUT_DEPLOYMENT } from "./deployment.js";

const WITHOUT = { skip: WITHOUT_DEPLOYMENT };
after(() => {
  if (WITHOUT.skip !== false) console.error(`\n${WITHOUT.skip}: docs/deploy/replicas was not run\n`);
});

const LEADER = { id: "leader", keyId: 0, key: Buffer.alloc(32, 7) };
const INPUT = { a: 1n, b: 2n, label: "three", tags: ["x"] };

/**
 * Sends a call as a leader does: the same request again after a 409 or 503, and after a 502, which nginx answers when the
 * last replica that it tried is dead.
 */
async function sendUntilAnswered(client: LeaderClient, request: ReturnType<LeaderClient["sign"]>) {
  for (let tries = 0; ; tries++) {
    try {
      return await client.send(request);
    } catch (error) {
      if (!(error instanceof LeaderError) || error.code === "replay_memory_lost") throw error;
      if (![409, 502, 503].includes(error.status ?? 0) || tries > 1_200) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Makes a call, and another one in its place when the replay memory was lost after an attempt that may have run. */
async function callUntilAnswered(client: LeaderClient) {
  for (;;) {
    const request = client.sign(INPUT);
    try {
      await sendUntilAnswered(client, request);
      return request;
    } catch (error) {
      if (!(error instanceof LeaderError && error.code === "replay_memory_lost")) throw error;
    }
  }
}

describe("the compose file, nginx.conf, redis.conf and sentinel.conf", WITHOUT, () => {
  let deployment: Deployment;
  let servers: Running[];
  let sentinels: Running[];
  let replicas: Awaited<ReturnType<Deployment["startReplica"]>>[];
  let client: LeaderClient;
  let gateway: Awaited<ReturnType<Deployment["startGateway"]>>;
  const runs = () => replicas.flatMap((replica) => replica.runs());

  before(async () => {
    deployment = new Deployment();
    ({ servers, sentinels } = await deployment.startStore());
    deployment.configure(signedConfig([SUM.fqn]));
    const start = (name: string) => deployment.startReplica(name, { SVC_REPLAY_REDIS_GRACE_MS: "500" });
    replicas = await Promise.all(["tool-1", "tool-2", "tool-3"].map(start));
    gateway = await deployment.startGateway();
    client = await LeaderClient.connect(`${gateway.url}/sum`, {
      leader: LEADER,
      toolKey: publicKeyOf(TOOL_SEED),
      tls: { ca: gateway.ca, servername: "localhost" },
    });
  });

  it("a call runs in one replica, and the others answer its retries with the same bytes and signature", async () => {
    const request = client.sign(INPUT);
    const results = [];
    for (let i = 0; i < 6; i++) results.push(await sendUntilAnswered(client, request));
    for (const { bcs, toolSignature } of results) {
      assert.deepEqual([bcs, toolSignature], [results[0]?.bcs, results[0]?.toolSignature]);
    }
    assert.deepEqual(runs(), [Buffer.from(request.nonce).toString("hex")]);
  });

  it("every replica gets calls", async () => {
    for (let i = 0; i < 12; i++) await sendUntilAnswered(client, client.sign(INPUT));
    for (const replica of replicas) assert.ok(replica.runs().length > 1);
  });

  it("a suspended replica gets almost no calls, and no call runs twice", async () => {
    const [, , stopped] = replicas;
    assert.ok(stopped !== undefined);
    stopped.process.kill("SIGSTOP");
    const counted = runs().length;
    for (let i = 0; i < 60; i++) await sendUntilAnswered(client, client.sign(INPUT));
    assert.equal(runs().length - counted, 60);
    // By turns it would be every third: on a kept connection, then two handshakes, then a trial every 10 s.
    const tried = gateway
      .log()
      .split("\n")
      .filter((line) => /upstream timed out/.test(line));
    assert.ok(tried.length >= 1 && tried.length <= 6, tried.join("\n"));
    for (const line of tried) assert.ok(line.includes(`${stopped.address}:8080`), line);
    stopped.process.kill("SIGCONT");
    await sendUntilAnswered(client, client.sign(INPUT));
    assert.equal(new Set(runs()).size, runs().length);
  });

  it("calls succeed while a replica is dead", async () => {
    await replicas[0]?.kill();
    const counted = runs().length;
    for (let i = 0; i < 9; i++) await sendUntilAnswered(client, client.sign(INPUT));
    assert.equal(runs().length - counted, 9);
  });

  it("the password is replaced without a restart, in the steps of docs/replicas.md", async () => {
    const acl = deployment.secret("redis/users.acl");
    const password = randomBytes(32).toString("hex");
    const hash = createHash("sha256").update(password).digest("hex");
    const oldPassword = readFileSync(deployment.secret("tool/password"), "utf8");
    const [, oldHash = ""] = /^user svc on (#\w+)/m.exec(readFileSync(acl, "utf8")) ?? [];
    const setHashes = (from: string, to: string) => {
      writeFileSync(acl, readFileSync(acl, "utf8").replace(from, to));
      for (const { address } of servers) assert.equal(deployment.operate(address, "ACL", "LOAD"), "OK");
    };
    setHashes(oldHash, `${oldHash} #${hash}`);
    writeFileSync(deployment.secret("tool/password"), password);
    setHashes(`${oldHash} #`, "#");
    for (const { address } of servers) deployment.operate(address, "CLIENT", "KILL", "USER", "svc");
    await sendUntilAnswered(client, client.sign(INPUT));
    assert.equal(new Set(runs()).size, runs().length);
    const [{ address }] = servers as [Running];
    assert.equal(deployment.redis(address, "svc", password, "PING"), "PONG");
    assert.match(deployment.redis(address, "svc", oldPassword, "PING"), /NOAUTH|WRONGPASS/);
  });

  it("Redis's certificate is replaced without a restart, in the steps of docs/replicas.md", async () => {
    const serials = (running: readonly Running[], port: number) =>
      Promise.all(
        running.map(async ({ address }) => {
          const socket = connect({ host: address, port, rejectUnauthorized: false });
          await once(socket, "secureConnect");
          const { serialNumber } = socket.getPeerCertificate();
          socket.destroy();
          return serialNumber;
        }),
      );
    const old = await serials(servers, 6379);
    deployment.setUp("certificate");
    const runbook = readFileSync("docs/replicas.md", "utf8");
    const [, command = assert.fail("no command")] = /^ +ask "\$server" (config set tls-.*)$/m.exec(runbook) ?? [];
    const words = command.replaceAll("/run/redis", deployment.secret("redis")).split(" ");
    for (const { address } of servers) assert.equal(deployment.operate(address, ...words), "OK");
    const served = await serials(servers, 6379);
    assert.equal(new Set([...served, ...old]).size, 2);
    await sendUntilAnswered(client, client.sign(INPUT));
    // A Sentinel reads its certificate as it starts.
    await sentinels[0]?.kill();
    sentinels[0] = deployment.startRedis("sentinel-1");
    const [first] = sentinels as [Running];
    await until(first, () => deployment.sentinel(first.address, "sentinels", "replay").split("runid\n").length === 3);
    assert.deepEqual(await serials([first], 26379), [served[0]]);
  });

  it("after the primary of Redis was killed, a copy becomes the primary: it has the old answers, and new calls run once", async () => {
    const before = client.sign(INPUT);
    const answer = await sendUntilAnswered(client, before);
    const primary = servers.find(({ address }) => deployment.operate(address, "ROLE").startsWith("master"));
    await primary?.kill();
    const during = await callUntilAnswered(client);
    const again = await sendUntilAnswered(client, before);
    assert.deepEqual([again.bcs, again.toolSignature], [answer.bcs, answer.toolSignature]);
    const all = runs();
    assert.equal(new Set(all).size, all.length, "nothing ran twice");
    assert.ok(all.includes(Buffer.from(during.nonce).toString("hex")));
  });

  it("a Redis pod is ready as the primary and as a copy in sync, and not ready without its primary", async () => {
    const [gone, primary, copy] = (["redis-1", "redis-2", "redis-3"] as const)
      .map((name, i) => ({ name, server: servers[i] as Running }))
      .sort((one, other) => rank(one.server) - rank(other.server));
    assert.ok(gone !== undefined && primary !== undefined && copy !== undefined);
    assert.deepEqual([deployment.isReady(gone.name), deployment.isReady(primary.name)], [false, true]);
    await until(copy.server, () => deployment.isReady(copy.name));
    deployment.operate(copy.server.address, "REPLICAOF", gone.server.address, "6379");
    assert.equal(deployment.isReady(copy.name), false);
  });

  /** The order of a server that is killed, the primary, and a copy. */
  const rank = ({ address, process: { signalCode } }: Running) =>
    signalCode !== null ? 0 : deployment.operate(address, "ROLE").startsWith("master") ? 1 : 2;

  it("no log contains the password", () => {
    const password = readFileSync(deployment.secret("tool/password"), "utf8");
    assert.equal(password.length, 64);
    for (const { log } of [...replicas, ...servers]) assert.ok(!log().includes(password));
  });
});

/** What a replica that is no replica does with a call. */
type Behaviour = 200 | 503 | "dies" | "refuses";

describe("nginx.conf in front of test servers", WITHOUT, () => {
  const fakes: { server: Server; behaviour: Behaviour; calls: number }[] = [];
  let deployment: Deployment;
  let url: string;
  let ca: string;

  before(async () => {
    deployment = new Deployment();
    for (const host of [11, 12, 13]) {
      const fake = { server: createServer(deployment.upstream), behaviour: 200 as Behaviour, calls: 0 };
      fake.server.on("request", (request, response) => {
        fake.calls++;
        request.resume().on("end", () => {
          if (fake.behaviour === "dies") request.socket.destroy();
          else response.writeHead(fake.behaviour as number, { "Retry-After": "1", Connection: "close" }).end();
        });
      });
      await listen(fake.server, host);
      atEnd(() => fake.server.close());
      fakes.push(fake);
    }
    ({ url, ca } = await deployment.startGateway());
  });

  const listen = (server: Server, host: number) =>
    once(server.listen(8080, `${deployment.network}.${host}`), "listening");

  async function behave(...behaviours: [Behaviour, Behaviour, Behaviour]): Promise<void> {
    for (const [i, behaviour] of behaviours.entries()) {
      const fake = fakes[i] as (typeof fakes)[0];
      const listens = behaviour !== "refuses";
      if (listens && !fake.server.listening) await listen(fake.server, 11 + i);
      if (!listens && fake.server.listening) {
        fake.server.closeAllConnections();
        await once(fake.server.close(), "close");
      }
      fake.behaviour = behaviour;
    }
  }

  /** The statuses of some calls, each on the next replica in turn, and their Retry-After. */
  async function calls(count: number): Promise<string[]> {
    const answers: string[] = [];
    for (let i = 0; i < count; i++) {
      const options = {
        ca,
        servername: "localhost",
        method: "POST",
        headers: { "Content-Length": 1 },
        agent: false,
      } as const;
      const [response] = (await once(request(`${url}/sum/invoke`, options).end("x"), "response")) as [IncomingMessage];
      response.resume();
      answers.push(`${response.statusCode} ${response.headers["retry-after"]}`);
    }
    return answers;
  }

  it("a replica that answers 503 still gets calls; only replicas that do not answer are skipped", async () => {
    await behave(503, 200, 200);
    const [fake] = fakes as [(typeof fakes)[0]];
    const { calls: before } = fake;
    assert.deepEqual(await calls(30), Array(30).fill("200 1"));
    assert.ok(fake.calls - before >= 10, `${fake.calls - before} of 30 calls`);
  });

  it("a call succeeds past a replica that refuses connections, one that dies during the call, or one that answers 503", async () => {
    for (const bad of ["refuses", "dies", 503] as const) {
      await behave(bad, 200, bad);
      assert.deepEqual(await calls(6), Array(6).fill("200 1"), String(bad));
    }
  });

  it("if all replicas answer 503 the caller gets the 503 of a replica, and a 200 as soon as one answers 200", async () => {
    await behave(503, 503, 503);
    const asked = () => fakes.reduce((sum, fake) => sum + fake.calls, 0);
    const before = asked();
    assert.deepEqual(await calls(12), Array(12).fill("503 1"));
    assert.equal(asked() - before, 48, "after the first 503 each replica is asked once a call");
    await behave(503, 503, 200);
    assert.deepEqual(await calls(3), Array(3).fill("200 1"));
  });
});
