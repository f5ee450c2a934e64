/** A scene of the fault suite: a Redis, replicas that share it, leaders who call them, and the file of their runs. */

import type { TestContext } from "node:test";
import { RedisReplayStore } from "#runtime/redis/redis-replay-store.js";
import { KeptLog } from "#runtime/testing/kept-log.js";
import { until } from "../../runtime/tools.js";
import { FULL } from "../fault/harness.js";
import { Leaders, summary, type Verdict, verdict } from "./leaders.js";
import { RedisServer, type RedisServerOptions } from "./redis-server.js";
import { type Replica, type ReplicaOptions, RunLog, startReplicas, stopAll } from "./replicas.js";

/** A size of the design in full runs, a fifth of it else. */
export const sized = (full: number) => (FULL ? full : Math.ceil(full / 5));

/** Options of a test that needs more time than a push has. */
export const FULL_ONLY = { skip: FULL ? false : "in full runs only" };

export interface SceneOptions extends ReplicaOptions {
  /** A server that runs already, or how to start one. */
  readonly redis?: RedisServer | RedisServerOptions;
  readonly count?: number;
}

export class Scene {
  private constructor(
    readonly redis: RedisServer,
    readonly replicas: readonly Replica[],
    readonly leaders: Leaders,
    readonly runs: RunLog,
  ) {}

  static async start({ redis: server, count = 3, ...options }: SceneOptions = {}): Promise<Scene> {
    const redis = server instanceof RedisServer ? server : await RedisServer.start(server);
    await begin(redis);
    const runs = new RunLog();
    const replicas = await startReplicas(count, runs, { url: redis.url, ...options });
    return new Scene(redis, replicas, new Leaders(replicas.map(({ url }) => url)), runs);
  }

  /** Waits until so many calls were sent. */
  async sent(count: number): Promise<void> {
    await until(() => this.leaders.sent >= count, `${count} calls`);
  }

  verdict(t?: TestContext, more: object = {}): Verdict {
    const found = verdict(this.leaders, this.runs);
    t?.diagnostic(`${summary(found)} ${JSON.stringify(more)}`);
    return found;
  }

  /** The sum of a metric over the replicas. */
  async metric(name: string, labels?: string): Promise<number> {
    const values = await Promise.all(this.replicas.map((replica) => replica.metric(name, labels)));
    return values.reduce((sum, value) => sum + value, 0);
  }

  /** Ends all; each replica has to end well and to have kept its log clean. */
  async end(): Promise<void> {
    this.leaders.close();
    await stopAll(this.replicas);
    await this.redis.end();
  }
}

/** Makes the replay store of a server, as a first deployment does, but without its grace period. */
async function begin({ url, client }: RedisServer): Promise<void> {
  if ((await client.dbsize()) > 0) return;
  const store = new RedisReplayStore({ url, graceMs: 0 });
  await store.start({ tools: [], ttlMs: () => 1, log: new KeptLog().logger });
  await store.close(0);
}

/** Milliseconds beyond every time limit of a store and a tool of the suite. */
const STALLED_MS = 5_000;
const ATTEMPTS = 3;

/**
 * Plays a scene and judges it. Guarantees hold for some seconds of the processes' own: a machine that stands still for
 * longer spoils an attempt, not the verdict.
 */
export async function judged(
  start: () => Promise<Scene>,
  play: (scene: Scene) => Promise<void>,
  judge: (scene: Scene) => Promise<void>,
): Promise<void> {
  for (let left = ATTEMPTS; ; left--) {
    const scene = await start();
    await play(scene);
    const fault = await judge(scene).then(
      () => undefined,
      (error: unknown) => error,
    );
    const stalled = scene.leaders.attempts.some(({ ms }) => ms > STALLED_MS);
    await scene.end();
    if (fault === undefined) return;
    if (!stalled || left === 1) throw fault;
  }
}

/** How long callers were refused around a fault: from the first 503 after it to the last. */
export function outageMs({ attempts }: Leaders, since: number): number {
  const refused = attempts.filter(({ status, sentAt }) => status === 503 && sentAt >= since - 2_000);
  return Math.round(Math.max(0, ...refused.map(({ sentAt, ms }) => sentAt + ms - since)));
}
