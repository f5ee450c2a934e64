/** What only threads of their own can do: a tool that blocks, ends or fills its thread harms nobody but its own call. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { selectEngine } from "#client/wire/crypto/ed25519.js";
import { SignatureHeaders } from "#client/wire/protocol.js";
import { type IsolateOptions, type SvcToolClass, serve } from "#runtime/index.js";
import { InvokeService } from "#runtime/server/call/invoke-service.js";
import { ServedTool } from "#runtime/server/call/run/served-tool.js";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import { isolateTools } from "#runtime/server/threads/thread-host.js";
import { proves } from "../proves.js";
import { atEnd } from "../teardown.js";
import { releaseHeld, tools } from "./mode-tools.js";
import { exchange, expectError, RawConnection, requestText } from "./raw.js";
import { moduleFolder, threadEntry } from "./thread-entry.js";
import {
  attempt,
  countingTool,
  echoCall,
  echoed,
  expectResult,
  keptLog,
  sendPlain,
  serveFor,
  serveSigned,
  signedConfig,
  type TestServer,
  UNSIGNED,
  until,
} from "./tools.js";

const entry = threadEntry();
const { act, brief, hasty, sick } = tools;
const isolate: IsolateOptions = { entry, threads: 1, graceMs: 150, memoryMb: 32 };

const get = async (url: string, path: string) => (await exchange(url, requestText("GET", path))).status;
const loggedBy = (server: TestServer, message: string) => server.log.filter((line) => line.message.includes(message));

describe("a tool that", () => {
  let server: TestServer;
  before(async () => {
    server = await serveSigned([act, hasty, sick], { isolate, ttlMs: 60_000 });
  });
  const call = async (tool: typeof act, value: unknown) => {
    const request = echoCall(tool, JSON.stringify(value));
    return { request, response: await request.send(server.url) };
  };
  /** The next call of a tool is answered, on whatever thread. */
  const goesOn = async (tool: typeof act) => {
    await until(async () => (await call(tool, 1)).response.status === 200, "the tool is called again");
  };

  it("never yields: 504 at the deadline, health checks and other tools answer, then its thread is terminated", async () => {
    await attempt("health is answered while a call loops", async () => {
      const looping = call(hasty, "loop");
      const others = await Promise.all([get(server.url, "/hasty/health"), call(act, 7), get(server.url, "/tools")]);
      const { request, response } = await looping;
      assert.equal(expectError(response, 504, "tool_invocation_timeout"), undefined);
      const retry = await request.send(server.url);
      assert.equal(expectError(retry, 504, "tool_invocation_timeout"), undefined, "a retry too");
      assert.deepEqual([others[1].response.status, others[2]], [200, 200]);
      return others[0] === 204;
    });
    await until(() => loggedBy(server, "its thread was terminated").length > 0, "its thread is ended");
    const { tool, graceMs } = loggedBy(server, "its thread was terminated")[0]?.fields ?? {};
    assert.deepEqual([tool, graceMs], [hasty.fqn, 150]);
    await goesOn(hasty);
  });

  it("ignores its signal: its thread is terminated after the grace period", async () => {
    const before = loggedBy(server, "its thread was terminated").length;
    expectError((await call(hasty, "never")).response, 504, "tool_invocation_timeout");
    await until(() => loggedBy(server, "its thread was terminated").length === before + 1, "its thread is ended");
    await goesOn(hasty);
  });

  it("obeys its signal keeps its thread", async () => {
    const before = loggedBy(server, "its thread was terminated").length;
    expectError((await call(hasty, "until aborted")).response, 504, "tool_invocation_timeout");
    await until(() => loggedBy(server, "its result was discarded").length > 0, "its late end is logged");
    await goesOn(hasty);
    assert.equal(loggedBy(server, "its thread was terminated").length, before);
  });

  for (const [what, word] of [
    ["ends its process", "exit"],
    ["fills its memory", "fill memory"],
  ] as const) {
    it(`${what}: 500, and the next call is answered`, async () => {
      const before = loggedBy(server, "thread of the tool ended during a call").length;
      const { response } = await call(act, word);
      assert.equal(expectError(response, 500, "tool_invocation_failed"), undefined);
      const [line] = loggedBy(server, "thread of the tool ended during a call").slice(before);
      assert.deepEqual([line?.level, line?.fields.tool, line?.fields.err instanceof Error], ["error", act.fqn, true]);
      await goesOn(act);
    });
  }

  it("ends its thread between calls: logged, replaced before the next call, which is answered", async (t) => {
    let started = 0;
    const onWorker = () => started++;
    process.on("worker", onWorker);
    t.after(() => process.off("worker", onWorker));
    const { request, response } = await call(act, "exit later");
    expectResult(response, echoed('"exit later"'), request);
    await until(
      () => loggedBy(server, "an idle thread of the tool ended; a new one replaces it").length === 1,
      "it is logged",
    );
    await until(() => started === 1, "another thread is started");
    const next = await call(act, 3);
    expectResult(next.response, echoed("3"), next.request);
  });

  it("throws from a timer and an unawaited promise is named in the log, and its thread continues", async () => {
    const { request, response } = await call(act, ["stray", "x"]);
    expectResult(response, echoed('"x"'), request);
    for (const event of ["uncaughtException", "unhandledRejection"]) {
      await until(() => loggedBy(server, `${event} outside a call`).length === 1, `${event} is logged`);
      assert.equal(loggedBy(server, event)[0]?.fields.tool, act.fqn);
    }
    const next = await call(act, 3);
    expectResult(next.response, echoed("3"), next.request);
  });

  it("returns stored values keeps them until its result was sent, and only briefly after a disconnect", async () => {
    const isReleased = async () => {
      const { response } = await call(act, "kept");
      return Buffer.from(response.body).equals(echoed("0"));
    };
    await call(act, ["retime", "600000"]);
    await call(act, ["store", "it"]);
    await until(isReleased, "they are released after the answer");
    await call(act, ["retime", "1"]);
    const connection = await RawConnection.open(server.url);
    connection.send(echoCall(act, '"store when released"').text());
    await until(() => loggedBy(server, "holding").length > 0, "the call runs");
    connection.close();
    await connection.closed();
    releaseHeld();
    await until(isReleased, "they are released without an answer");
  });

  it("blocks in health(): every health check gets 503 at the deadline, and calls are answered", async () => {
    const asked = Promise.all([get(server.url, "/sick/health"), get(server.url, "/sick/health")]);
    // Asks while the thread has its grace, and shares a check that ends before its own time does.
    const later = new Promise((resolve) => setTimeout(resolve, 350)).then(() => get(server.url, "/sick/health"));
    await goesOn(sick);
    assert.deepEqual(await asked, [503, 503]);
    assert.equal(await later, 503);
  });
});

