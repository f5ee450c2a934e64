/** SIGTERM while calls run and arrive: each is answered or told to go elsewhere. */

import assert from "node:assert/strict";
import { it } from "node:test";
import { clientOf, ECHO, FULL, load, outcomeOf, startFaultServer } from "./harness.js";

for (let round = 1; round <= (FULL ? 5 : 1); round++) {
  it(`SIGTERM under load, round ${round}: every accepted call finished or told 503, none cut`, async (t) => {
    const server = await startFaultServer();
    const clients = await Promise.all(Array.from({ length: 4 }, () => clientOf(server, ECHO)));
    const value = { wait: 700 };
    const loads = clients.map((client) => load(client, { rate: 60, seconds: 2 }));
    await new Promise((resolve) => setTimeout(resolve, 900));
    const running = clients.map((client) => outcomeOf(client, client.sign({ value }), value));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const code = server.stop();
    const [outcomes, slow, exit] = [await Promise.all(loads), await Promise.all(running), await code];
    const counts: Record<string, number> = {};
    for (const { outcomes: all } of outcomes) {
      for (const { code = "200" } of all) counts[code] = (counts[code] ?? 0) + 1;
    }
    t.diagnostic(JSON.stringify(counts));
    assert.deepEqual(slow, [undefined, undefined, undefined, undefined], "calls that ran at the signal");
    const { 200: finished = 0, shutting_down: _told, "connection_failed ECONNREFUSED": _never, ...cut } = counts;
    assert.deepEqual(cut, {});
    assert.ok(finished > 0);
    assert.equal(exit, 0);
  });
}
