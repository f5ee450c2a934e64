/**
 * The client under chaos: 200 callers, connections that are cut before and after the answer, SIGTERM and kill -9 of servers whose
 * replay memory dies with them, or is shared. Servers write each run to a file before they answer.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type LeaderClient, LeaderError } from "#runtime/leader.js";
import { CuttingProxy } from "../../runtime/cutting-proxy.js";
import { scratchFolder } from "../../scratch-folder.js";
import { withRedis } from "../redis/installed.js";
import { RedisServer } from "../redis/redis-server.js";
import { clientOf, ECHO, type FaultServer, FULL, startFaultServer, until } from "./harness.js";

const CALLERS = 200;
const ENDS = FULL ? 40 : 2;
/** Ends after which a chaos is given up in which no call ended with `maybe`. */
const MAX_ENDS = 40;
/** Results between two ends of a server. */
const RESULTS = FULL ? 300 : 60;
/** Milliseconds for which calls are repeated. */
const REPEAT_MS = 60_000;

interface Chaos {
  readonly calls: number;
  readonly twice: number;
  /** Calls that ran, where the error says that they did not; and the reverse. */
  readonly lies: number;
  readonly ends: Readonly<Record<string, number>>;
}

const isMaybe = (end: string) => end.startsWith("maybe ");

const repeating = (client: LeaderClient, value: object) =>
  client.invoke({ value }, { repeat: true, deadline: Date.now() + REPEAT_MS });

/** A call without repeats, whose request is repeated when it may have run. */
const repairing = (client: LeaderClient, value: object) =>
  client.invoke({ value }).catch((error: unknown) => {
    if (!(error instanceof LeaderError && error.ran === "maybe" && error.request !== undefined)) throw error;
    return client.repeat(error.request, { deadline: Date.now() + REPEAT_MS });
  });

/**
 * @param count servers behind one address
 * @param redis the address of their replay memory; without it each has one of its own
 */
async function chaos(count: number, redis?: string): Promise<Chaos> {
  const directory = scratchFolder();
  const file = join(directory, "runs");
  const shared = redis === undefined ? {} : { SVC_REPLAY_REDIS_URL: redis, SVC_REPLAY_REDIS_GRACE_MS: "0" };
  // With a memory that survives them, SIGTERM interrupts runs.
  const drainMs = redis === undefined ? 50 : 0;
  const start = () => startFaultServer({ env: { FAULT_RUNS: file, ...shared }, options: { shutdown: { drainMs } } });
  const servers: (FaultServer | undefined)[] = await Promise.all(Array.from({ length: count }, start));
  const proxy = await CuttingProxy.start(() =>
    servers.flatMap((server) => (server === undefined ? [] : [Number(new URL(server.url).port)])),
  );
  const [first] = servers;
  assert.ok(first);
  const client = await clientOf({ ...first, url: proxy.url }, ECHO);
  proxy.cut = () => {
    const chance = Math.random();
    return chance < 0.1 ? "before" : chance < 0.2 ? "after" : chance < 0.25 ? "gateway" : "pass";
  };
  let isOver = false;
  let calls = 0;
  const outcomes = new Map<string, string>();
  let results = 0;
  const moreResults = () => {
    const wanted = results + RESULTS;
    return until(() => results >= wanted, `${RESULTS} more results`);
  };
  const caller = async (_: unknown, i: number) => {
    const call = i % 2 === 0 ? repeating : repairing;
    while (!isOver) {
      const id = `call-${calls++}`;
      const value = { id, wait: Math.floor(Math.random() * 40), stops: true };
      outcomes.set(
        id,
        await call(client, value).then(
          () => {
            results++;
            return "result";
          },
          (error: unknown) => {
            assert.ok(error instanceof LeaderError, String(error));
            return `${error.ran} ${error.code}`;
          },
        ),
      );
    }
  };
  const callers = Array.from({ length: CALLERS }, caller);
  // The servers go on ending until a call is lost: which runs an end meets is left to chance.
  const isEffective = () => [...outcomes.values()].some(isMaybe);
  for (let end = 0; end < ENDS || (end < MAX_ENDS && !isEffective()); end++) {
    await moreResults();
    const at = end % count;
    const server = servers[at];
    servers[at] = undefined;
    // A killed server leaves calls in a shared memory in flight, for longer than they are repeated.
    server?.process.kill(end % 2 === 0 && redis === undefined ? "SIGKILL" : "SIGTERM");
    servers[at] = await start();
  }
  await moreResults();
  isOver = true;
  await Promise.all(callers);
  await client.close();
  for (const server of servers) server?.process.kill("SIGKILL");
  const runs = new Map<string, number>();
  for (const id of readFileSync(file, "utf8").split("\n")) runs.set(id, (runs.get(id) ?? 0) + 1);
  runs.delete("");
  const ends: Record<string, number> = {};
  let lies = 0;
  for (const [id, end] of outcomes) {
    ends[end] = (ends[end] ?? 0) + 1;
    const ran = runs.get(id) ?? 0;
    const isNo = end.startsWith("no ");
    const isYes = end === "result" || end.startsWith("yes ");
    if ((isNo && ran > 0) || (isYes && ran !== 1)) lies++;
  }
  assert.equal(outcomes.size, calls, "every call ended");
  const twice = [...runs.values()].filter((times) => times > 1).length;
  return { calls, twice, lies, ends };
}

function expectTrue(title: string, { calls, twice, lies, ends }: Chaos): void {
  console.log(`${title}: ${calls} calls, ${JSON.stringify(ends)}`);
  assert.deepEqual({ twice, lies }, { twice: 0, lies: 0 });
  // A chaos without effect proves nothing.
  assert.ok(Object.keys(ends).some(isMaybe));
}

describe(`${CALLERS} callers, cut connections, SIGTERM and kill -9: no call runs twice, and ran is correct`, () => {
  for (const [title, count] of [
    ["one server", 1],
    ["two servers behind one address, without a shared replay store", 2],
  ] as const) {
    it(title, async () => {
      expectTrue(title, await chaos(count));
    });
  }

  it("two servers that share a Redis and whose shutdown interrupts runs", withRedis(), async () => {
    const redis = await RedisServer.start();
    expectTrue("two servers that share a Redis", await chaos(2, redis.url));
    await redis.end();
  });
});
