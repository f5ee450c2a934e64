/** docs/deploy/replicas: three replicas behind nginx, their replay state in Redis with Sentinel and TLS, from the files as they stand. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createServer, request, type Server } from "node:https";
import { platform } from "node:os";
import { after, before, describe, it } from "node:test";
import { LeaderClient, LeaderError, publicKeyOf } from "#runtime/leader.js";
import { SUM, signedConfig, TOOL_SEED } from "../bench/requests.js";
import { atEnd } from "../teardown.js";
import { Deployment, type Running, until, untilLog } from "./deployment.js";

const isThere = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;
const PROGRAMS = [
  ["redis-server", isThere("redis-server", "--version")],
  ["nginx-light", isThere("nginx", "-v")],
  ["openssl", isThere("openssl", "version")],
] as const;
const missing = PROGRAMS.flatMap(([name, there]) => (there ? [] : [name]));
const WITHOUT = {
  skip:
    platform() !== "linux"
      ? "NOT TESTED: needs the loopback addresses of Linux"
      : missing.length > 0 && `NOT TESTED: needs Debian's ${missing.join(", ")}`,
};
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
  let replicas: Awaited<ReturnType<Deployment["startReplica"]>>[];
  let client: LeaderClient;
  const runs = () => replicas.flatMap((replica) => replica.runs());

  /** The reply to a command at a server. */
  function atRedis(address: string, user: string, password: string, ...command: string[]): string {
    const tls = ["--tls", "--cacert", deployment.secret("redis/ca.pem"), "--user", user];
    const options = { encoding: "utf8", env: { ...process.env, REDISCLI_AUTH: password } } as const;
    const { stdout, stderr } = spawnSync("redis-cli", ["-h", address, ...tls, ...command], options);
    return (stdout + stderr).trim();
  }

  const asOperator = (address: string, ...command: string[]) =>
    atRedis(address, "operator", readFileSync(deployment.secret("operator-password"), "utf8"), ...command);

  before(async () => {
    deployment = new Deployment();
    servers = ["redis-1", "redis-2", "redis-3"].map((name) => deployment.startRedis(name));
    // A Sentinel asks a primary for its replicas at once, and then every 10 s.
    for (const replica of servers.slice(1)) await untilLog(replica, "sync: Finished with success");
    const sentinels = ["sentinel-1", "sentinel-2", "sentinel-3"].map((name) => deployment.startRedis(name));
    // Each Sentinel knows the two replicas and the two other Sentinels.
    const known = (log: string) => new Set(log.match(/\+(?:slave|sentinel) \S+ \S+/g)).size;
    for (const sentinel of sentinels) await until(sentinel, () => known(sentinel.log()) >= 4);
    const start = (name: string) =>
      deployment.startReplica(name, signedConfig([SUM.fqn]), { SVC_REPLAY_REDIS_GRACE_MS: "500" });
    replicas = await Promise.all(["tool-1", "tool-2", "tool-3"].map(start));
    const gateway = await deployment.startGateway();
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

  it("calls go on while a replica is dead", async () => {
    await replicas[0]?.kill();
    const counted = runs().length;
    for (let i = 0; i < 9; i++) await sendUntilAnswered(client, client.sign(INPUT));
    assert.equal(runs().length - counted, 9);
  });

  it("the password is replaced without a restart, in the steps of docs/operations.md", async () => {
    const acl = deployment.secret("redis/users.acl");
    const password = randomBytes(32).toString("hex");
    const hash = createHash("sha256").update(password).digest("hex");
    const oldPassword = readFileSync(deployment.secret("tool/password"), "utf8");
    const [, oldHash = ""] = /^user svc on (#\w+)/m.exec(readFileSync(acl, "utf8")) ?? [];
    const setHashes = (from: string, to: string) => {
      writeFileSync(acl, readFileSync(acl, "utf8").replace(from, to));
      for (const { address } of servers) assert.equal(asOperator(address, "ACL", "LOAD"), "OK");
    };
    setHashes(oldHash, `${oldHash} #${hash}`);
    writeFileSync(deployment.secret("tool/password"), password);
    setHashes(`${oldHash} #`, "#");
    for (const { address } of servers) asOperator(address, "CLIENT", "KILL", "USER", "svc");
    await sendUntilAnswered(client, client.sign(INPUT));
    assert.equal(new Set(runs()).size, runs().length);
    const [{ address }] = servers as [Running];
    assert.equal(atRedis(address, "svc", password, "PING"), "PONG");
    assert.match(atRedis(address, "svc", oldPassword, "PING"), /NOAUTH|WRONGPASS/);
  });

  it("after the primary was killed a replica of it is the primary: old answers are there, new calls run once", async () => {
    const before = client.sign(INPUT);
    const answer = await sendUntilAnswered(client, before);
    const primary = servers.find(({ address }) => asOperator(address, "ROLE").startsWith("master"));
    await primary?.kill();
    const during = await callUntilAnswered(client);
    const again = await sendUntilAnswered(client, before);
    assert.deepEqual([again.bcs, again.toolSignature], [answer.bcs, answer.toolSignature]);
    const all = runs();
    assert.equal(new Set(all).size, all.length, "nothing ran twice");
    assert.ok(all.includes(Buffer.from(during.nonce).toString("hex")));
  });

  it("no log has the password", () => {
    const password = readFileSync(deployment.secret("tool/password"), "utf8");
    assert.equal(password.length, 64);
    for (const { log } of [...replicas, ...servers]) assert.ok(!log().includes(password));
  });
});

/** What a replica that is no replica does with a call. */
type Behaviour = 200 | 503 | "dies" | "refuses";

describe("nginx.conf in front of anything", WITHOUT, () => {
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

  it("a replica that refuses connections, one that dies in a call, and one that answers 503 are passed over", async () => {
    for (const bad of ["refuses", "dies", 503] as const) {
      await behave(bad, 200, bad);
      assert.deepEqual(await calls(6), Array(6).fill("200 1"), String(bad));
    }
  });

  it("when all answer 503 the caller gets a replica's own 503, and a 200 as soon as there is one", async () => {
    await behave(503, 503, 503);
    const before = fakes.map((fake) => fake.calls);
    assert.deepEqual(await calls(4), Array(4).fill("503 1"));
    assert.deepEqual(
      fakes.map((fake, i) => fake.calls - (before[i] ?? 0)),
      [4, 4, 4],
      "each is asked once a call",
    );
    await behave(503, 503, 200);
    assert.deepEqual(await calls(3), Array(3).fill("200 1"));
  });
});
