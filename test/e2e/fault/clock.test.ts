/** A wall clock that jumps by an hour: replay entries live as long as they should, no shorter and no longer. */

import assert from "node:assert/strict";
import { it } from "node:test";
import { clientOf, configText, ECHO, startFaultServer, until } from "./harness.js";

const TTL_MS = 600_000;
/**
 * Moves the process's wall clock an hour on at SIGUSR2 and two hours back at SIGWINCH, and its monotonic clock past the
 * TTL at SIGHUP.
 */
const CLOCK = `data:text/javascript,${encodeURIComponent(`
  const real = Date; let shift = 0;
  globalThis.Date = class extends real {
    constructor(...of) { if (of.length === 0) super(real.now() + shift); else super(...of); }
    static now() { return real.now() + shift; }
  };
  const now = performance.now.bind(performance); let passed = 0;
  performance.now = () => now() + passed;
  process.on("SIGHUP", () => { passed += ${TTL_MS + 1_000}; process.stderr.write("passed " + passed + "\\n"); });
  process.on("SIGUSR2", () => { shift += 3600000; process.stderr.write("clock " + shift + "\\n"); });
  process.on("SIGWINCH", () => { shift -= 7200000; process.stderr.write("clock " + shift + "\\n"); });
`)}`;

it("after a clock step of ±1 h replay entries expire on time, neither early nor never", {
  skip: process.platform === "win32",
}, async () => {
  const server = await startFaultServer({ config: configText({ ttlMs: TTL_MS }), nodeOptions: ["--import", CLOCK] });
  const client = await clientOf(server, ECHO);
  const jump = async (signal: NodeJS.Signals, shift: number) => {
    server.process.kill(signal);
    await until(() => server.log().includes(`clock ${shift}\n`), "the jump");
  };
  const value = "which run";
  const ask = async (request = client.sign({ value })) => [request, (await client.send(request)).value] as const;
  const [first, run] = await ask();
  await jump("SIGUSR2", 3_600_000);
  assert.deepEqual((await ask(first))[1], run, "after an hour on: the cached result");
  const [second, secondRun] = await ask();
  assert.notDeepEqual(secondRun, run);
  await jump("SIGWINCH", -3_600_000);
  assert.deepEqual((await ask(second))[1], secondRun, "after two hours back: the cached result");
  server.process.kill("SIGHUP");
  await until(() => server.log().includes("passed"), "the TTL");
  for (const [request, before] of [
    [first, run],
    [second, secondRun],
  ] as const) {
    assert.notDeepEqual((await ask(request))[1], before, "past the TTL: a run of its own");
  }
  assert.equal(await server.stop(), 0);
});
