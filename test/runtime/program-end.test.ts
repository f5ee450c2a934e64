/** A program that closes its server: nothing of the server keeps it alive, and the replay store gets the time that is left. */

import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { Shutdown, type ShutdownParts } from "#runtime/server/http/shutdown.js";
import { certificateFiles } from "./certificate.js";
import { run } from "./child.js";
import { keptLog } from "./tools.js";

/** Serves a tool, closes the server while a call runs, lets the call end, and names the timers that keep the program. */
const PROGRAM = `
import { serve } from "svc-runtime";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { once } from "node:events";
const server = await serve([One], { address: [[127, 0, 0, 1], 0], allowUnsigned: true });
const body = JSON.stringify({ value: "slow" });
const request = (server.url.startsWith("https") ? requestHttps : requestHttp)(server.url + "/one/invoke", {
  method: "POST", agent: false, rejectUnauthorized: false, headers: { "content-length": body.length },
});
request.end(body);
while (process.listenerCount("SIGUSR2") === 0) await new Promise(setImmediate);
const closed = server.close();
// The drain begins in the turns after the call of close.
for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
process.emit("SIGUSR2");
const [response] = await once(request, "response");
response.resume();
await once(response, "end");
const { finished, cut } = await closed;
const timers = process.getActiveResourcesInfo().filter((resource) => resource === "Timeout");
process.stdout.write(JSON.stringify({ status: response.statusCode, finished, cut, timers }));
process.exit(0);
`;

describe("a program that closes its server while a call runs", () => {
  const ended = async (env: Record<string, string>) => {
    const { code, stdout, stderr } = await run(PROGRAM, { env }).ended;
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout.slice(stdout.indexOf("{"))) as object;
  };
  const nothingLeft = { status: 200, finished: 1, cut: 0, timers: [] };

  it("is not kept alive by a timer of a shutdown or a deadline", async () => {
    assert.deepEqual(await ended({}), nothingLeft);
  });

  it("is not kept alive by a timer of TLS", async () => {
    assert.deepEqual(await ended(certificateFiles()), nothingLeft);
  });
});

it("a program that does not close its harness ends too", async () => {
  const program = `
import { createHarness } from "svc-runtime/testing";
const outputSchema = '{"oneOf":[{"properties":{"ok":{"properties":{"value":{}}}}}]}';
provide(contract("xyz.test.three@1", "three", { outputSchema }));
const harness = await createHarness(tool("xyz.test.three@1", "three"));
const url = await harness.http();
const answer = await fetch(url + "/three/health", { headers: { connection: "close" } });
process.stdout.write(String(answer.status));
`;
  const { code, stdout, stderr } = await run(program).ended;
  assert.deepEqual([code, stdout], [0, "200"], stderr);
});

describe("the release of resources at a shutdown", () => {
  const DRAIN_MS = 10_000;

  /** The time for the release when the requests took so long. */
  const leftAfter = async (ms: number) => {
    let left: number | undefined;
    let clock = 0;
    const now = mock.method(performance, "now", () => clock);
    const requests = {
      size: 0,
      answered: 0,
      cut: 0,
      interrupted: 0,
      none: async () => true,
      refuseUnsent() {},
      refuseAll() {},
    };
    const parts: ShutdownParts = {
      requests,
      log: keptLog(),
      close: async () => {
        clock += ms;
      },
      abortRuns() {},
      hangUp() {},
      release: (limitMs) => {
        left = limitMs;
      },
    };
    try {
      await new Shutdown({ drainMs: DRAIN_MS }).stop(parts, undefined);
    } finally {
      now.mock.restore();
    }
    return left;
  };

  it("has the rest of drain, grace and linger time, or half a second if there is none", async () => {
    assert.equal(await leftAfter(0), DRAIN_MS + 4_000);
    assert.equal(await leftAfter(9_000), DRAIN_MS - 5_000);
    assert.equal(await leftAfter(60_000), 500);
  });
});
