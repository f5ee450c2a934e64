/** Options of a server that have one effect and one range, and the ends of each range. */

import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { type BootstrapOptions, StartupError, ToolkitRuntimeConfig } from "#runtime/index.js";
import { holdTimers } from "./held-timers.js";
import { exchange, expectError, RawConnection, requestText } from "./raw.js";
import { alice, countingTool, echoCall, echoed, expectResult, serveFor, serveSigned, until } from "./tools.js";

const tool = countingTool();

describe("ranges", () => {
  const config = ToolkitRuntimeConfig.fromJsonStr('{"invoke_max_body_bytes":1000}');
  for (const [name, make, good, bad] of [
    ["maxConnections", (maxConnections) => ({ maxConnections }), [1, 2_147_483_647], [0, 2_147_483_648, 1.5]],
    // At least two of the largest bodies.
    ["maxBodyBytesInFlight", (maxBodyBytesInFlight) => ({ config, maxBodyBytesInFlight }), [2_000], [1_999]],
    ["minBodyBytesPerSecond", (minBodyBytesPerSecond) => ({ minBodyBytesPerSecond }), [1], [0, 1.5, 2 ** 53]],
    ["replayMaxBytes", (replayMaxBytes) => ({ replayMaxBytes }), [1_048_576], [1_048_575]],
  ] as readonly [string, (n: number) => BootstrapOptions, readonly number[], readonly number[]][]) {
    it(name, async () => {
      for (const value of good) await (await serveFor([tool], make(value))).close();
      for (const value of bad) {
        await assert.rejects(serveFor([tool], make(value)), new RegExp(`^RangeError: .*got ${value}`));
      }
    });
  }
});

test("maxConnections: an excess connection is closed before a byte of it is read", async () => {
  const { url, load } = await serveFor([tool], { maxConnections: 1 });
  const first = await RawConnection.open(url);
  assert.equal((await first.send(requestText("GET", "/tools")).response()).status, 200);
  await assert.rejects(exchange(url, requestText("GET", "/tools")));
  assert.equal(load().refused.connections, 1);
  assert.equal((await first.send(requestText("GET", "/tools")).response()).status, 200);
  first.close();
});

test("minBodyBytesPerSecond: a slower body is refused after 5 s", async (t) => {
  const timers = holdTimers(1_000);
  t.after(timers.restore);
  const { url, load } = await serveFor([tool], { minBodyBytesPerSecond: 1_000 });
  const known = new Set(timers.waiting);
  const connection = await RawConnection.open(url);
  connection.send(requestText("POST", tool.target, [["Content-Length", "5000"]], "x".repeat(999)));
  await until(() => load().bodyBytes.inFlight === 999, "the bytes have arrived");
  const second = timers.waiting.find((timer) => timer.repeats && timer.ms === 1_000 && !known.has(timer));
  for (let seconds = 0; seconds < 6; seconds++) second?.fire();
  assert.equal(
    expectError(await connection.response("POST"), 408, "request_timeout"),
    "the body: at least 1000 bytes/s",
  );
  connection.close();
});

test("engine: noble verifies leaders and signs results like the others", async () => {
  const tool = countingTool({ path: "noble" });
  const { url } = await serveSigned([tool], { engine: "noble" });
  const call = echoCall(tool, "1");
  expectResult(await call.send(url), echoed("1"), call);
  const stranger = echoCall(tool, "1", { leader: { ...alice, seed: Buffer.alloc(32, 66) } });
  expectError(await stranger.send(url), 401, "auth_failed");
  assert.equal(tool.calls.invoked, 1);
});

test("engine: the named one, otherwise the fastest", async () => {
  const engineOf = async (options: BootstrapOptions) => {
    const { log } = await serveFor([tool], options);
    return log.find(({ message }) => message === "serving")?.fields.ed25519;
  };
  assert.equal(await engineOf({ engine: "node:crypto" }), "node:crypto (chosen by name)");
  assert.equal(await engineOf({ engine: "noble" }), "noble (chosen by name)");
  assert.match(`${await engineOf({})}`, /sodium-native/);
  await assert.rejects(engineOf({ engine: "pear" } as unknown as BootstrapOptions), StartupError);
});
