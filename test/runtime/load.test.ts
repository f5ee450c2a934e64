/** Load control: limits of rate and load, off unless they are set in code (protocol.md sections 7 and 8: 429, 503). */

import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { Registry } from "prom-client";
import type { BootstrapOptions, LoadOptions, ShutdownOptions } from "#runtime/index.js";
import { errorReply } from "#runtime/server/call/invoke-service.js";
import { RequestError } from "#runtime/server/errors/request-error.js";
import { LoadControl } from "#runtime/server/load/load-control.js";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import { proves } from "../proves.js";
import { mounted } from "./mounted-tools.js";
import { exchange, expectError, RawConnection, type RawResponse, requestText } from "./raw.js";
import {
  alice,
  aliceKey2,
  type Behaviour,
  bob,
  type CountingTool,
  countingTool,
  echoCall,
  echoed,
  expectResult,
  keptLog,
  NOTHING_REFUSED,
  plainError,
  type SignedCall,
  sendPlain,
  serveFor,
  serveSigned,
  UNSIGNED,
  until,
} from "./tools.js";

/** A tool whose runs wait to be let go, one after another, and then say what they were given. */
function waitingTool(behaviour: Behaviour = {}) {
  const open: (() => void)[] = [];
  const tool = countingTool({
    ...behaviour,
    invoke: async ({ value }) => {
      await new Promise<void>((resolve) => open.push(resolve));
      return { ok: { value } };
    },
  });
  /** Lets the run go that has waited longest. */
  const letGo = async () => {
    await until(() => open.length > 0, "a run waits");
    open.shift()?.();
  };
  return { tool, letGo };
}

const overloaded = (response: RawResponse) => assert.equal(expectError(response, 503, "overloaded"), undefined);
const result = (response: RawResponse, call: SignedCall, value: string) => expectResult(response, echoed(value), call);

