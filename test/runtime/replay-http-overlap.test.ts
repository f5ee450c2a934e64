/** Requests that overlap at random: none runs twice, whatever becomes of their callers (protocol.md section 8). */

import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { it } from "node:test";
import { countingTool, echoCall, echoed, type SignedCall, serveSigned } from "./tools.js";

const REQUESTS = process.env.SVC_TEST_FULL === "1" ? 10_000 : 200;

it(`${REQUESTS} requests, each sent three times in random overlap, run the tool ${REQUESTS} times`, async () => {
  const runs = new Map<unknown, number>();
  const tool = countingTool({
    invoke: async ({ value }) => {
      runs.set(value, (runs.get(value) ?? 0) + 1);
      // Some end at once, some after the next requests of the connection, some later.
      const pause = Math.floor(Math.random() * 4);
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause - 1));
      return { ok: { value } };
    },
  });
  const { url } = await serveSigned([tool]);
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const send = (call: SignedCall, leave = false) =>
    new Promise<{ status: number; body: Buffer; signature: unknown } | undefined>((resolve, reject) => {
      const headers = { ...Object.fromEntries(call.headers), "Content-Length": call.body.length };
      const sent = request(url + call.target, { method: "POST", agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const signature = response.headers["x-svc-tool-signature"];
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks), signature });
        });
      });
      sent.on("error", (error) => (leave ? resolve(undefined) : reject(error)));
      sent.end(call.body);
      if (leave) setTimeout(() => sent.destroy(), Math.random() * 3);
    });

  const calls = Array.from({ length: REQUESTS }, (_, i) => echoCall(tool, `${i}`));
  // Each three times; the copies of a request lie within a window, so that they meet.
  const order = calls
    .flatMap((call, i) => [0, 1, 2].map(() => ({ call, i, at: i + Math.random() * 60 })))
    .sort((one, other) => one.at - other.at);
  const answered: { status: number; signature: unknown }[] = [];
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < order.length; at = next++) {
      const { call, i } = order[at] as (typeof order)[number];
      // Every tenth copy leaves before its answer.
      const answer = await send(call, Math.random() < 0.1);
      if (answer === undefined) continue;
      answered.push(answer);
      if (answer.status === 200) assert.deepEqual(answer.body, echoed(`${i}`));
      else assert.equal(answer.status, 409, answer.body.toString());
    }
  };
  await Promise.all(Array.from({ length: 64 }, worker));
  // Whoever was turned away, or left, gets the one result; callers that left before their body came may run now.
  for (const [i, call] of calls.entries()) {
    let answer = await send(call);
    while (answer?.status === 409) answer = await send(call);
    assert.deepEqual(answer?.body, echoed(`${i}`));
  }
  agent.destroy();
  assert.equal(tool.calls.invoked, REQUESTS);
  assert.equal(runs.size, REQUESTS);
  assert.ok([...runs.values()].every((times) => times === 1));
  const refused = answered.filter(({ status }) => status === 409).length;
  assert.ok(refused > 0 && refused < answered.length, `they met: ${refused} of ${answered.length}`);
});