describe("calls that wait for a thread", () => {
  it("wait in order; beyond the queue they get 503 overloaded, which is not cached", async () => {
    const server = await serveSigned([act], { isolate: { ...isolate, queue: 1 }, replayStore: new ReplayMemory() });
    const calls = [0, 1, 2].map((n) => echoCall(act, `["hold","${n}"]`));
    const answers = calls.map((request, n) => request.send(server.url).then((response) => ({ n, response })));
    // One runs and one waits until the third is refused.
    const { n: refused, response } = await Promise.race(answers);
    assert.equal(response.headers.get("retry-after"), "1");
    expectError(response, 503, "overloaded");
    const again = calls[refused] ?? assert.fail();
    for (const held of [1, 2, 3]) {
      await until(() => loggedBy(server, "holding").length === held, `${held} have run`);
      if (held === 3) break;
      releaseHeld();
      if (held === 1) continue;
      for (const { n, response } of await Promise.all(answers)) {
        if (n !== refused) expectResult(response, echoed(`"${n}"`), calls[n]);
      }
      answers.push(again.send(server.url).then((response) => ({ n: refused, response })));
    }
    releaseHeld();
    expectResult((await answers.at(-1))?.response ?? assert.fail(), echoed(`"${refused}"`), again);
  });

  it("wait until their deadline, and do not run after it", async () => {
    const server = await serveFor([hasty], { isolate });
    const send = (value: string) => sendPlain(server.url, hasty.target, `{"value":${value}}`);
    const responses = await Promise.all([send('"never"'), send('["context","late"]')]);
    for (const response of responses) expectError(response, 504, "tool_invocation_timeout");
    await until(() => loggedBy(server, "its thread was terminated").length === 1, "the first is ended");
    await until(async () => (await send("1")).status === 200, "the next one runs");
    assert.equal(loggedBy(server, "working").length, 0);
  });
});

