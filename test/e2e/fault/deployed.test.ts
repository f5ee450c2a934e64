/**
 * docs/deploy/replicas from its files, under load and faults: replicas that are killed, stopped and replaced, Redis and
 * Sentinels that fail, keys that change. No call runs twice, and each 409 has a run or another call that explains it.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { publicKeyOf } from "#runtime/leader.js";
import { Deployment, type Running, until as untilIn, WITHOUT_DEPLOYMENT } from "../deployment.js";
import { type Attempt, Leaders, type LoadOptions, summary, verdict } from "../redis/leaders.js";
import { FQN, RunLog, TIMEOUT_MS } from "../redis/replicas.js";
import { FULL_ONLY } from "../redis/scene.js";
import { LEADER, MARKS, toolConfig, until } from "./harness.js";

const TOOLS = ["tool-1", "tool-2", "tool-3"] as const;
type Tool = (typeof TOOLS)[number];
const PROGRAM = [fileURLToPath(new URL("../redis/replica.mjs", import.meta.url))];

/** Each pair is sent twice, by leaders who go on until they have its answer. */
const LOAD = {
  pairs: 400,
  copies: 2,
  rate: 20,
  spreadMs: 2_000,
  waitMs: [0, 400],
  attemptMs: 60_000,
  // A stopped replica may find the deadline of its runs passed when it goes on. Without a code it is nginx that answers.
  ends: ({ status, code }) => status === 200 || code === "tool_invocation_timeout",
} as const satisfies LoadOptions;
/** Milliseconds in which a claim without an answer is taken back: docs/replay-store.md. */
const TAKE_BACK_MS = 45_000;
/** A caller held for so long has met a replica that does not answer. */
const HELD_MS = 10_000;

const TOOL_KEYS = [MARKS.key, "5e".repeat(32)] as const;
const NEXT_LEADER = { ...LEADER, keyId: 1, key: Buffer.alloc(32, 23) };
const publicHex = (key: Uint8Array) => Buffer.from(publicKeyOf(key)).toString("hex");
const seed = (hex: string) => Buffer.from(hex, "hex");

function configuration(leaders = [LEADER], toolKey: string = MARKS.key): object {
  const { signed_http: http } = toolConfig([FQN], { ttlMs: 300_000 }) as { signed_http: Record<string, object> };
  const keys = leaders.map(({ keyId, key }) => ({ kid: keyId, public_key: publicHex(key) }));
  const tools = { [FQN]: { response_signing_key: toolKey, replay_cache_ttl_ms: 300_000 } };
  const allowed_leaders = { version: 1, leaders: [{ leader_id: LEADER.id, keys }] };
  return { signed_http: { ...http, allowed_leaders, tools } };
}