describe("a concurrency limit", () => {
  const limited = async (load: LoadOptions, behaviour?: Behaviour, shutdown?: ShutdownOptions) => {
    const waiting = waitingTool(behaviour);
    const store = new ReplayMemory();
    const server = await serveSigned([waiting.tool], { load, replayStore: store, ...(shutdown && { shutdown }) });
    const numbers = () => {
      const { running, queued } = server.load().tools.get(waiting.tool.fqn) ?? assert.fail("no such tool");
      return [running, queued];
    };
    return { ...waiting, ...server, store, numbers };
  };
  const calls = (tool: CountingTool, count: number) =>
    Array.from({ length: count }, (_, i) => echoCall(tool, `${i}`)) as [SignedCall, SignedCall, SignedCall, SignedCall];

  it("refuses an excess call with 503 and Retry-After; the same request runs later", async () => {
    const { url, tool, letGo, numbers, load, log } = await limited({ limits: { concurrency: 2 } });
    const [a, b, c] = calls(tool, 3);
    const [first, second] = [a.send(url), b.send(url)];
    await until(() => tool.calls.invoked === 2, "two run");
    assert.deepEqual(numbers(), [2, 0]);
    overloaded(await c.send(url));
    overloaded(await c.send(url));
    assert.equal(load().refused.queueFull, 2);
    await letGo();
    result(await first, a, "0");
    const third = c.send(url);
    await letGo();
    await letGo();
    result(await second, b, "1");
    result(await third, c, "2");
    assert.deepEqual(numbers(), [0, 0]);
    assert.equal(tool.calls.invoked, 3);
    const lines = log.filter(({ message }) => message === "connections or calls were refused because of load");
    assert.deepEqual(
      lines.map(({ level, fields }) => [level, fields]),
      [["warn", { refused: { queueFull: 1 } }]],
    );
    proves("7.30");
  });

  it("counts authorize() for retries by another leader, and refuses retries without a slot", async () => {
    const open: (() => void)[] = [];
    let authorizing = 0;
    const { url, tool, letGo, numbers } = await limited(
      { limits: { concurrency: 1, queue: 1, queueTimeoutMs: 60_000 } },
      {
        authorize: async ({ leaderId }) => {
          if (leaderId === alice.id) return;
          authorizing++;
          await new Promise<void>((resolve) => open.push(resolve));
        },
      },
    );
    const [a] = calls(tool, 1);
    const first = a.send(url);
    await letGo();
    result(await first, a, "0");
    const retry = a.by(bob);
    const retries = [retry.send(url), retry.send(url), retry.send(url)] as const;
    expectError(await Promise.race(retries), 409, "request_in_flight");
    await until(() => numbers()[1] === 1, "one waits");
    assert.deepEqual([authorizing, numbers()], [1, [1, 1]]);
    result(await a.send(url), a, "0"); // an exact retry takes none
    for (const count of [1, 2]) {
      await until(() => open.length > 0, "a retry is authorized");
      assert.deepEqual([authorizing, numbers()[0]], [count, 1]);
      open.shift()?.();
    }
    const statuses = (await Promise.all(retries)).map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, 200, 409]);
    assert.deepEqual(numbers(), [0, 0]);
  });

  it("keeps the slot of an authorize() beyond its deadline until it ends", async () => {
    let end = () => {};
    const { url, tool, letGo, numbers } = await limited(
      { limits: { concurrency: 1 } },
      {
        timeout: 3_000,
        authorize: async ({ leaderId }) => {
          if (leaderId === bob.id) await new Promise<void>((resolve) => (end = resolve));
        },
      },
    );
    const [a, b] = calls(tool, 2);
    const first = a.send(url);
    await letGo();
    result(await first, a, "0");
    expectError(await a.by(bob).send(url), 504, "tool_invocation_timeout");
    assert.deepEqual(numbers(), [1, 0]);
    overloaded(await b.send(url));
    end();
    await until(() => numbers()[0] === 0, "the slot is free");
  });

  it("does not block cached answers, health, metadata and the list of tools", async () => {
    const { url, tool, letGo } = await limited({ limits: { concurrency: 1 } });
    const [a, b] = calls(tool, 2);
    const first = a.send(url);
    await letGo();
    result(await first, a, "0");
    const second = b.send(url);
    await until(() => tool.calls.invoked === 2, "another runs");
    result(await a.send(url), a, "0");
    for (const path of ["/tool/health", "/tool/meta", "/tools", "/health"]) {
      assert.equal((await exchange(url, requestText("GET", path))).status, 200);
    }
    await letGo();
    result(await second, b, "1");
  });

  it("lets a bounded number of calls wait, and serves them in order", async () => {
    const { url, tool, letGo, numbers } = await limited({
      limits: { concurrency: 1, queue: 2, queueTimeoutMs: 60_000 },
    });
    const [a, b, c, d] = calls(tool, 4);
    const answers: Promise<RawResponse>[] = [];
    for (const [i, call] of [a, b, c].entries()) {
      answers.push(call.send(url));
      await until(() => numbers()[0] === 1 && numbers()[1] === i, "it runs or waits");
    }
    overloaded(await d.send(url));
    expectError(await b.send(url), 409, "request_in_flight");
    for (const [i, call] of [a, b, c].entries()) {
      await letGo();
      result(await (answers[i] as Promise<RawResponse>), call, `${i}`);
    }
    assert.deepEqual(
      tool.calls.inputs.map(({ value }) => value),
      [0, 1, 2],
    );
    assert.deepEqual(numbers(), [0, 0]);
  });

  it("refuses a call after the maximum wait; the same request runs later", async () => {
    const { url, tool, letGo, numbers, load } = await limited({
      limits: { concurrency: 1, queue: 1, queueTimeoutMs: 50 },
    });
    const [a, b] = calls(tool, 2);
    const first = a.send(url);
    await until(() => tool.calls.invoked === 1, "one runs");
    overloaded(await b.send(url));
    assert.deepEqual(numbers(), [1, 0]);
    assert.equal(load().refused.queueTimeout, 1);
    await letGo();
    result(await first, a, "0");
    const second = b.send(url);
    await letGo();
    result(await second, b, "1");
    assert.equal(tool.calls.invoked, 2);
  });

  it("does not count the waiting time towards the deadline", async () => {
    const { url, tool, letGo, numbers } = await limited(
      { limits: { concurrency: 1, queue: 1, queueTimeoutMs: 60_000 } },
      { timeout: 1_000 },
    );
    const [a, b] = calls(tool, 2);
    const first = a.send(url);
    await until(() => tool.calls.invoked === 1, "one runs");
    const second = b.send(url);
    await until(() => numbers()[1] === 1, "one waits");
    expectError(await first, 504, "tool_invocation_timeout");
    assert.deepEqual(numbers(), [1, 1], "a run that goes on past its deadline keeps its slot");
    await letGo();
    await letGo();
    result(await second, b, "1");
    assert.deepEqual(numbers(), [0, 0]);
  });

  it("runs a waiting signed call whose caller disconnected: its retry gets the result", async () => {
    const { url, tool, letGo, numbers } = await limited({
      limits: { concurrency: 1, queue: 1, queueTimeoutMs: 60_000 },
    });
    const [a, b] = calls(tool, 2);
    const first = a.send(url);
    await until(() => tool.calls.invoked === 1, "one runs");
    const leaver = await RawConnection.open(url);
    leaver.send(b.text());
    await until(() => numbers()[1] === 1, "one waits");
    leaver.close();
    await letGo();
    result(await first, a, "0");
    await letGo();
    await until(() => numbers()[0] === 0, "both ended");
    result(await b.send(url), b, "1");
    assert.equal(tool.calls.invoked, 2);
  });

  it("applies to each tool separately, or to one by name", async () => {
    for (const [most, load] of [
      [[1, 1], { limits: { concurrency: 1 } }],
      [[1, 2], { limits: { concurrency: 2 }, tools: { "xyz.load.one@1": { concurrency: 1 } } }],
      [[2, undefined], { tools: { "xyz.load.one@1": { concurrency: 2 } } }],
    ] as const) {
      const tools = ["one", "two"].map((path) => waitingTool({ path, fqn: `xyz.load.${path}@1` }));
      const { url, load: numbers } = await serveFor(
        tools.map(({ tool }) => tool),
        { load },
      );
      for (const [i, { tool, letGo }] of tools.entries()) {
        const running = Array.from({ length: most[i] ?? 3 }, () => sendPlain(url, tool.target, '{"value":1}'));
        await until(() => tool.calls.invoked === running.length, "as many run as may");
        if (most[i] !== undefined) await plainError(url, tool.target, '{"value":2}', 503, "overloaded");
        assert.equal(numbers().tools.get(tool.fqn)?.running, most[i]);
        for (const _ of running) await letGo();
        for (const answer of running) expectResult(await answer, echoed("1"));
      }
    }
  });

  for (const [what, drainMs] of [
    ["serves calls that wait at shutdown", 60_000],
    ["tells calls that wait past the drain limit that they wait in vain", 100],
  ] as const) {
    it(`${what}; running calls finish`, async () => {
      const load = { limits: { concurrency: 1, queue: 1, queueTimeoutMs: 60_000 } };
      const { url, tool, letGo, numbers, close, store } = await limited(load, {}, { drainMs });
      const [a, b] = calls(tool, 2);
      const first = a.send(url);
      await until(() => tool.calls.invoked === 1, "one runs");
      const second = b.send(url);
      await until(() => numbers()[1] === 1, "one waits");
      const closed = close();
      if (drainMs === 100) expectError(await second, 503, "shutting_down");
      await letGo();
      result(await first, a, "0");
      if (drainMs > 100) {
        await letGo();
        result(await second, b, "1");
      }
      await closed;
      assert.deepEqual(store.stats().entries, drainMs === 100 ? 1 : 2, "one that waited in vain left no entry");
    });
  }
});

