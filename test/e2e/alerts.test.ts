/** docs/deploy/monitoring/alerts.yaml: a real Prometheus fires and resolves every alert, each for its cause on a real server. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { parse } from "yaml";
import { publicKeyOf } from "#client/wire/crypto/ed25519.js";
import { type Address, type ServerLogger, ToolkitRuntimeConfig } from "#runtime/index.js";
import { RedisReplayStore } from "#runtime/redis/index.js";
import { makeCertificate } from "../runtime/certificate.js";
import { run } from "../runtime/child.js";
import {
  alice,
  bob,
  countingTool,
  echoCall,
  keptLog,
  sendPlain,
  serveFor,
  serveSigned,
  until,
} from "../runtime/tools.js";
import { scratchFolder } from "../scratch-folder.js";
import { leasePort } from "./process.js";
import { Prometheus, withPrometheus } from "./prometheus.js";
import { withRedis } from "./redis/installed.js";
import { RedisServer } from "./redis/redis-server.js";

const ALERTS = readFileSync("docs/deploy/monitoring/alerts.yaml", "utf8");
/** The shipped rules with a second in place of each minute. */
const QUICK = ALERTS.replace(/(\[|for: )(\d+)m\b/g, "$1$2s");
const INTERVAL = "1s";
const ADMIN: Address = [[127, 0, 0, 1], 0];

const names = (parse(ALERTS) as { groups: { rules: { alert: string }[] }[] }).groups.flatMap(({ rules }) =>
  rules.map(({ alert }) => alert),
);

/** A cause of alerts on a server. */
interface Cause {
  readonly fires: readonly string[];
  /** Address of the admin listener of each server. */
  readonly targets: readonly string[];
  /** Repeated while the cause lasts. */
  again?(): Promise<unknown>;
  /** Repeated when the cause has ended. */
  calm?(): Promise<unknown>;
  begin?(): unknown;
  end?(): unknown;
}

const adminOf = ({ adminUrl }: { adminUrl: string | undefined }) => new URL(adminUrl ?? "").host;

/** Failing, late and surplus calls. */
async function calls(): Promise<Cause> {
  const tool = countingTool({
    fqn: "xyz.test.calls@1",
    timeout: 50,
    invoke: async ({ value }) => {
      if (value === "fail") throw new Error("broken");
      if (value === "late") await new Promise((resolve) => setTimeout(resolve, 100));
      return { ok: { value } };
    },
  });
  const load = { limits: { concurrency: 1 } };
  const server = await serveFor([tool], { admin: ADMIN, load });
  const call = (value: string) => sendPlain(server.url, tool.target, JSON.stringify({ value }));
  return {
    fires: ["CallsFail", "RunsPastTheirDeadline", "RefusedForLoad"],
    targets: [adminOf(server)],
    again: async () => {
      await call("fail");
      await Promise.all([call("late"), call("late")]);
      await until(() => server.load().runs.inFlight === 0, "the late run ends");
    },
    calm: () => call("fine"),
  };
}

/** A leader without its listed key, and callers that are not listed. */
async function refusals(): Promise<Cause> {
  const tools = ["xyz.test.leaders@1", "xyz.test.strangers@1"].map((fqn, at) =>
    countingTool({ fqn, path: `refusing${at}` }),
  );
  const [leaders, strangers] = tools as [(typeof tools)[0], (typeof tools)[0]];
  const server = await serveSigned(tools, { admin: ADMIN });
  const lost = { ...bob, seed: Buffer.alloc(32, 77) };
  return {
    fires: ["LeaderRefused", "CallsUnauthenticated"],
    targets: [adminOf(server)],
    again: async () => {
      assert.equal((await echoCall(leaders, "1").send(server.url)).status, 200);
      assert.equal((await echoCall(leaders, "1", { leader: lost }).send(server.url)).status, 401);
      const stranger = { ...lost, id: "mallory" };
      assert.equal((await echoCall(strangers, "1", { leader: stranger }).send(server.url)).status, 401);
    },
    calm: async () => {
      for (const tool of tools) assert.equal((await echoCall(tool, "1", { leader: bob }).send(server.url)).status, 200);
    },
  };
}

/** Milliseconds for which answers are kept in the memory that becomes full. */
const MEMORY_MS = 10_000;

/** A replay memory that is full until its entries expire. */
async function memory(): Promise<Cause> {
  const tool = countingTool({ fqn: "xyz.test.memory@1" });
  const publicKey = Buffer.from(publicKeyOf(alice.seed)).toString("hex");
  const keys = `[{"kid":0,"public_key":"${publicKey}"}]`;
  // The only leader gets all of the memory.
  const config = ToolkitRuntimeConfig.fromJsonStr(
    `{"signed_http":{"allowed_leaders":{"version":1,"leaders":[{"leader_id":"alice","keys":${keys}}]},
      "tools":{"${tool.fqn}":{"replay_cache_ttl_ms":${MEMORY_MS}}}}}`,
  );
  const server = await serveFor([tool], { admin: ADMIN, config, replayMaxBytes: 4 * 2 ** 20 });
  const call = (value: string) => echoCall(tool, JSON.stringify(value)).send(server.url);
  const large = "x".repeat(60_000);
  let filled = Number.NEGATIVE_INFINITY;
  return {
    fires: ["ReplayMemoryNearlyFull"],
    targets: [adminOf(server)],
    again: async () => {
      // All at once, so that it stays full until all expire.
      if (performance.now() - filled < MEMORY_MS) return;
      while ((await call(large)).status === 200);
      filled = performance.now();
    },
    calm: () => call("small"),
  };
}

/** A logger of the application whose destination fails. */
async function log(): Promise<Cause> {
  let isBroken = false;
  const tool = countingTool({
    fqn: "xyz.test.log@1",
    invoke: ({ value }, context) => {
      context.log.info("working");
      return { ok: { value } };
    },
  });
  const kept = keptLog();
  const logger: ServerLogger = {
    ...kept,
    info: (first: object | string, message?: string) => {
      if (isBroken) throw new Error("no space left");
      kept.info(first as object, message);
    },
    child: () => logger,
  };
  const server = await serveFor([tool], { admin: ADMIN, logger });
  const call = () => sendPlain(server.url, tool.target, '{"value":1}');
  return {
    fires: ["LogLinesDropped"],
    targets: [adminOf(server)],
    begin: () => {
      isBroken = true;
    },
    again: call,
    end: () => {
      isBroken = false;
    },
    calm: call,
  };
}

/** Two replicas whose record of a running call is lost, in a Redis that has no memory left. */
async function shared(): Promise<Cause> {
  const redis = await RedisServer.start();
  const held: (() => void)[] = [];
  const behaviour = {
    fqn: "xyz.test.shared@1",
    invoke: async ({ value }: Record<string, unknown>) => {
      if (value === "held") await new Promise<void>((resolve) => held.push(resolve));
      return { ok: { value } };
    },
  };
  const tool = countingTool(behaviour);
  const replica = () =>
    serveSigned([tool], { admin: ADMIN, replayStore: new RedisReplayStore({ url: redis.url, prefix: "alerts:" }) });
  const [one, two] = [await replica(), await replica()];
  const twice = async () => {
    const call = echoCall(tool, '"held"');
    const first = call.send(one.url);
    await until(() => held.length === 1, "it runs");
    for (const key of await redis.client.keysBuffer("alerts:{00}r:*")) await redis.client.del(key);
    const second = call.send(two.url);
    await until(() => held.length === 2, "it runs a second time");
    for (const letGo of held.splice(0).reverse()) letGo();
    await Promise.all([first, second]);
  };
  const setMemory = (bytes: string) => redis.client.config("SET", "maxmemory", bytes);
  const call = async () => (await echoCall(tool, "1").send(one.url)).status;
  return {
    fires: ["CallRanTwice", "ReplayStoreFull"],
    targets: [adminOf(one), adminOf(two)],
    again: async () => {
      await twice();
      await setMemory("1");
      assert.equal(await call(), 503);
      await setMemory("256mb");
    },
    calm: async () => assert.equal(await call(), 200),
  };
}

/** A replica whose Redis has ended. */
async function away(): Promise<Cause> {
  const redis = await RedisServer.start();
  const tool = countingTool({ fqn: "xyz.test.away@1" });
  const store = new RedisReplayStore({ url: redis.url, graceMs: 100 });
  const server = await serveSigned([tool], { admin: ADMIN, replayStore: store });
  return {
    fires: ["ReplayStoreAway", "NotReady"],
    targets: [adminOf(server)],
    begin: () => redis.kill(),
    end: () => redis.start(),
  };
}

/** A process with a certificate that ends soon, and a configuration that becomes faulty. */
async function files(): Promise<Cause> {
  const folder = scratchFolder();
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const setDays = (to: number) => {
    const { cert, key } = makeCertificate({ to });
    return [write("cert.pem", cert), write("key.pem", key)] as const;
  };
  const [certPath, keyPath] = setDays(30);
  const port = await leasePort();
  const child = run("await bootstrap(One);", {
    env: {
      BIND_ADDR: "127.0.0.1:0",
      SVC_ADMIN_ADDR: `127.0.0.1:${port}`,
      SVC_TOOLKIT_CONFIG_PATH: write("config.json", "{}"),
      SVC_TOOL_TLS_CERT_PATH: certPath,
      SVC_TOOL_TLS_KEY_PATH: keyPath,
    },
  });
  await child.url;
  return {
    fires: ["FileRefused", "CertificateEnds"],
    targets: [`127.0.0.1:${port}`],
    begin: () => {
      write("config.json", "{");
      setDays(3);
    },
    end: () => {
      write("config.json", "{}");
      setDays(30);
    },
  };
}

/** A process whose tool blocks the event loop. */
async function blocked(): Promise<Cause> {
  const port = await leasePort();
  const tool = `
    const cell = new Int32Array(new SharedArrayBuffer(4));
    let blocks = false;
    const block = () => { if (blocks) { Atomics.wait(cell, 0, 0, 230); setTimeout(block, 5); } };
    class Blocking extends One {
      async invoke({ value }) { blocks = value; block(); return { ok: { value } }; }
    }
    await bootstrap(Blocking);`;
  const child = run(tool, { env: { BIND_ADDR: "127.0.0.1:0", SVC_ADMIN_ADDR: `127.0.0.1:${port}` } });
  const url = await child.url;
  const set = (value: boolean) => sendPlain(url, "/one/invoke", JSON.stringify({ value }));
  return { fires: ["EventLoopHeldUp"], targets: [`127.0.0.1:${port}`], begin: () => set(true), end: () => set(false) };
}

it("every alert fires for its cause and stops after it", { ...withPrometheus(), ...withRedis() }, async () => {
  const causes = await Promise.all([calls(), refusals(), memory(), log(), shared(), away(), files(), blocked()]);
  const prometheus = new Prometheus();
  const setTargets = (targets: readonly string[]) => prometheus.write("targets.json", JSON.stringify([{ targets }]));
  const all = causes.flatMap(({ targets }) => targets);
  setTargets(all);
  prometheus.write("alerts.yaml", QUICK);
  await prometheus.start(
    JSON.stringify({
      global: { scrape_interval: INTERVAL, scrape_timeout: INTERVAL, evaluation_interval: INTERVAL },
      rule_files: ["alerts.yaml"],
      scrape_configs: [{ job_name: "svc", file_sd_configs: [{ files: ["targets.json"], refresh_interval: "1s" }] }],
    }),
  );

  /** What has fired since the last look; checks that texts of alerts have values in place of their templates. */
  const firing = async () => {
    const alerts = (await prometheus.alerts()).filter(({ state }) => state === "firing");
    for (const { labels, annotations } of alerts) {
      assert.doesNotMatch(JSON.stringify(annotations), /\{\{|<no value>|<error/, labels.alertname);
      assert.match(labels.severity ?? "", /^(?:page|ticket)$/);
    }
    return alerts.map(({ labels }) => labels.alertname ?? "");
  };
  /** Repeats work until the alerts that fired are all that were wanted; the test fails with those that are missing. */
  const untilFired = async (wanted: readonly string[], work: () => Promise<unknown>) => {
    const missing = new Set(wanted);
    for (let rounds = 0; missing.size > 0; rounds++) {
      assert.ok(rounds < 400, `these did not fire: ${[...missing]}`);
      await work();
      for (const name of await firing()) {
        // A machine that stands still for seconds makes scrapes time out.
        assert.ok(wanted.includes(name) || name === "ServerDown", `${name} fires without its cause`);
        missing.delete(name);
      }
      await pause();
    }
  };
  const untilStopped = async (work: () => Promise<unknown>) => {
    for (let rounds = 0; ; rounds++) {
      await work();
      const active = (await prometheus.alerts()).map(({ labels }) => labels.alertname);
      if (active.length === 0) return;
      assert.ok(rounds < 400, `these do not stop: ${active}`);
      await pause();
    }
  };
  const calm = () => Promise.all(causes.map((cause) => cause.calm?.()));

  // Without a cause none fires.
  await until(async () => {
    await pause();
    const rules = await prometheus.rules();
    for (const { name, health, lastError } of rules) assert.notEqual(health, "err", `${name}: ${lastError}`);
    return rules.every(({ health }) => health === "ok") && (await prometheus.query("up == 1")).length === all.length;
  }, "all servers are scraped");
  await untilStopped(calm);

  await Promise.all(causes.map((cause) => cause.begin?.()));
  const caused = causes.flatMap(({ fires }) => fires);
  await untilFired(caused, () => Promise.all(causes.map((cause) => cause.again?.())));
  await Promise.all(causes.map((cause) => cause.end?.()));
  await untilStopped(calm);

  // A server that hangs, then one that was killed, as the only one.
  const port = await leasePort();
  const start = async () => {
    const child = run("await bootstrap(One);", {
      env: { BIND_ADDR: "127.0.0.1:0", SVC_ADMIN_ADDR: `127.0.0.1:${port}` },
    });
    await child.url;
    return child;
  };
  const child = await start();
  setTargets([`127.0.0.1:${port}`]);
  await until(async () => (await prometheus.query("up == 1")).length === 1, "the server alone is scraped");
  await untilStopped(async () => {});
  const down = ["ServerDown", "NoServer"];
  child.process.kill("SIGSTOP");
  await untilFired(down, async () => {});
  child.process.kill("SIGCONT");
  await untilStopped(async () => {});
  child.process.kill("SIGKILL");
  await untilFired(down, async () => {});
  await start();
  await untilStopped(async () => {});
  // As for pods that are gone.
  setTargets([]);
  await untilFired(["NoServer"], async () => {});

  assert.deepEqual([...caused, ...down].sort(), [...names].sort(), "every alert of the file has a cause here");
});

const pause = () => new Promise((resolve) => setTimeout(resolve, 200));