describe("docs/deploy/replicas under load", { skip: WITHOUT_DEPLOYMENT || FULL_ONLY.skip }, () => {
  const runs = new RunLog();
  const replicas = new Map<Tool, Running>();
  /** When replicas were killed, and when Redis failed, by `performance.now()`. */
  const kills: { readonly from: number; readonly to: number }[] = [];
  const storeFaults: number[] = [];
  let deployment: Deployment;
  let servers: Running[];
  let sentinels: Running[];
  let gateway: Awaited<ReturnType<Deployment["startGateway"]>>;
  let leaders: Leaders;
  const tool = (name: Tool) => replicas.get(name) as Running;

  async function startTool(name: Tool): Promise<void> {
    const settings = { fqn: FQN, timeoutMs: TIMEOUT_MS, runs: runs.path, name, options: {} };
    const env = { REPLICA: JSON.stringify(settings), FAULT_CANARY: MARKS.environment };
    replicas.set(name, await deployment.startReplica(name, env, PROGRAM));
  }

  before(async () => {
    deployment = new Deployment();
    ({ servers, sentinels } = await deployment.startStore());
    deployment.configure(configuration());
    await Promise.all(TOOLS.map(startTool));
    gateway = await deployment.startGateway();
    const keys = TOOL_KEYS.map((key) => publicKeyOf(seed(key)));
    leaders = new Leaders([gateway.url], { ca: gateway.ca, servername: "localhost" }, keys);
  });
  after(() => leaders?.close());

  /** Loads the deployment, and lets a fault happen when a quarter of the calls was sent. */
  async function load(fault: () => Promise<void>, options: Partial<LoadOptions> = {}): Promise<readonly Attempt[]> {
    const [sent, attempts] = [leaders.sent, leaders.attempts.length];
    const loading = leaders.run({ ...LOAD, ...options });
    await until(() => leaders.sent >= sent + (LOAD.pairs * LOAD.copies) / 4, "a quarter of the calls");
    await fault();
    await loading;
    return leaders.attempts.slice(attempts);
  }

  /** Kills a replica in the middle of some runs; how many. */
  async function kill(name: Tool): Promise<number> {
    const running = () => {
      const { pid } = tool(name).process;
      const open = new Set<number>();
      for (const event of runs.read())
        if (event.pid === pid) open[event.kind === "begin" ? "add" : "delete"](event.pair);
      return open.size;
    };
    await until(() => running() > 0, "runs of the victim");
    const from = performance.now();
    await tool(name).kill();
    kills.push({ from, to: performance.now() });
    return running();
  }

  /** The primary, by a Sentinel that lives. */
  function primary(): Running {
    const { address } = sentinels.find(lives) ?? assert.fail("no Sentinel");
    const reply = deployment.sentinel(address, "get-master-addr-by-name", "replay");
    return servers.find((server) => reply.startsWith(`${server.address}\n`)) ?? assert.fail(reply);
  }

  /** Waits until two copies are in step with the primary. */
  async function whole(): Promise<void> {
    await untilIn(servers.find(lives) ?? assert.fail("no server"), () => {
      const reply = deployment.operate(primary().address, "INFO", "replication");
      return /^role:master/m.test(reply) && (reply.match(/state=online/g) ?? []).length === 2;
    });
  }

  /** Whether a replica was killed while an attempt was open. */
  const metKill = ({ sentAt, ms }: Attempt) => kills.some(({ from, to }) => sentAt <= to && sentAt + ms >= from);

  /** 409 answers to a pair that neither ran nor was claimed by another call, by all that the test can see. */
  function unexplained(attempts: readonly Attempt[]): object[] {
    const [events, sends] = [grouped(runs.read()), grouped(leaders.attempts)];
    return attempts.filter(({ status, pair, sentAt, ms }) => {
      if (status !== 409) return false;
      const to = sentAt + ms;
      const clock = performance.timeOrigin;
      const own = events.get(pair) ?? [];
      const begin = own.find(({ kind }) => kind === "begin")?.at ?? Number.POSITIVE_INFINITY;
      const end = own.find(({ kind }) => kind === "end")?.at ?? Number.POSITIVE_INFINITY;
      if (begin <= clock + to && end >= clock + sentAt) return false;
      // An answer that a replica could not write yet, or a claim that is still to be taken back.
      if (storeFaults.some((at) => at <= to && to <= at + TAKE_BACK_MS)) return false;
      const others = (sends.get(pair) ?? []).filter((other) => other.sentAt !== sentAt);
      if (others.some((other) => other.sentAt <= to && other.sentAt + other.ms >= sentAt)) return false;
      // Claimed by a process that was killed then.
      return !others.some(metKill);
    });
  }

  /** Nothing ran twice or has two answers, each 409 is explained, and only calls that a kill met are without an answer. */
  async function judge(t: TestContext, attempts: readonly Attempt[], more: object = {}): Promise<void> {
    const found = verdict(leaders, runs);
    const slower = (limit: number) => attempts.filter(({ ms }) => ms > limit).length;
    const ms = Math.round(Math.max(...attempts.map((attempt) => attempt.ms)));
    const slow = { over1s: slower(1_000), over10s: slower(HELD_MS), longestMs: ms };
    t.diagnostic(JSON.stringify({ calls: attempts.length, ...leaders.counts(attempts), ...slow, ...more }));
    assert.equal(found.doubles, 0, summary(found));
    assert.deepEqual(
      leaders.pairs.filter(({ results }) => results.size > 1),
      [],
    );
    assert.deepEqual(unexplained(attempts), []);
    assert.deepEqual(found.lost, []);
    const sends = grouped(leaders.attempts);
    const met = (pair: number) => sends.get(pair)?.some(metKill);
    assert.deepEqual(
      found.stuck.filter((pair) => !met(pair)),
      [],
    );
    for (const gauge of ["svc_replay_running", "svc_replay_pending_writes"])
      await until(async () => (await metric(gauge)) === 0, `nothing left of ${gauge}`);
    assert.equal(await metric("svc_replay_conflicts_total"), 0);
  }

  /** The sum of a metric over the replicas, as far as `labels` does not say which. */
  async function metric(name: string, labels = ""): Promise<number> {
    let sum = 0;
    for (const { address } of replicas.values()) {
      const text = await (await fetch(`http://${address}:9090/metrics`)).text();
      for (const line of text.split("\n"))
        if (new RegExp(`^${name}(?:\\{.*\\})? `).test(line) && line.includes(labels))
          sum += Number(line.slice(line.lastIndexOf(" ")));
    }
    return sum;
  }

  /** Writes a configuration and waits until every replica has it. */
  async function configure(config: object): Promise<void> {
    const applied = () => metric("svc_reloads_total", 'outcome="applied"');
    const counted = await applied();
    deployment.configure(config);
    await until(async () => (await applied()) >= counted + TOOLS.length, "every replica has the configuration");
  }

  it("after a killed replica restarts, only the calls that it was running answer 409", async (t) => {
    let running = 0;
    const attempts = await load(
      async () => {
        running = await kill("tool-2");
        await startTool("tool-2");
      },
      { patienceMs: 15_000 },
    );
    await judge(t, attempts, { running, stuck: verdict(leaders, runs).stuck.length });
  });

  it("a rolling deployment: each replica exits with 0, and no call is lost", async (t) => {
    const attempts = await load(async () => {
      for (const name of TOOLS) {
        const { process: child } = tool(name);
        const ended = once(child, "exit");
        child.kill("SIGTERM");
        assert.deepEqual(await ended, [0, null]);
        await startTool(name);
      }
    });
    await judge(t, attempts);
  });

  it("a planned failover: SENTINEL FAILOVER", async (t) => {
    const attempts = await load(async () => {
      const old = primary();
      storeFaults.push(performance.now());
      const [{ address } = assert.fail("no Sentinel")] = sentinels;
      assert.equal(deployment.sentinel(address, "failover", "replay").trim(), "OK");
      await until(() => primary() !== old, "another primary");
    });
    await judge(t, attempts, { outageMs: outage(attempts) });
    await whole();
  });

  it("a Sentinel is killed, and then the primary: the two others agree", async (t) => {
    const attempts = await load(async () => {
      await sentinels[0]?.kill();
      const old = primary();
      storeFaults.push(performance.now());
      await old.kill();
      await until(() => primary() !== old, "another primary");
    });
    await judge(t, attempts, { outageMs: outage(attempts) });
  });

  it("the leader's key changes in the steps of docs/keys.md: no call is refused", async (t) => {
    const attempts = await load(async () => {
      await configure(configuration([LEADER, NEXT_LEADER]));
      leaders.leader = NEXT_LEADER;
    });
    // A pair is signed before its load begins, so the next load has the next key alone.
    await configure(configuration([NEXT_LEADER]));
    const next = await load(async () => {});
    await judge(t, [...attempts, ...next]);
    assert.deepEqual(leaders.counts(next)["401 unauthorized"], undefined);
    assert.equal([...attempts, ...next].filter(({ status }) => status === 401).length, 0);
  });

  it("the tool's key changes for leaders that know both keys: no result is refused", async (t) => {
    const before = leaders.pairs.length;
    const attempts = await load(() => configure(configuration([NEXT_LEADER], TOOL_KEYS[1])));
    await judge(t, attempts);
    assert.equal(await metric("svc_signing_key_info", publicHex(seed(TOOL_KEYS[1]))), TOOLS.length);
    // Each result's signature was verified under one of both keys; a retry across the change has another one.
    const resigned = leaders.pairs.filter(({ signatures }) => signatures.size > 1);
    t.diagnostic(`${resigned.length} results were signed anew for a retry`);
    assert.deepEqual(
      resigned.filter(({ id }) => id < before),
      [],
    );
  });
});

const lives = ({ process: { exitCode, signalCode } }: Running) => exitCode === null && signalCode === null;

/** Milliseconds from the first 503 to the last. */
function outage(attempts: readonly Attempt[]): number {
  const refused = attempts.filter(({ status }) => status === 503);
  const [from, to] = [refused.map(({ sentAt }) => sentAt), refused.map(({ sentAt, ms }) => sentAt + ms)];
  return refused.length === 0 ? 0 : Math.round(Math.max(...to) - Math.min(...from));
}

function grouped<T extends { readonly pair: number }>(items: readonly T[]): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const item of items) {
    const group = groups.get(item.pair);
    if (group === undefined) groups.set(item.pair, [item]);
    else group.push(item);
  }
  return groups;
}
