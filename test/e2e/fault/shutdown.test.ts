/** SIGTERM while calls run and arrive: each is answered or told to go elsewhere. */

import assert from "node:assert/strict";
import { it } from "node:test";
import { clientOf, ECHO, FULL, load, metric, startFaultServer, until } from "./harness.js";

for (let round = 1; round <= (FULL ? 5 : 1); round++) {
  it(`SIGTERM under load, round ${round}: every accepted call finishes or gets 503, and no run is cut`, async (t) => {
    const server = await startFaultServer();
    const clients = await Promise.all(Array.from({ length: 4 }, () => clientOf(server, ECHO)));
    const slow = { wait: 700 };
    let stopped = false;
    const loads = clients.map((client) => load(client, { rate: 60, goesOn: () => !stopped, input: slow, open: 25 }));
    const running = async () => (await metric(server, `svc_tools_running{tool="${ECHO}"}`)) ?? 0;
    await until(async () => (await running()) > 20, "calls that run");
    const exit = await server.stop();
    stopped = true;
    const outcomes = await Promise.all(loads);
    const counts: Record<string, number> = {};
    for (const { outcomes: all } of outcomes) {
      for (const { code = "200" } of all) counts[code] = (counts[code] ?? 0) + 1;
    }
    t.diagnostic(JSON.stringify(counts));
    // Refused by the system, or reset by it in the queue of a listener that closes: no byte of these was read.
    const {
      "200": finished = 0,
      shutting_down: _told,
      "connection_failed ECONNREFUSED": _late,
      "connection_failed ECONNRESET": _queued,
      ...others
    } = counts;
    assert.deepEqual(others, {});
    const { runs } = JSON.parse(/^.*"msg":"runs".*$/m.exec(server.log())?.[0] ?? "{}") as { runs?: number };
    assert.equal(finished, runs, "every run has reached its caller");
    const summary = JSON.parse(/^.*"msg":"stopped".*$/m.exec(server.log())?.[0] ?? "{}") as { cut?: number };
    assert.equal(summary.cut, 0);
    assert.equal(exit, 0);
  });
}