describe("the metrics", () => {
  it("contain waiting calls, refused calls and bytes of bodies, the same in simultaneous scrapes", async () => {
    const { tool, letGo } = waitingTool();
    const limits = { concurrency: 1, queue: 1, queueTimeoutMs: 60_000 };
    const registry = new Registry();
    const { url } = await mounted([tool], { load: { limits }, registry });
    const answers: Promise<RawResponse>[] = [];
    for (const queued of [0, 1]) {
      answers.push(sendPlain(url, tool.target, '{"value":1}'));
      const line = `svc_calls_queued{tool="${tool.fqn}"} ${queued}`;
      const runs = async () => tool.calls.invoked === 1 && (await registry.metrics()).includes(line);
      await until(runs, "it runs or waits");
    }
    await plainError(url, tool.target, '{"value":2}', 503, "overloaded");
    const texts = await Promise.all([registry.metrics(), registry.metrics()]);
    for (const line of [
      `svc_calls_queued{tool="${tool.fqn}"} 1`,
      'svc_load_refused_total{reason="queueFull"} 1',
      'svc_load_refused_total{reason="rateLimit"} 0',
      "svc_body_bytes_in_flight 22",
    ]) {
      for (const text of texts) assert.ok(text.includes(`\n${line}\n`), line);
    }
    for (const answer of answers) {
      await letGo();
      expectResult(await answer, echoed("1"));
    }
  });
});

