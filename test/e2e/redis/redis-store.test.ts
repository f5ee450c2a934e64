/** The Redis store on real servers: the suite that every store is held to, and the independent model of section 8. */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { LeaderClient, type LeaderError } from "#runtime/leader.js";
import { RedisReplayStore } from "#runtime/redis/redis-replay-store.js";
import type { ReplayContext } from "#runtime/server/replay/store.js";
import { KeptLog } from "#runtime/testing/kept-log.js";
import { proves } from "../../proves.js";
import { CuttingProxy } from "../../runtime/cutting-proxy.js";
import { RawConnection, requestText } from "../../runtime/raw.js";
import { assertAgreesWithModel, LONGEST_CASE_MS } from "../../runtime/replay-model.js";
import { replayStoreCases, type StoreUnderTest } from "../../runtime/replay-store-suite.js";
import { alice, countingTool, serveSigned, signerOf, TOOL_KEY, until } from "../../runtime/tools.js";
import { FULL } from "../fault/harness.js";
import { REDIS, VALKEY, withRedis } from "./installed.js";
import { RedisServer } from "./redis-server.js";

const TTL = 60_000;
/** Milliseconds of Redis for one of the model: what a case takes is far below it. */
const SCALE = 50_000;

/**
 * Lets time pass for all keys of a prefix: the lifetime of each is shortened. Returns how many records (`e`) and run
 * markers (`r`) are left.
 */
const PASS = `
  local counts = { 0, 0 }
  for _, key in ipairs(redis.call("KEYS", ARGV[1] .. "*")) do
    local left = redis.call("PTTL", key)
    if left >= 0 and left <= tonumber(ARGV[2]) then
      redis.call("DEL", key)
    else
      if string.find(key, "{00}l:", 1, true) then
        local earlier = function(at) return string.format(":%.0f", at - ARGV[2]) end
        redis.call("SET", key, (string.gsub(redis.call("GET", key), ":(%d+)", earlier)), "KEEPTTL")
      end
      if left >= 0 then redis.call("PEXPIRE", key, left - tonumber(ARGV[2])) end
      local kind = string.match(key, "{%x*}([er]):")
      if kind == "e" then counts[1] = counts[1] + 1 elseif kind == "r" then counts[2] = counts[2] + 1 end
    end
  end
  return counts`;

async function pass(
  { client }: RedisServer,
  prefix: string,
  ms: number,
): Promise<{ entries: number; inFlight: number }> {
  const [entries = 0, inFlight = 0] = (await client.eval(PASS, 0, prefix, ms)) as number[];
  return { entries, inFlight };
}

const engines = { Redis: REDIS, ...(FULL && VALKEY !== undefined && { Valkey: VALKEY }) };
for (const [engine, program] of Object.entries(engines)) {
  describe(engine, withRedis(), () => {
    let server: RedisServer;
    before(async () => {
      server = await RedisServer.start({ program });
    });
    after(() => server.end());
    let cases = 0;

    async function open(prefix: string, ttlMs: () => number, noteMs?: number): Promise<RedisReplayStore> {
      const store = new RedisReplayStore({ url: server.url, prefix, graceMs: 0 }, noteMs);
      const context: ReplayContext = { tools: [], ttlMs, log: new KeptLog().logger };
      await store.start(context);
      return store;
    }

    describe("the tests of every replay store", () => {
      const make = async (): Promise<StoreUnderTest> => {
        const prefix = `case${cases++}:`;
        const store = await open(prefix, () => TTL);
        return {
          store,
          expire: async () => {
            await pass(server, prefix, TTL);
          },
          close: () => store.close(1_000),
        };
      };
      for (const { name, run } of replayStoreCases(make)) it(name, run);
    });

    it("if a shutdown interrupts a run and its 503 is lost, a repeat at another replica does not run the call again", async () => {
      const tool = countingTool({
        path: "echo",
        invoke: (_input, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", reject)),
      });
      const serving = (shutdown = {}) =>
        serveSigned([tool], {
          replayStore: new RedisReplayStore({ url: server.url, prefix: "interrupted:", graceMs: 0 }),
          shutdown,
        });
      const [ending, next] = [await serving({ drainMs: 0 }), await serving()];
      let at = ending.url;
      const proxy = await CuttingProxy.start(() => [Number(new URL(at).port)]);
      proxy.cut = () => (at === ending.url ? "after" : "pass");
      const client = await LeaderClient.connect(`${proxy.url}/echo`, { leader: signerOf(alice), toolKey: TOOL_KEY });
      const call = client.invoke({ value: 1 }, { repeat: true }).catch((error: unknown) => error);
      await until(() => tool.calls.invoked === 1, "it runs");
      at = next.url;
      await ending.close();
      const { code, ran, request } = (await call) as LeaderError;
      assert.deepEqual([code, ran, tool.calls.invoked], ["replay_memory_lost", "maybe", 1]);
      assert.ok(request);
      const plain = RawConnection.open(next.url);
      const { headers, body } = request;
      const pairs = [...Object.entries(headers), ["Content-Length", `${body.length}`] as const];
      (await plain).send(requestText("POST", tool.target, pairs, Buffer.from(body)));
      await until(() => tool.calls.invoked === 2, "a retry without the header runs");
      await client.close();
      proves("8.38");
    });

    it("gives the same claims, ends and counts as an independent slow model", async () => {
      let ttl = 0;
      // Time is let pass at the server only, so a note is never taken to hold yet.
      const store = await open("model:", () => ttl * SCALE, 0);
      await assertAgreesWithModel(
        () => {
          const id = cases++;
          let waited: { entries: number; inFlight: number } | undefined;
          return {
            store,
            tool: (index) => `case${id}.tool${index}`,
            wait: async (ms) => {
              waited = await pass(server, "model:", ms * SCALE);
            },
            setTtl: (ms) => {
              ttl = ms;
            },
            ttl: "at completion",
            // With the time that the commands themselves take.
            ageOf: (ms) => ms * SCALE + SCALE / 5,
            leaseMs: LONGEST_CASE_MS * SCALE,
            holds: (counts) => {
              // What is left is counted where time has passed: a count of keys is dearer than a claim.
              if (waited !== undefined) assert.deepEqual(waited, counts);
              waited = undefined;
            },
          };
        },
        FULL ? 20_000 : 1_000,
      );
      await store.close(1_000);
      proves("8.35");
    });
  });
}
