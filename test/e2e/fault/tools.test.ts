/** Tools that fail in seven ways and callers that leave: sanitised answers, and nothing stays behind. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import type { LeaderClient, SignedRequest } from "#runtime/leader.js";
import { openSocket } from "../../runtime/raw.js";
import {
  assertClean,
  clientOf,
  ECHO,
  FAULTY,
  type FaultServer,
  FULL,
  metric,
  outcomeOf,
  startFaultServer,
  until,
} from "./harness.js";

let server: FaultServer;
let echo: LeaderClient;
let faulty: LeaderClient;
before(async () => {
  server = await startFaultServer();
  echo = await clientOf(server, ECHO);
  faulty = await clientOf(server, FAULTY);
});
after(async () => {
  // The runs that never settle are told to stop, and what is cut is not a clean end.
  await server.stop();
});

const inFlight = async () =>
  (await metric(server, `svc_tools_running{tool="${ECHO}"}`)) ?? assert.fail("no such metric");

describe("faults of a tool", () => {
  it("an exception in a timer is logged, with the place of the code, and does not affect its call", async () => {
    const stray = () =>
      server
        .log()
        .split("\n")
        .filter((line) => line.includes("uncaughtException"));
    const value = "throws in a timer";
    assert.equal(await outcomeOf(faulty, faulty.sign({ value }), "after the timer"), undefined);
    await until(() => stray().length === 1, "a line in the log");
    const { err } = JSON.parse(stray()[0] as string) as { err: { stack: string } };
    assert.match(err.stack, /\n +at .*\.[jt]s:\d+:\d+/);
    assert.equal(await outcomeOf(faulty, faulty.sign({ value: 1 }), 1), undefined);
  });
});

describe("callers that disconnect", () => {
  const calls = FULL ? 1_000 : 200;

  it(`${calls} disconnects at every stage: no run remains, and a retry gets the stored result`, async () => {
    const requests = Array.from({ length: calls }, (_, i) => ({ value: { wait: 20, i } })).map(
      (input) => [input.value, echo.sign(input)] as const,
    );
    for (let i = 0; i < calls; i += 50) {
      await Promise.all(requests.slice(i, i + 50).map(([, request], j) => leave(server, request, (i + j) % 4)));
    }
    await until(async () => (await inFlight()) === 0, "every run ended");
    for (const [value, request] of requests.slice(-40)) {
      let outcome: string | undefined;
      // What was sent last may only now have been read: it runs, and is answered to the next retry.
      await until(async () => {
        outcome = await outcomeOf(echo, request, value);
        return outcome !== "request_in_flight";
      }, "an end of the run");
      assert.equal(outcome, undefined);
    }
    await until(async () => (await inFlight()) === 0, "every run ended");
    const value = "after the disconnects";
    assert.equal(await outcomeOf(echo, echo.sign({ value }), value), undefined);
  });
});

/** Sends a call and leaves: after half the headers, after half the body, after the whole, or after a while. */
async function leave({ url }: FaultServer, { headers, body }: SignedRequest, stage: number): Promise<void> {
  const socket = openSocket(url);
  await once(socket, "connect");
  const lines = Object.entries({ Host: "x", ...headers, "Content-Length": String(body.length) });
  const head = Buffer.from(
    `POST /echo/invoke HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`,
  );
  const whole = Buffer.concat([head, body]);
  const sent = [head.length >> 1, head.length + (body.length >> 1), whole.length, whole.length][stage];
  let answer = "";
  socket.setEncoding("latin1").on("data", (text: string) => {
    answer += text;
  });
  await new Promise<void>((resolve) => socket.write(whole.subarray(0, sent), () => resolve()));
  if (stage === 3) await new Promise((resolve) => setTimeout(resolve, 10));
  socket.resetAndDestroy();
  assertClean(answer);
}