describe("a rate limit", () => {
  const limited = async (calls: number, windowMs?: number) => {
    const tool = countingTool();
    const rateLimit = { calls, ...(windowMs !== undefined && { windowMs }) };
    return { tool, ...(await serveSigned([tool], { load: { rateLimit } })) };
  };

  it("applies to a verified leader, over all its keys: 429 with Retry-After before the body; others are served", async () => {
    const { url, tool, load } = await limited(2, 60_000);
    const one = echoCall(tool, "1");
    const strangers = { ...alice, seed: Buffer.alloc(32, 66) };
    // Whoever only claims to be a leader does not spend its calls.
    for (let i = 0; i < 3; i++) {
      expectError(await echoCall(tool, "0", { leader: strangers }).send(url), 401, "auth_failed");
    }
    result(await one.send(url), one, "1");
    result(await one.send(url), one, "1");
    for (const leader of [alice, aliceKey2]) {
      const call = echoCall(tool, "2", { leader });
      const head = call.text().subarray(0, -call.body.length);
      const response = await exchange(url, head, "POST");
      assert.equal(expectError(response, 429, "rate_limited"), undefined);
      const seconds = Number(response.headers.get("retry-after"));
      assert.ok(seconds > 50 && seconds <= 60, `${seconds} s`);
    }
    const other = echoCall(tool, "3", { leader: bob });
    result(await other.send(url), other, "3");
    assert.deepEqual(load().refused, { ...NOTHING_REFUSED, rateLimit: 2 });
    assert.equal(tool.calls.invoked, 2);
    proves("7.26");
  });

  for (const windowMs of [1, 250, 1_500, undefined]) {
    const ms = windowMs ?? 1_000;
    it(`counts in windows of ${ms} ms, each from its first call${windowMs === undefined ? ", by default" : ""}`, (t) => {
      let now = 5_000;
      t.mock.method(performance, "now", () => now);
      const rateLimit = { calls: 2, ...(windowMs !== undefined && { windowMs }) };
      const load = new LoadControl({ rateLimit }, { tools: [], signed: true, bodyBytes: 1, log: keptLog() });
      const call = (leader: string) => {
        try {
          load.countCall(leader);
          return "served";
        } catch (error) {
          assert.ok(error instanceof RequestError && error.code === "rate_limited");
          return error.retryAfterMs;
        }
      };
      assert.deepEqual([call("a"), call("a"), call("a")], ["served", "served", ms]);
      now += ms / 2;
      assert.deepEqual([call("a"), call("b")], [ms / 2, "served"]);
      now += ms / 4;
      assert.deepEqual([call("a"), call("b"), call("b")], [ms / 4, "served", (3 * ms) / 4]);
      now += ms / 4;
      assert.deepEqual([call("a"), call("a"), call("a")], ["served", "served", ms]);
      assert.deepEqual([call("b"), load.refused.rateLimit], [ms / 2, 6]);
    });
  }

  it("sends Retry-After in whole seconds, rounded up, at least one", () => {
    for (const [ms, seconds] of Object.entries({ 0: "1", 1: "1", 1000: "1", 1001: "2", 59999: "60" })) {
      const { headers } = errorReply("rate_limited", undefined, Number(ms));
      assert.deepEqual(headers.slice(-2), ["retry-after", seconds]);
    }
  });
});