describe("at shutdown", () => {
  /** A service without a transport, and a call of it that runs on a thread. */
  async function running(tool: typeof act, ...values: unknown[]) {
    const served = new ServedTool(tool.class);
    const log = keptLog();
    const end = await isolateTools([served], isolate, log);
    const headers = new SignatureHeaders("X-Svc-");
    const store = new ReplayMemory();
    const config = signedConfig([tool.fqn]);
    const service = new InvokeService({ config, headers, engine: selectEngine().engine, store, log });
    const answers = values.map(async (value) => {
      const { headers, body } = echoCall(tool, JSON.stringify(value));
      const pairs = [...headers, ["Content-Length", `${body.length}`] as const];
      const reply = await service.handle(served, {
        headers: Object.fromEntries(pairs.map(([name, text]) => [name.toLowerCase(), text])),
        rawHeaders: pairs.flat(),
        id: "1",
        peer: () => undefined,
        connection: {},
        readBody: async () => ({ input: body }),
        isGone: () => false,
        onDisconnect: () => {},
      });
      return `${reply.status} ${Buffer.from(reply.body)}`;
    });
    await until(() => service.inFlight === values.length, "they run");
    return { service, store, answers, end, log };
  }

  it("the signal fires with reason shutdown: 503, and a mark in the memory; waiting calls get 503 shutting_down", async () => {
    const { service, store, answers, end, log } = await running(act, "until aborted", "until aborted");
    service.abortRuns();
    // The tool has one thread, so the second call has not begun.
    const stopped = ['503 {"error":"tool_invocation_interrupted"}', '503 {"error":"shutting_down"}'];
    assert.deepEqual(await Promise.all(answers), stopped);
    const told = () => log.entries.flatMap(({ message, fields }) => (message === "aborted" ? [fields.reason] : []));
    // Lines and results of a thread come on ports of their own.
    await until(() => told().length > 0, "its line in the log");
    assert.deepEqual(told(), ["shutdown"]);
    const { entries, inFlight } = store.stats();
    assert.deepEqual([entries, inFlight], [1, 0], "the mark of the one that ran");
    await end();
    proves("7.41");
  });

  it("threads are terminated with their jobs, whose entries stay in flight because their progress is unknown", async () => {
    // The deadline of a run that nothing ends keeps this process, so it is a short one.
    const { store, end, log } = await running(brief, "loop");
    await new Promise((resolve) => setTimeout(resolve, 50));
    await end();
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(store.stats().inFlight, 1);
    assert.deepEqual(
      log.entries.filter(({ level }) => level === "error"),
      [],
    );
  });
});

