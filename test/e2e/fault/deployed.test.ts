/**
 * docs/deploy/replicas from its files, under load and faults: replicas that are killed, stopped and replaced, a Redis and a
 * Sentinel that fail, keys that change. No call runs twice, and every 409 has a run, or another call, that explains it.
 */

import assert from "node:assert/strict";
import { after, before, describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { publicKeyOf } from "#runtime/leader.js";
import { Deployment, type Running, WITHOUT_DEPLOYMENT } from "../deployment.js";
import { type Attempt, Leaders, type LoadOptions, summary, verdict } from "../redis/leaders.js";
import { FQN, RunLog, TIMEOUT_MS } from "../redis/replicas.js";
import { FULL_ONLY } from "../redis/scene.js";
import { LEADER, MARKS, toolConfig, until } from "./harness.js";

const TOOLS = ["tool-1", "tool-2", "tool-3"] as const;
const NEXT_TOOL_KEY = "5e".repeat(32);
const NEXT_LEADER = { ...LEADER, keyId: 1, key: Buffer.alloc(32, 23) };
const PROGRAM = [fileURLToPath(new URL("../redis/replica.mjs", import.meta.url))];
/** Each pair is sent twice, by leaders who go on until they have its result. */
const LOAD = {
  pairs: 800,
  copies: 2,
  rate: 40,
  spreadMs: 2_000,
  waitMs: [0, 400],
  attemptMs: 60_000,
  ends: [200, 504],
} as const;
/** Milliseconds in which a claim without an answer is taken back: docs/replay-store.md. */
const TAKE_BACK_MS = 45_000;
/** A caller held for so long has met a replica that does not answer. */
const HELD_MS = 10_000;

type Tool = (typeof TOOLS)[number];

describe("docs/deploy/replicas under load", { skip: WITHOUT_DEPLOYMENT || FULL_ONLY.skip }, () => {
  const runs = new RunLog();
  /** Pairs that were running when their process was killed. */
  const cut = new Set<number>();
  /** When Redis or Sentinel failed, by `performance.now()`. */
  const storeFaults: number[] = [];
  const replicas = new Map<Tool, Running>();
  let deployment: Deployment;
  let servers: Running[];
  let sentinels: Running[];
  let leaders: Leaders;

  async function startTool(name: Tool): Promise<void> {
    const settings = { fqn: FQN, timeoutMs: TIMEOUT_MS, runs: runs.path, name, options: {} };
    const env = { REPLICA: JSON.stringify(settings), FAULT_CANARY: MARKS.environment };
    replicas.set(name, await deployment.startReplica(name, env, PROGRAM));
  }
  const tool = (name: Tool) => replicas.get(name) as Running;

  before(async () => {
    deployment = new Deployment();
    ({ servers, sentinels } = await deployment.startStore());
    deployment.configure(configuration());
    await Promise.all(TOOLS.map(startTool));
    const gateway = await deployment.startGateway();
    const keys = [MARKS.key, NEXT_TOOL_KEY].map((key) => publicKeyOf(Buffer.from(key, "hex")));
    leaders = new Leaders([gateway.url], { ca: gateway.ca, servername: "localhost" }, keys);
  });
  after(() => leaders?.close());

  /** Loads the deployment, and lets a fault happen when a quarter of the calls was sent; the attempts of the load. */
  async function load(fault: () => Promise<void>, options: Partial<LoadOptions> = {}): Promise<readonly Attempt[]> {
    const [sent, attempts] = [leaders.sent, leaders.attempts.length];
    const loading = leaders.run({ ...LOAD, ...options });
    await until(() => leaders.sent >= sent + (LOAD.pairs * LOAD.copies) / 4, "a quarter of the calls");
    await fault();
    await loading;
    return leaders.attempts.slice(attempts);
  }

  /** Pairs whose run has begun in a process and not ended. */
  function running(name: Tool): Set<number> {
    const { pid } = tool(name).process;
    const open = new Set<number>();
    for (const event of runs.read()) if (event.pid === pid) open[event.kind === "begin" ? "add" : "delete"](event.pair);
    return open;
  }

  /** Kills a replica in the middle of some runs. */
  async function kill(name: Tool): Promise<void> {
    await until(() => running(name).size > 0, "runs of the victim");
    await tool(name).kill();
    for (const pair of running(name)) cut.add(pair);
  }

  /** The primary by the Sentinels. */
  function primary(): Running {
    const asked = sentinels.find(({ process: { exitCode, signalCode } }) => exitCode === null && signalCode === null);
    const reply = deployment.sentinel(
      asked?.address ?? assert.fail("no Sentinel"),
      "get-master-addr-by-name",
      "replay",
    );
    return servers.find(({ address }) => reply.startsWith(`${address}\n`)) ?? assert.fail(reply);
  }

  /** 409 answers to a pair that neither ran nor was claimed by another call, as far as the test can see. */
  function unexplained(attempts: readonly Attempt[]): Attempt[] {
    const events = groupByPair(runs.read());
    const sends = groupByPair(leaders.attempts);
    return attempts.filter(({ status, pair, sentAt, ms }) => {
      if (status !== 409 || cut.has(pair)) return false;
      const [from, to] = [sentAt, sentAt + ms];
      const begin = events.get(pair)?.find(({ kind }) => kind === "begin")?.at;
      const end = events.get(pair)?.find(({ kind }) => kind === "end")?.at ?? Number.POSITIVE_INFINITY;
      const epoch = performance.timeOrigin;
      if (begin !== undefined && begin <= epoch + to && end >= epoch + from) return false;
      const others = sends.get(pair) ?? [];
      const overlaps = others.some(
        (other) => other.sentAt !== from && other.sentAt <= to && other.sentAt + other.ms >= from,
      );
      const waits = storeFaults.some((at) => at <= to && to <= at + TAKE_BACK_MS);
      return !overlaps && !waits;
    });
  }

  /** Judges everything so far: nothing ran twice, every 409 is explained, only calls cut by a kill are without an answer. */
  async function judge(t: TestContext, attempts: readonly Attempt[]): Promise<void> {
    const found = verdict(leaders, runs);
    const slow = (limit: number) => attempts.filter(({ ms }) => ms > limit).length;
    const held = { "1 s": slow(1_000), "5 s": slow(5_000), "10 s": slow(HELD_MS) };
    const longest = Math.round(Math.max(...attempts.map(({ ms }) => ms)));
    t.diagnostic(JSON.stringify({ calls: attempts.length, ...leaders.counts(attempts), held, longest, cut: cut.size }));
    t.diagnostic(summary(found));
    assert.equal(found.doubles, 0);
    assert.equal(found.inconsistent, 0);
    assert.deepEqual(unexplained(attempts), []);
    assert.deepEqual(found.lost, []);
    assert.deepEqual(
      found.stuck.filter((pair) => !cut.has(pair)),
      [],
    );
  }

  it("a replica that is stopped for 20 s: callers of the others do not wait", async (t) => {
    const attempts = await load(
      async () => {
        tool("tool-3").process.kill("SIGSTOP");
        await new Promise((resolve) => setTimeout(resolve, 20_000));
        tool("tool-3").process.kill("SIGCONT");
      },
      { pairs: 1_200 },
    );
    await judge(t, attempts);
    const held = attempts.filter(({ ms }) => ms > HELD_MS);
    assert.ok(held.length < attempts.length / 20, `${held.length} of ${attempts.length} calls were held`);
  });
});

function configuration(leaders = [LEADER], toolKey = MARKS.key): object {
  const config = toolConfig([FQN], { leaders, ttlMs: 300_000 }) as { signed_http: { tools: Record<string, object> } };
  config.signed_http.tools[FQN] = { ...config.signed_http.tools[FQN], response_signing_key: toolKey };
  return config;
}

function groupByPair<T extends { readonly pair: number }>(items: readonly T[]): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const item of items) groups.set(item.pair, [...(groups.get(item.pair) ?? []), item]);
  return groups;
}