describe("invalid limits are a start-up error", () => {
  const tool = countingTool({ fqn: "xyz.load.tool@1" });
  const own = (limits: unknown): LoadOptions => ({ tools: { "xyz.load.tool@1": limits } }) as LoadOptions;
  const integer = (from: number, to: number, unit: string, got: unknown) =>
    `expected an integer from ${from} to ${to} ${unit}, got ${got}`;
  const MOST = Number.MAX_SAFE_INTEGER;
  const few = { concurrency: 1, queueTimeoutMs: 5 };
  const cases: readonly (readonly [options: unknown, place: string, message: string])[] = [
    [{ limits: {} }, "limits.concurrency", integer(1, MOST, "runs", undefined)],
    [{ limits: { concurrency: 0 } }, "limits.concurrency", integer(1, MOST, "runs", 0)],
    [{ limits: { concurrency: 1, queue: -1 } }, "limits.queue", integer(0, MOST, "calls", -1)],
    [
      { limits: { concurrency: 1, queue: 1, queueTimeoutMs: 2 ** 31 } },
      "limits.queueTimeoutMs",
      integer(1, 2 ** 31 - 1, "milliseconds", 2 ** 31),
    ],
    [
      { limits: few },
      "limits.queueTimeoutMs",
      "expected a queue of at least 1, got 0; set queue, or remove queueTimeoutMs",
    ],
    [own({ concurrency: 1.5 }), 'tools["xyz.load.tool@1"].concurrency', integer(1, MOST, "runs", 1.5)],
    [
      { tools: { "xyz.load.other@1": { concurrency: 1 } } },
      'tools["xyz.load.other@1"]',
      "expected the name of a served tool, one of xyz.load.tool@1",
    ],
    [{ rateLimit: { calls: "5" } }, "rateLimit.calls", integer(1, MOST, "calls", "string")],
    [
      { rateLimit: { calls: 1, windowMs: 86_400_001 } },
      "rateLimit.windowMs",
      integer(1, 86_400_000, "milliseconds", 86_400_001),
    ],
  ];
  for (const [load, place, rest] of cases) {
    const message = `load.${place}: ${rest}`;
    it(message, async () => {
      await assert.rejects(serveSigned([tool], { load: load as LoadOptions }), new RangeError(message));
    });
  }

  it("a rate limit without verified callers is a start-up error", async () => {
    const options: BootstrapOptions = { config: UNSIGNED, load: { rateLimit: { calls: 1 } } };
    await assert.rejects(
      serveFor([tool], options),
      new RangeError(
        "load.rateLimit: the limit counts calls of verified leaders, but this server does not require signatures; remove it, or require signatures in the configuration",
      ),
    );
  });
});

describe("the log of refused calls", () => {
  it("contains the first at once, later ones together every ten seconds, and nothing if there are none", () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const log = keptLog();
      const load = new LoadControl({}, { tools: [], signed: false, bodyBytes: 1, log });
      const lines = () => log.entries.splice(0).map(({ fields, message }) => [message, fields.refused]);
      load.refusals.count("connections");
      assert.deepEqual(lines(), [["connections or calls were refused because of load", { connections: 1 }]]);
      for (const reason of ["connections", "rateLimit", "connections"] as const) load.refusals.count(reason);
      assert.deepEqual(lines(), []);
      mock.timers.tick(10_000);
      assert.deepEqual(lines(), [
        ["connections or calls were refused because of load", { connections: 2, rateLimit: 1 }],
      ]);
      mock.timers.tick(10_000);
      assert.deepEqual(lines(), []);
      load.refusals.count("bodyBytes");
      assert.deepEqual(lines(), [["connections or calls were refused because of load", { bodyBytes: 1 }]]);
    } finally {
      mock.timers.reset();
    }
  });
});

it("after a shutdown has refused waiting calls, a call that would have to wait is refused too", () => {
  const load = new LoadControl(
    { limits: { concurrency: 1, queue: 8 } },
    { tools: ["tool"], signed: true, bodyBytes: 1, log: keptLog() },
  );
  const slots = load.tools.get("tool") ?? assert.fail();
  assert.equal(slots.enter(), undefined);
  load.refuseWaiting();
  assert.throws(
    () => slots.enter(),
    (error: unknown) => error instanceof RequestError && error.code === "shutting_down",
  );
  assert.equal(slots.queued, 0);
});
