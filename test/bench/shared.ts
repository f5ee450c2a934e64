/** Cost of a replay store in Redis, compared with a replay memory in the process. */

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { Redis } from "ioredis";
import { leasePort } from "../e2e/process.js";
import { cpuMicros, cpuTime } from "./accounting.js";
import { SIGNED_SUM, warm } from "./calls.js";
import { measure, SPARE } from "./load.js";
import { type Bench, compare, type Figures, judgeRatio } from "./report.js";
import { signedCalls } from "./requests.js";
import { LOAD_CORE, spawnOn, type TargetOptions, withTarget } from "./target.js";

interface RunningRedis {
  readonly pid: number;
  readonly url: string;
}

export const hasRedis = () => spawnSync("redis-server", ["--version"]).error === undefined;

/** Starts an empty Redis server beside the load, and ends it. */
export async function withRedis<T>(use: (redis: RunningRedis) => Promise<T>): Promise<T> {
  const port = await leasePort();
  const memory = ["--maxmemory", "2gb", "--maxmemory-policy", "noeviction"];
  const child = spawnOn(LOAD_CORE, "redis-server", [
    "--port",
    `${port}`,
    "--bind",
    "127.0.0.1",
    "--save",
    "",
    ...memory,
  ]);
  const client = new Redis(port, "127.0.0.1");
  client.on("error", () => {});
  try {
    await client.ping();
    return await use({ pid: child.pid as number, url: `redis://127.0.0.1:${port}` });
  } finally {
    client.disconnect();
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }
}

/** The sum tool with its replay store in a Redis server. */
const sharing = (redis: RunningRedis): TargetOptions => ({
  ...SIGNED_SUM,
  env: redisEnvironment(redis),
});

const inMemory = (calls: number) =>
  withTarget(SIGNED_SUM, async (target): Promise<Figures> => {
    await warm(target, signedCalls);
    return { ...(await measure(target, signedCalls(calls + SPARE))), "µs CPU of Redis": 0 };
  });

const inRedis = (calls: number) =>
  withRedis((redis) =>
    withTarget(sharing(redis), async (target): Promise<Figures> => {
      await warm(target, signedCalls);
      const before = cpuTime(redis.pid);
      const figures = await measure(target, signedCalls(calls + SPARE));
      return { ...figures, "µs CPU of Redis": cpuMicros(before, cpuTime(redis.pid)) / calls };
    }),
  );

/** Settings of a replay store in a Redis server. */
export const redisEnvironment = ({ url }: RunningRedis) => ({
  SVC_REPLAY_REDIS_URL: url,
  SVC_REPLAY_REDIS_GRACE_MS: "0",
});

export const shared: Bench = {
  title: "a signed call with a replay store in Redis or a replay memory in the process",
  async run({ repeats, calls }) {
    if (!hasRedis()) {
      const skipped = "redis-server is not installed";
      console.log(`  ${skipped}`);
      return { rows: [], skipped };
    }
    const sides = [
      { name: "memory", measure: () => inMemory(calls) },
      { name: "Redis", measure: () => inRedis(calls) },
    ];
    const cost = await compare(repeats, sides, "µs CPU");
    const goals = [judgeRatio("CPU a signed call with Redis, of one in memory", cost[1], { atMost: 1.6 })];
    return { rows: cost, goals };
  },
};
