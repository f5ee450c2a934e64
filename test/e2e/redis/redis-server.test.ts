/** The harness of the tests with Redis does to a server what the fault suite says that it does. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../../runtime/tools.js";
import { withRedis } from "./installed.js";
import { clientOf, RedisServer } from "./redis-server.js";
import { Sentinels } from "./sentinel.js";
import { TcpProxy } from "./tcp-proxy.js";

describe("the harness", withRedis(), () => {
  it("restarts a server empty, or with what its append-only file holds", async () => {
    for (const appendonly of ["no", "yes"]) {
      const server = await RedisServer.start({ directives: { appendonly, appendfsync: "always" } });
      const before = await server.info("run_id");
      await server.client.set("key", "value");
      await server.kill();
      await assert.rejects(server.client.get("key"));
      await server.start();
      assert.equal(await server.client.get("key"), appendonly === "yes" ? "value" : null);
      assert.notEqual(await server.info("run_id"), before);
      await server.end();
    }
  });

  it("a paused server answers when it goes on", async () => {
    const server = await RedisServer.start();
    server.pause();
    let answered = false;
    const answer = server.client.ping().finally(() => {
      answered = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(answered, false);
    server.resume();
    assert.equal(await answer, "PONG");
    await server.end();
  });

  it("a proxy delays, holds, cuts, refuses and moves", async () => {
    const [one, other] = await Promise.all([RedisServer.start(), RedisServer.start()]);
    await Promise.all([one.client.set("who", "one"), other.client.set("who", "other")]);
    const proxy = await TcpProxy.start(one.port);
    const client = clientOf(proxy.port);
    await until(() => client.status === "ready", "a client");
    assert.equal(await client.get("who"), "one");
    proxy.delayMs = 30;
    const began = performance.now();
    await client.get("who");
    assert.ok(performance.now() - began >= 55, "both ways, by timers that may be a little early");
    proxy.delayMs = 0;
    proxy.hold();
    const held = client.set("who", "held").catch((error: Error) => error);
    proxy.target = other.port;
    proxy.cut();
    assert.ok((await held) instanceof Error);
    assert.equal(await one.client.get("who"), "one", "what was held is lost");
    await until(() => client.status === "ready", "a client that is back");
    assert.equal(await client.get("who"), "other");
    proxy.refuses = true;
    proxy.cut();
    await until(() => client.status !== "ready", "a client without a server");
    client.disconnect();
    await Promise.all([proxy.close(), one.end(), other.end()]);
  });

  it("Sentinels make the replica the primary when the first is killed", async () => {
    const group = await Sentinels.start();
    const [first, second] = group.servers;
    assert.equal(await group.primary(), first);
    await first?.kill();
    await until(async () => (await group.primary()) === second, "another primary");
    await group.end();
  });
});
