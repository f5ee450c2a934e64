/** Ordinary load for as long as a leak needs to show, alone and while everything that can be reloaded is reloaded. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { makeCertificate } from "../../runtime/certificate.js";
import { openSocket } from "../../runtime/raw.js";
import { scratchFolder } from "../../scratch-folder.js";
import {
  callAll,
  clientOf,
  configText,
  ECHO,
  FULL,
  LEADER,
  load,
  type Memory,
  memoryOf,
  metric,
  OTHER,
  outcomeOf,
  startFaultServer,
  until,
} from "./harness.js";

const SECONDS = FULL ? 60 : 1;
/** Readings of the memory, and calls between two of them. */
const [READINGS, CALLS] = FULL ? [12, 4_000] : [5, 300];
/** Calls before the first reading: code is compiled, pools and caches are filled. */
const WARM_UP = FULL ? 20_000 : 700;
/** Bytes a call: above what the warm-up leaves, below the smallest object that a call could leave in the long form. */
const MAX_HELD = FULL ? 32 : 1_000;
/** The same for resident memory, whose pages say something only in the long form. */
const MAX_RESIDENT = FULL ? 100 : Number.POSITIVE_INFINITY;
/** The young generation of V8 has one size from the start: its growth is no leak. */
const YOUNG_GENERATION = ["--min-semi-space-size=4", "--max-semi-space-size=4"];
const ms = (value: number) => `${value.toFixed(1)} ms`;

/**
 * Bytes that a call leaves behind: the median of the slopes between any two readings (Theil-Sen). A step, such as a page
 * that an allocator takes once, moves few of these slopes; a leak moves all of them.
 */
function bytesPerCall(readings: readonly number[]): number {
  const slopes = readings.flatMap((later, j) =>
    readings.slice(0, j).map((earlier, i) => (later - earlier) / ((j - i) * CALLS)),
  );
  slopes.sort((a, b) => a - b);
  return slopes[slopes.length >> 1] ?? Number.NaN;
}

describe("load", () => {
  it("memory use does not grow with calls, and the replay memory is empty afterwards", async (t) => {
    const config = configText({ ttlMs: 500 });
    const server = await startFaultServer({ config, nodeOptions: ["--expose-gc", ...YOUNG_GENERATION] });
    const client = await clientOf(server, ECHO);
    const entries = () => metric(server, "svc_replay_entries");
    await callAll(client, WARM_UP);
    assert.ok(((await entries()) ?? 0) > 0);
    const readings: Memory[] = [];
    for (let i = 0; i < READINGS; i++) {
      await callAll(client, CALLS);
      await until(async () => (await entries()) === 0, "an empty replay memory");
      readings.push(await memoryOf(server));
    }
    const held = bytesPerCall(readings.map((reading) => reading.held));
    const resident = bytesPerCall(readings.map((reading) => reading.resident));
    t.diagnostic(`${READINGS * CALLS} calls: ${held.toFixed(1)} bytes a call held, ${resident.toFixed(1)} resident`);
    assert.ok(held < MAX_HELD, `${held} bytes a call are held`);
    assert.ok(resident < MAX_RESIDENT, `resident memory grows by ${resident} bytes a call`);
    assert.equal(await server.stop(), 0);
  });
});

const BURST = 1_000;
const queueLimit = process.platform === "linux" ? Number(readFileSync("/proc/sys/net/core/somaxconn", "utf8")) : 0;

describe(`${BURST} new connections while the server is busy`, () => {
  it("wait to be accepted, and none has to be repeated by the system", {
    skip: queueLimit < BURST && "the system limits the queue to fewer",
    timeout: 30_000,
  }, async () => {
    const server = await startFaultServer();
    server.process.kill("SIGSTOP");
    try {
      await Promise.all(Array.from({ length: BURST }, () => once(openSocket(server.url), "connect")));
    } finally {
      server.process.kill("SIGCONT");
    }
    assert.equal(await server.stop(), 0);
  });
});

describe("reloads under load", () => {
  const reloads = FULL ? 200 : 16;

  it(`${reloads} reloads, half of invalid files, a quarter of half-written files, also of certificates: no good call is lost`, async (t) => {
    const tls = scratchFolder();
    const [certPath, keyPath] = [join(tls, "cert.pem"), join(tls, "key.pem")];
    const certificates = [makeCertificate({ name: "one" }), makeCertificate({ name: "other" })] as const;
    const install = ({ cert, key }: (typeof certificates)[0]) => {
      writeFileSync(keyPath, key, { mode: 0o600 });
      writeFileSync(certPath, cert);
    };
    install(certificates[0]);
    const server = await startFaultServer({
      config: configText({ leaders: [LEADER, OTHER] }),
      env: { SVC_TOOL_TLS_CERT_PATH: certPath, SVC_TOOL_TLS_KEY_PATH: keyPath },
    });
    const options = { tls: { ca: certificates.map(({ cert }) => cert) } };
    const client = await clientOf(server, ECHO, LEADER, options);
    const other = await clientOf(server, ECHO, OTHER, options);
    const good = (i: number) => configText({ leaders: i % 2 === 0 ? [LEADER] : [LEADER, OTHER] });
    const replace = (text: string) => {
      writeFileSync(`${server.config}.new`, text, { mode: 0o600 });
      renameSync(`${server.config}.new`, server.config);
    };
    const pause = (SECONDS * 1000) / reloads;
    const wait = (time: number) => new Promise((resolve) => setTimeout(resolve, time));
    const storm = async () => {
      for (let i = 0; i < reloads; i++) {
        if (i % 2 === 1) replace(i % 4 === 1 ? good(i).slice(0, -2) : good(i).replace('"version":1', '"version":2'));
        else if (i % 4 === 0) {
          // In place and torn: half of it is there for a while.
          const text = good(i);
          writeFileSync(server.config, text.slice(0, 80));
          await wait(pause / 4);
          writeFileSync(server.config, text);
        } else replace(good(i));
        if (i % 8 === 6) install(certificates[(i >> 3) % 2 === 0 ? 1 : 0]);
        await wait(pause);
      }
    };
    let raging = true;
    const [{ outcomes, failures, p99 }] = await Promise.all([
      load(client, { rate: 100, goesOn: () => raging }),
      storm().finally(() => {
        raging = false;
      }),
    ]);
    assert.deepEqual(failures, {});

    replace(configText({ leaders: [LEADER, OTHER] }));
    await until(async () => (await outcomeOf(other, other.sign({ value: 1 }), 1)) === undefined, "the other leader");
    const revoked = performance.now();
    replace(configText({ leaders: [LEADER] }));
    await until(async () => (await outcomeOf(other, other.sign({ value: 1 }), 1)) === "auth_failed", "a refusal");
    const refusedAfter = performance.now() - revoked;
    t.diagnostic(
      `${outcomes.length} calls beside ${reloads} reloads: p99 ${ms(p99)}; a revoked key refused after ${ms(refusedAfter)}`,
    );
    await until(() => server.log().includes("loaded a new version of"), "a line about a new version");
    assert.equal(await server.stop(), 0);
  });
});
