/** A signed server in a container of 512 MiB lives through every flood of requests that its limits allow. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bob, countingTool, echoCall, until } from "../../runtime/tools.js";
import { withRedis } from "../redis/installed.js";
import { RedisServer } from "../redis/redis-server.js";
import { whyNoLimit } from "./cgroup.js";
import { type Flood, flood, leaderFloods, STRANGERS, startServer } from "./floods.js";
import { FULL } from "./harness.js";

const one = countingTool({ fqn: "xyz.test.one@1", path: "one" });

type Server = Awaited<ReturnType<typeof startServer>>;

/** Floods a server, and then requires that it serves another leader and that no call has run twice. */
async function survives(each: Flood, server: Server): Promise<void> {
  const most = FULL ? { ms: 5_000 } : { ms: 500, connections: 150 };
  const [health, admin] = (await flood(server, each, most)).probes;
  assert.ok(health && health.count > health.failed, `${each.name}: /health of another connection answers`);
  assert.equal(admin?.failed, 0, `${each.name}: each probe of the admin listener is answered`);
  const { child, url } = server;
  assert.deepEqual([child.process.exitCode, child.process.signalCode], [null, null], child.stderr());
  await until(async () => (await echoCall(one, "1", { leader: bob }).send(url)).status === 200, "another leader calls");
  const runs = child.stdout().match(/^ran .*$/gm) ?? [];
  assert.equal(new Set(runs).size, runs.length, "no call runs twice");
}

describe("a server in a container of 512 MiB survives", { skip: whyNoLimit() }, () => {
  for (const each of [...STRANGERS, ...leaderFloods()]) {
    it(each.name, async () => {
      const server = await startServer();
      await survives(each, server);
      server.child.process.kill("SIGKILL");
    });
  }

  for (const each of leaderFloods()) {
    it(`${each.name}, with Redis`, withRedis(), async () => {
      const redis = await RedisServer.start();
      const server = await startServer({ SVC_REPLAY_REDIS_URL: redis.url, SVC_REPLAY_REDIS_GRACE_MS: "0" });
      await survives(each, server);
      server.child.process.kill("SIGKILL");
      await redis.end();
    });
  }
});