describe("start-up", () => {
  const folder = moduleFolder({
    "throws.js": 'throw new Error("no database")',
    "throws what cannot be cloned.js": 'throw new Error("no database", { cause: () => {} })',
    "ends its process.js": "process.exit(3)",
  });
  const start = (options: IsolateOptions, tool = act) =>
    serve([tool.class], { address: [[127, 0, 0, 1], 0], config: UNSIGNED, logger: keptLog(), isolate: options });

  for (const [what, message] of [
    ["throws", /a thread could not load xyz\.modes\.act@1 .*: no database$/],
    ["throws what cannot be cloned", /a thread could not load xyz\.modes\.act@1 .*: no database$/],
    ["ends its process", /a thread could not load xyz\.modes\.act@1 .*: the worker thread exited with code 3$/],
  ] as const) {
    it(`an entry module that ${what}`, async () => {
      await assert.rejects(start({ entry: join(folder, `${what}.js`) }), {
        name: "StartupError",
        message,
      });
    });
  }

  it("an entry module that does not exist, or does not serve the tool", async () => {
    await assert.rejects(start({ entry: join(folder, "absent.js") }), {
      name: "StartupError",
      message: /^isolate: the entry module .*absent\.js does not exist$/,
    });
    const other = countingTool({ fqn: "xyz.modes.other@1", path: "other" });
    await assert.rejects(start({ entry }, other), {
      name: "StartupError",
      message:
        /^isolate: a thread could not load xyz\.modes\.other@1 from .*: the entry module calls bootstrap without the tool xyz\.modes\.other@1$/,
    });
  });

  it("options outside of their ranges", async () => {
    for (const [option, value] of [
      ["threads", 0],
      ["threads", 1.5],
      ["threads", 257],
      ["memoryMb", 15],
      ["graceMs", -1],
      ["graceMs", Number.NaN],
      ["queue", "1"],
    ] as const) {
      await assert.rejects(start({ entry, [option]: value }), {
        name: "RangeError",
        message: new RegExp(`^isolate\\.${option}: expected an integer from \\d+ to \\d+ \\w+, got `),
      });
    }
  });

  it("the class's own setting takes precedence over the option", async (t) => {
    const here = countingTool({ path: "here" });
    Object.assign(here.class, { isolate: () => false });
    const there = act.class as SvcToolClass & { isolate: () => IsolateOptions | undefined };
    t.mock.method(there, "isolate", () => isolate);
    const server = await serve([here.class, there], {
      address: [[127, 0, 0, 1], 0],
      config: UNSIGNED,
      logger: keptLog(),
      isolate: { entry: join(folder, "absent.js") },
    });
    expectResult(await sendPlain(server.url, here.target, '{"value":1}'), echoed("1"));
    assert.equal(here.calls.invoked, 1);
    assert.equal((await sendPlain(server.url, act.target, '{"value":"exit"}')).status, 500);
    await server.close();
  });
});

describe("a process whose own entry module is loaded by threads", () => {
  // `static isolate()`, because a generated entry module has no options.
  const CODE = `
import { bootstrap, SvcTool } from "svc-runtime";
import { provideContracts } from "svc-runtime/v1";
const port = { name: "value", many: false, codec: { kind: "json" } };
provideContracts([{
  fqn: "xyz.test.one@1", path: "one", description: "A tool.", timeout: 500,
  inputSchema: '{"properties":{"value":{}}}', outputSchema: '{"oneOf":[]}',
  input: [port], output: [{ name: "ok", ports: [port] }],
}]);
class One extends SvcTool {
  static fqn() { return "xyz.test.one@1"; }
  static description() { return "A tool."; }
  static path() { return "one"; }
  static timeout() { return 500; }
  static isolate() { return { threads: 1, graceMs: 0 }; }
  async invoke({ value }) {
    if (value === "loop") for (;;);
    if (value === "exit") process.exit(9);
    return { ok: { value: [value, process.argv.slice(1).map((arg) => arg.split("/").at(-1))] } };
  }
  async health() { return 200; }
}
await bootstrap(One);
`;

  it("serves, survives its tool and ends with exit code 0", async () => {
    const env = { ...process.env, BIND_ADDR: "127.0.0.1:0" };
    const child = spawn(process.execPath, [join(moduleFolder({ "entry.js": CODE }), "entry.js")], {
      env,
      stdio: ["ignore", "inherit", "pipe"],
    });
    atEnd(() => child.kill("SIGKILL"));
    const closed = once(child, "close");
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
    await until(() => log.includes('"msg":"serving"'), "it serves");
    const url = /"url":"([^"]+)"/.exec(log)?.[1] ?? assert.fail(log);
    const send = (value: unknown) => sendPlain(url, "/one/invoke", JSON.stringify({ value }));
    let first = await send(1);
    await until(async () => {
      if (first.status === 504) first = await send(1);
      return first.status !== 504;
    }, "an answer in time");
    expectResult(first, echoed('[1,["entry.js"]]'));
    expectError(await send("loop"), 504, "tool_invocation_timeout");
    await until(async () => (await send(2)).status === 200, "it is called again");
    await until(async () => (await send("exit")).status === 500, "its thread ends");
    await until(async () => (await send(3)).status === 200, "it is called again");
    expectError(await send("loop"), 504, "tool_invocation_timeout");
    child.kill("SIGTERM");
    assert.deepEqual(await closed, [0, null], log);
    assert.doesNotMatch(log, /outside a call/);
  });
});
