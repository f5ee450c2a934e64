/** The memory budget: one limit, its parts, and the settings of both (docs/observe.md, "Memory"). */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type HostMemory, hostMemory, memoryBudget } from "#runtime/server/load/memory-budget.js";
import { run } from "./child.js";

const MIB = 2 ** 20;
const BODY = 12_582_912n;
const use = { bodyLimit: BODY, remembers: true, ownStore: 0, listens: true, tls: false };
const host = (container: number | undefined, heap: number): HostMemory => ({
  container: container === undefined ? undefined : container * MIB,
  machine: 16_384 * MIB,
  heap: heap * MIB,
});

describe("the parts of the memory", () => {
  /** Limit of the container and heap, as node chooses it, or with `--max-old-space-size=96`; replay, bodies, answers in MiB; connections, plain and TLS. */
  const rows: readonly [limit: number | undefined, heap: number, ...parts: number[]][] = [
    [undefined, 4144, 512, 64, 64, 4096, 4096],
    [2048, 1050, 512, 64, 64, 4096, 2747],
    [1024, 524, 246, 64, 46, 4096, 1331],
    [512, 259, 88, 44, 22, 2828, 628],
    [256, 144, 24, 24, 8, 1024, 227],
  ];
  for (const [limit, heap, replay, bodies, answers, plain, tls] of rows) {
    it(`fit ${limit === undefined ? "a machine" : `a container of ${limit} MiB`}`, () => {
      const budget = memoryBudget({}, use, host(limit, heap));
      const figures = [budget.replay, budget.bodies, budget.answers].map((bytes) => Math.floor(bytes / MIB));
      const encrypted = memoryBudget({}, { ...use, tls: true }, host(limit, heap)).maxConnections;
      assert.deepEqual([...figures, budget.maxConnections, encrypted], [replay, bodies, answers, plain, tls]);
      assert.equal(budget.warning, undefined);
    });
  }

  it("add up to at most the limit, for every limit from 192 MiB with half of it as heap", () => {
    for (let limit = 192; limit <= 8_192; limit += 16) {
      for (const tls of [false, true]) {
        assert.equal(memoryBudget({}, { ...use, tls }, host(limit, limit / 2)).warning, undefined, `${limit} MiB`);
      }
    }
  });

  it("that may exceed the limit are logged with the limit and what to do", () => {
    const { warning = "" } = memoryBudget({ replayMaxBytes: 300 * MIB }, use, host(512, 259));
    assert.match(
      warning,
      /may exceed the limit of 512 MiB \(the limit of this container\): heap 259 MiB, replay memory 300 MiB,/,
    );
    assert.match(warning, /in total 724 MiB; raise the limit, or lower NODE_OPTIONS=--max-old-space-size, SVC_REPLAY/);
    const { warning: ofConnections = "" } = memoryBudget({ maxConnections: 2 ** 31 - 1 }, use, host(512, 259));
    assert.match(ofConnections, /connections 33554432 MiB/);
    const { warning: ofStore = "" } = memoryBudget(
      {},
      { ...use, remembers: false, ownStore: 300 * MIB },
      host(512, 259),
    );
    assert.match(ofStore, /replay memory 300 MiB/);
  });

  it("that exceed the limit even without heap are a start-up error", () => {
    const tooMuch = () => memoryBudget({ replayMaxBytes: 512 * MIB }, use, host(512, 259));
    assert.throws(
      tooMuch,
      /^StartupError: the memory limit is too small: replay memory, request bodies and answers alone exceed the limit of 512 MiB/,
    );
  });

  it("exclude replay memory if none is used, and connections if an application owns them", () => {
    const none = { ...use, remembers: false, listens: false };
    assert.equal(
      memoryBudget({ replayMaxBytes: 512 * MIB, maxConnections: 1e9 }, none, host(512, 259)).warning,
      undefined,
    );
  });

  it("have room for two bodies of the largest size, whatever the limit", () => {
    const { bodies } = memoryBudget({}, { ...use, bodyLimit: 40_000_000n }, host(512, 259));
    assert.equal(bodies, 80_000_000);
  });
});

describe("the limit", () => {
  it("is the host's if none is set", () => {
    const { machine, container } = hostMemory();
    assert.equal(memoryBudget({}, use).limit, container ?? machine);
  });

  it("of cgroups without one is the memory of the machine", () => {
    const { constrainedMemory } = process;
    try {
      for (const none of [undefined, 0, 2 ** 63]) {
        Object.assign(process, { constrainedMemory: () => none });
        assert.equal(hostMemory().container, undefined);
      }
      Object.assign(process, { constrainedMemory: () => 512 * MIB });
      assert.equal(hostMemory().container, 512 * MIB);
    } finally {
      Object.assign(process, { constrainedMemory });
    }
  });

  it("in code takes precedence over all others, and is at least 64 MiB", () => {
    const { limit, source } = memoryBudget({ memoryLimit: 1_024 * MIB }, use, host(512, 259));
    assert.deepEqual([limit, source], [1_024 * MIB, "memoryLimit"]);
    for (const memoryLimit of [0, 64 * MIB - 1, 1e9 + 0.5, Number.NaN]) {
      assert.throws(() => memoryBudget({ memoryLimit }, use, host(512, 259)), /^RangeError: memoryLimit: expected/);
    }
  });
});

describe("the variables of the memory", () => {
  const START = 'await bootstrap([[127, 0, 0, 1], 0], One); process.kill(process.pid, "SIGTERM");';
  const summary = async (env: Record<string, string>) => {
    const { stderr, code } = await run(START, { env }).ended;
    assert.equal(code, 0, stderr);
    const lines = stderr.split("\n").filter((line) => line.startsWith("{"));
    return lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === "serving").memory;
  };

  it("are in bytes or have the suffixes of Kubernetes", async () => {
    const limits = { SVC_MEMORY_LIMIT: "8Gi", SVC_MAX_BODY_BYTES_IN_FLIGHT: "25165824", SVC_MAX_CONNECTIONS: "7" };
    const { of, limitMi, bodiesMi, maxConnections } = await summary({ ...limits, SVC_REPLAY_MAX_BYTES: "16Mi" });
    assert.deepEqual(
      { of, limitMi, bodiesMi, maxConnections },
      { of: "SVC_MEMORY_LIMIT", limitMi: 8_192, bodiesMi: 24, maxConnections: 7 },
    );
  });

  const refused: readonly [variable: string, text: string, message: RegExp][] = [
    ["SVC_MEMORY_LIMIT", "512MB", /whole number of bytes, such as 536870912 or 512Mi, got another value/],
    ["SVC_MEMORY_LIMIT", "1Ki", /integer from 67108864 to 9007199254740991 bytes, got 1024/],
    ["SVC_MEMORY_LIMIT", "", /whole number of bytes/],
    ["SVC_REPLAY_MAX_BYTES", "-1", /whole number of bytes/],
    ["SVC_MAX_BODY_BYTES_IN_FLIGHT", "1Mi", /at least twice invoke_max_body_bytes, 25165824 bytes, got 1048576/],
    ["SVC_MAX_CONNECTIONS", "1Ki", /whole number of connections, from 1 to \d+, got another value/],
    ["SVC_MAX_CONNECTIONS", "0", /integer from 1 to 2147483647 connections, got 0/],
  ];
  for (const [variable, text, message] of refused) {
    it(`${variable}=${text} is a start-up error`, async () => {
      const { stderr, code } = await run(START, { env: { [variable]: text } }).ended;
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`cannot start: ${variable}: expected (?:an? )?${message.source}`));
    });
  }
});
