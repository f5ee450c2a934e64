/** Processes and servers that stop: readiness, drain, limits, exit codes (protocol.md section 8). */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { serve } from "#runtime/index.js";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import { proves } from "../proves.js";
import { scratchFolder } from "../scratch-folder.js";
import { type Child, PRELUDE, ROOT, run, start } from "./child.js";
import { type HeldTimers, holdTimers } from "./held-timers.js";
import { exchange, expectError, openSocket, RawConnection, requestText } from "./raw.js";
import {
  attempt,
  type Behaviour,
  type CountingTool,
  countingTool,
  echoCall,
  echoed,
  expectResult,
  gate,
  keptLog,
  OWN_ADDRESS,
  plainCall,
  sendPlain,
  serveFor,
  serveSigned,
  type TestServer,
  UNSIGNED,
  until,
} from "./tools.js";

/** What the tool does is what it is called with; it writes down what it began. */
const TOOL = `
One.prototype.invoke = async ({ value }) => {
  process.stdout.write("began;");
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  if (value === "brief") await sleep(Math.random() * 20);
  // Runs until after the process was told to stop.
  if (value === "second") {
    await new Promise((resolve) => ["SIGTERM", "SIGINT"].map((signal) => process.once(signal, resolve)));
    await sleep(200);
  }
  if (value === "held") await new Promise((resolve) => process.once("SIGUSR2", resolve));
  if (value === "deaf") await new Promise(() => {});
  return { ok: { value } };
};
process.on("exit", (code) => process.stdout.write("exit " + code));
// Something that a module left open.
setInterval(() => {}, 1_000);
`;

const call = (value: string) => plainCall("/one/invoke", `{"value":"${value}"}`);
const began = (child: Child) => child.stdout().split("began;").length - 1;

/** A process that serves the tool. */
async function serving(shutdown: object = {}, env: Record<string, string> = {}, more = "") {
  const code = `${TOOL} ${more} await bootstrap(One, { shutdown: ${JSON.stringify(shutdown)} });`;
  const child = run(code, { env: { BIND_ADDR: "127.0.0.1:0", ...env } });
  const url = await child.url;
  /** Sends a call on a connection of its own and waits until the tool runs. */
  const running = async (value: string) => {
    const before = began(child);
    const connection = await RawConnection.open(url);
    connection.send(call(value));
    await until(() => began(child) === before + 1, "the tool runs");
    return connection;
  };
  return { child, url, running };
}

/** The fields of the one line of the log with this message. */
function line(child: Child, message: string): Record<string, unknown> {
  const lines = child
    .stderr()
    .split("\n")
    .filter((text) => text.includes(`"msg":"${message}"`));
  assert.equal(lines.length, 1, child.stderr());
  const { level: _level, time: _time, msg: _msg, ...fields } = JSON.parse(lines[0] ?? "") as Record<string, unknown>;
  return fields;
}

function stopped(child: Child): Record<string, unknown> {
  const { ms, ...rest } = line(child, "stopped");
  assert.ok(Number.isInteger(ms) && (ms as number) >= 0);
  return rest;
}

const logged = (child: Child, message: string) => until(() => child.stderr().includes(`"msg":"${message}"`), message);

describe("a process with a stop signal", { concurrency: 2 }, () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it(`${signal}: a running call gets its answer, then the process exits with 0`, async () => {
      const { child, running } = await serving();
      const connection = await running("second");
      child.process.kill(signal);
      const response = await connection.response();
      expectResult(response, echoed('"second"'));
      assert.equal(response.headers.get("connection"), "close");
      const { code, stdout } = await child.ended;
      assert.deepEqual([code, stdout], [0, "began;exit 0"]);
      assert.deepEqual(line(child, "stopping"), { signal, running: 1 });
      assert.deepEqual(stopped(child), { finished: 1, cut: 0, interrupted: 0 });
    });
  }

  it("under load: every call that began is answered, every other one is refused or never accepted", async () => {
    const { child, url } = await serving();
    const answers = { ok: 0, refused: 0 };
    const client = async () => {
      for (;;) {
        const connection = await RawConnection.open(url).catch(() => undefined);
        if (connection === undefined) return;
        for (;;) {
          const response = await connection
            .send(call("brief"))
            .response()
            .catch(() => undefined);
          if (response === undefined) {
            assert.equal(connection.unread.length, 0, "no part of an answer");
            break;
          }
          if (response.status === 200) expectResult(response, echoed('"brief"'));
          else expectError(response, 503, "shutting_down");
          answers[response.status === 200 ? "ok" : "refused"]++;
          if (response.headers.get("connection") === "close") break;
        }
        connection.close();
      }
    };
    const clients = Array.from({ length: 16 }, client);
    await until(() => answers.ok > 200, "load");
    child.process.kill("SIGTERM");
    await Promise.all(clients);
    assert.equal((await child.ended).code, 0);
    assert.equal(answers.ok, began(child), "as many results as runs");
    assert.equal(stopped(child).cut, 0);
  });

  it("calls that are cut short get 503, and the process exits with 3", async () => {
    // The first timer of 2 s is the grace of a tool that does not end; here it is over at once.
    const code = `
      const { setTimeout } = globalThis;
      globalThis.setTimeout = (callback, ms, ...more) => {
        if (ms !== 2_000) return setTimeout(callback, ms, ...more);
        globalThis.setTimeout = setTimeout;
        return setTimeout(callback, 1, ...more);
      };`;
    const { child, running } = await serving({ drainMs: 0 }, {}, code);
    const connection = await running("deaf");
    child.process.kill("SIGTERM");
    const response = await connection.response();
    expectError(response, 503, "tool_invocation_interrupted");
    assert.equal(response.headers.get("connection"), "close");
    const { code: exitCode, stdout } = await child.ended;
    assert.deepEqual([exitCode, stdout.slice(-6)], [3, "exit 3"]);
    assert.deepEqual(stopped(child), { finished: 0, cut: 1, interrupted: 1 });
  });

  for (const [signal, exitCode] of [
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const) {
    it(`a second signal, half a second later, ends it at once: ${signal} with ${exitCode}`, async () => {
      const later = `
        process.on("SIGUSR2", () => {
          const { now } = performance;
          performance.now = () => now.call(performance) + 501;
          process.stdout.write("later;");
        });`;
      const { child, running } = await serving({}, {}, later);
      await running("deaf");
      child.process.kill("SIGTERM");
      await logged(child, "stopping");
      child.process.kill("SIGUSR2");
      await until(() => child.stdout().includes("later;"), "time has passed");
      child.process.kill(signal);
      const { code, stderr } = await child.ended;
      assert.equal(code, exitCode);
      assert.ok(!stderr.includes('"msg":"stopped"'));
    });
  }

  it("but not the repetition of the first, which npm causes for Ctrl-C", async () => {
    await attempt("an echo within its time", async () => {
      const { child, running } = await serving();
      const connection = await running("held");
      child.process.kill("SIGINT");
      await logged(child, "stopping");
      child.process.kill("SIGINT");
      // The next signal is handled after the echo, and ends the call.
      child.process.kill("SIGUSR2");
      const { code } = await child.ended;
      if (code === 130) return false;
      expectResult(await connection.response(), echoed('"held"'));
      assert.equal(code, 0);
      return true;
    });
  });

  it("two servers: both stop, and the process ends after the second", async () => {
    const child = run(`${TOOL} await bootstrap(One); await bootstrap(Two);`, { env: { BIND_ADDR: "127.0.0.1:0" } });
    await until(() => child.stderr().split('"msg":"serving"').length === 3, "both serve");
    const connection = await RawConnection.open(await child.url);
    connection.send(call("second"));
    await until(() => began(child) === 1, "the tool runs");
    child.process.kill("SIGTERM");
    expectResult(await connection.response(), echoed('"second"'));
    assert.equal((await child.ended).code, 0);
    assert.equal(child.stderr().split('"msg":"stopped"').length, 3);
  });

  it("while it starts: the start ends first", async () => {
    const code = 'const started = bootstrap(One); process.kill(process.pid, "SIGTERM"); await started;';
    const child = run(`${TOOL} ${code}`, { env: { BIND_ADDR: "127.0.0.1:0" } });
    assert.equal((await child.ended).code, 0);
    assert.deepEqual(stopped(child), { finished: 0, cut: 0, interrupted: 0 });
  });

  it("while a start fails: it prints the reason and exits with 1", async () => {
    const child = run('const failing = bootstrap([]); process.emit("SIGTERM", "SIGTERM", 15); await failing;');
    const { code, stderr } = await child.ended;
    assert.deepEqual([code, stderr], [1, "cannot start: bootstrap: expected at least one tool, got none\n"]);
  });

  it("under npm, which forwards the signal to a script `exec node …`", async () => {
    const directory = scratchFolder();
    // Within the repository's reach for the name svc-runtime, wherever the package is that npm runs.
    writeFileSync(
      join(directory, "package.json"),
      JSON.stringify({ scripts: { start: 'exec node --input-type=module -e "$CODE"' } }),
    );
    const child = start("npm", ["--prefix", directory, "--silent", "start"], {
      BIND_ADDR: "127.0.0.1:0",
      CODE: `process.chdir(${JSON.stringify(ROOT)}); ${PRELUDE.replaceAll('"svc-runtime', `"${ROOT}runtime/dist`).replace('dist"', 'dist/index.js"').replace('dist/v1"', 'dist/v1.js"')} ${TOOL} await bootstrap(One);`,
    });
    const connection = await RawConnection.open(await child.url);
    connection.send(call("second"));
    await until(() => began(child) === 1, "the tool runs");
    child.process.kill("SIGTERM");
    expectResult(await connection.response(), echoed('"second"'));
    assert.match((await child.ended).stdout, /exit 0$/);
    assert.deepEqual(stopped(child), { finished: 1, cut: 0, interrupted: 0 });
  });

  const isolate = ["--user", "--map-root-user", "--pid", "--fork", "--kill-child"];
  const alone = spawnSync("unshare", [...isolate, "true"]).status === 0;
  it("as process 1, as in a container", { skip: !alone && "needs unshare and user namespaces" }, async () => {
    const code = `${PRELUDE} ${TOOL} process.stdout.write("pid " + process.pid + ";"); await bootstrap(One);`;
    const child = start("unshare", [...isolate, process.execPath, "--input-type=module", "-e", code], {
      BIND_ADDR: "127.0.0.1:0",
    });
    const connection = await RawConnection.open(await child.url);
    assert.match(child.stdout(), /pid 1;/);
    connection.send(call("second"));
    await until(() => began(child) === 1, "the tool runs");
    const { pid } = child.process;
    process.kill(Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")), "SIGTERM");
    expectResult(await connection.response(), echoed('"second"'));
    assert.equal((await child.ended).code, 0);
  });
});

describe("a server during close", () => {
  let timers: HeldTimers;
  before(() => {
    timers = holdTimers();
  });
  after(() => timers.restore());

  /** Lets so many milliseconds pass for the one timer that waits for them. */
  const elapse = async (ms: number) => {
    const waiting = () => timers.waiting.filter((timer) => timer.ms === ms && !timer.repeats);
    await until(() => waiting().length === 1, `a timer of ${ms} ms`);
    waiting()[0]?.fire();
  };
  const GRACE_MS = 2_000;
  const LINGER_MS = 2_000;
  const DRAIN_MS = 25_000;

  /** A tool whose runs last until they are let go, if they are called with "held". */
  const heldTool = (more: Behaviour = {}) => {
    const { promise, open } = gate();
    const invoke: Behaviour["invoke"] = async ({ value }) => {
      if (value === "held") await promise;
      return { ok: { value } };
    };
    return { tool: countingTool({ timeout: 2_000_000_000, invoke, ...more }), release: () => open() };
  };
  const request = ({ target }: CountingTool, value: string) => plainCall(target, JSON.stringify({ value }));
  /** Calls a tool on a connection of its own and waits until it runs. */
  const running = async (tool: CountingTool, url: string, value = "held") => {
    const before = tool.calls.invoked;
    const connection = (await RawConnection.open(url)).send(request(tool, value));
    await until(() => tool.calls.invoked === before + 1, "the tool runs");
    return connection;
  };
  /** What was sent before it is there once another request, sent after it, has its answer. */
  const arrived = async (tool: CountingTool, url: string) =>
    expectResult(await sendPlain(url, tool.target, '{"value":1}'), echoed("1"));
  /** The fields of the one line with this message. */
  const logged = ({ log }: TestServer, message: string) => {
    const lines = log.filter((line) => line.message === message);
    assert.equal(lines.length, 1, message);
    return lines[0]?.fields;
  };
  /** An end without its time. */
  const summary = async (closed: ReturnType<TestServer["close"]>) => {
    const { ms, ...rest } = await closed;
    assert.ok(Number.isInteger(ms) && ms >= 0);
    return rest;
  };

  it("is not ready, and returns the same summary to every caller of close", async () => {
    const options = { address: [[127, 0, 0, 1], 0], config: UNSIGNED, logger: keptLog() } as const;
    const server = await serve([countingTool().class], options);
    assert.equal(server.ready, true);
    const ends = [server.close(), server.close()];
    assert.equal(server.ready, false);
    const [first, second] = await Promise.all(ends);
    assert.equal(first, second);
    assert.deepEqual([first?.finished, first?.cut], [0, 0]);
  });

  it("ends idle connections at once, while a call still runs", async () => {
    const { tool, release } = heldTool();
    const server = await serveFor([tool]);
    const idle = await RawConnection.open(server.url);
    await idle.send(requestText("GET", "/tools")).response();
    const connection = await running(tool, server.url);
    const closed = server.close();
    await idle.closed();
    assert.equal(connection.unread.length, 0, "it still runs");
    release();
    const response = await connection.response();
    expectResult(response, echoed('"held"'));
    assert.equal(response.headers.get("connection"), "close");
    assert.deepEqual(await connection.closed(), Buffer.alloc(0), "not kept alive");
    assert.deepEqual(await summary(closed), { finished: 1, cut: 0, interrupted: 0 });
  });

  it("a request on an open connection while others run gets 503 shutting_down with Retry-After", async () => {
    const { tool, release } = heldTool();
    const server = await serveFor([tool]);
    const [one, other] = [await running(tool, server.url), await RawConnection.open(server.url)];
    // A request of which a part is there keeps its connection open.
    other.send("GET /tools HTTP/1.1\r\n");
    await arrived(tool, server.url);
    const closed = server.close();
    // Behind one that runs.
    one.send(requestText("GET", "/tools"));
    const response = await other.send("Host: x\r\n\r\n").response();
    expectError(response, 503, "shutting_down");
    assert.equal(response.headers.get("connection"), "close");
    release();
    const last = await one.response();
    expectResult(last, echoed('"held"'));
    assert.equal(last.headers.get("connection"), "close", "said, so that no request is sent into the void");
    const late = await one.closed();
    if (late.length > 0) assert.match(late.toString(), /^HTTP\/1\.1 503 .*shutting_down/s);
    assert.equal((await closed).cut, 0);
    proves("7.30");
  });

  it("a request whose body does not arrive gets 503; one that arrives in time runs", async () => {
    const { tool } = heldTool();
    const server = await serveFor([tool]);
    const text = request(tool, "brief");
    const [never, late] = [await RawConnection.open(server.url), await RawConnection.open(server.url)];
    for (const connection of [never, late]) connection.send(text.subarray(0, -5));
    await arrived(tool, server.url);
    const closed = server.close();
    assert.deepEqual(logged(server, "stopping"), { running: 2 });
    expectResult(await late.send(text.subarray(-5)).response(), echoed('"brief"'));
    assert.equal(never.unread.length, 0);
    await elapse(LINGER_MS);
    const response = await never.response();
    expectError(response, 503, "shutting_down");
    assert.equal(response.headers.get("connection"), "close");
    // It has two seconds to read that and to close.
    await elapse(LINGER_MS);
    assert.deepEqual(await summary(closed), { finished: 1, cut: 0, interrupted: 0 }, "nothing that ran was cut");
  });

  it("incomplete headers or a silent caller do not delay it", async () => {
    const { tool } = heldTool();
    const server = await serveFor([tool]);
    const [half, silent] = [await RawConnection.open(server.url), await RawConnection.open(server.url)];
    half.send("POST /one/invoke HTTP/1.1\r\nHost: x\r\n");
    await arrived(tool, server.url);
    const closed = server.close();
    await elapse(LINGER_MS);
    assert.deepEqual([await half.closed(), await silent.closed()], [Buffer.alloc(0), Buffer.alloc(0)]);
    assert.deepEqual(await summary(closed), { finished: 0, cut: 0, interrupted: 0 });
  });

  it("an unread answer does not delay it", async () => {
    const { tool } = heldTool();
    const server = await serveFor([tool]);
    const deaf = await RawConnection.open(server.url);
    deaf.socket.pause();
    for (let i = 0; i < 500; i++) deaf.send(requestText("GET", tool.target.replace("invoke", "meta")));
    await arrived(tool, server.url);
    const closed = server.close();
    await elapse(LINGER_MS);
    await closed;
  });

  it("a caller that stays connected after its tunnel was refused does not delay it", async () => {
    const server = await serveFor([countingTool()]);
    const socket = openSocket(server.url, { allowHalfOpen: true });
    socket.write("CONNECT x.example:80 HTTP/1.1\r\nHost: x\r\n\r\n");
    const [answer] = (await once(socket, "data")) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1.1 400 /);
    const closed = server.close();
    // Before the two seconds of all connections are over.
    await elapse(1_000);
    await closed;
    socket.destroy();
  });

  it("finishes a run whose caller has disconnected", async () => {
    const [gone, held] = [gate(), gate()];
    let finished = false;
    const { tool } = heldTool({
      invoke: async (_input, { signal }) => {
        signal.addEventListener("abort", () => gone.open());
        await held.promise;
        // Longer than the end of a server takes that waits for no run.
        await new Promise((resolve) => setTimeout(resolve, 50));
        finished = true;
        return { ok: { value: 1 } };
      },
    });
    const server = await serveFor([tool]);
    (await running(tool, server.url)).close();
    await gone.promise;
    const closed = server.close();
    await until(() => server.log.some(({ message }) => message === "stopping"), "it is stopping");
    assert.equal(finished, false);
    held.open();
    await closed;
    assert.equal(finished, true);
  });

  it("with a delay continues to serve, closes each connection after its answer, and then stops", async () => {
    const { tool } = heldTool();
    const server = await serve([tool.class], {
      address: OWN_ADDRESS,
      config: UNSIGNED,
      logger: keptLog(),
      shutdown: { readinessDelayMs: 600_000 },
    });
    const kept = await RawConnection.open(server.url);
    await kept.send(requestText("GET", "/tools")).response();
    const closed = server.close();
    for (const response of [
      await exchange(server.url, request(tool, "brief")),
      await kept.send(request(tool, "brief")).response(),
    ]) {
      expectResult(response, echoed('"brief"'));
      assert.equal(response.headers.get("connection"), "close");
    }
    await kept.closed();
    await elapse(600_000);
    assert.equal((await closed).cut, 0);
    await assert.rejects(RawConnection.open(server.url), /ECONNREFUSED/);
  });

  it("after the drain limit fires the signals of tools, and answers calls that are cut short with 503", async () => {
    const { tool } = heldTool({
      invoke: async ({ value }, { signal }) => {
        await new Promise((resolve) => value !== "deaf" && signal.addEventListener("abort", resolve));
        if (value === "throws") throw signal.reason;
        return { ok: { value } };
      },
    });
    const server = await serveFor([tool]);
    const { url } = server;
    const throws = await running(tool, url, "throws");
    const returns = await running(tool, url, "returns");
    const deaf = await running(tool, url, "deaf");
    const closed = server.close();
    assert.deepEqual(logged(server, "stopping"), { running: 3 });
    await elapse(DRAIN_MS);
    expectResult(await returns.response(), echoed('"returns"'));
    const thrown = await throws.response();
    assert.equal(deaf.unread.length, 0);
    await elapse(GRACE_MS);
    for (const response of [thrown, await deaf.response()]) {
      expectError(response, 503, "tool_invocation_interrupted");
      assert.equal(response.headers.get("connection"), "close");
    }
    assert.deepEqual(await summary(closed), { finished: 1, cut: 2, interrupted: 2 });
    assert.deepEqual(logged(server, "calls are still running at the end of the drain time; aborting their tools"), {
      running: 3,
      drainMs: DRAIN_MS,
    });
    assert.deepEqual(logged(server, "tools did not stop after their abort signal; answering their callers with 503"), {
      running: 1,
      graceMs: GRACE_MS,
    });
    proves("7.41", "8.14");
  });

  it("a call that was cut off is logged when it is answered; the later end of its run is a separate line", async () => {
    const { tool, release } = heldTool();
    const server = await serveFor([tool], { shutdown: { drainMs: 0 } });
    const answer = await running(tool, server.url);
    const closed = server.close();
    await elapse(GRACE_MS);
    expectError(await answer.response(), 503, "tool_invocation_interrupted");
    await closed;
    const lines = () => server.log.filter(({ fields }) => fields.status !== undefined || fields.refused !== undefined);
    const said = () => lines().map(({ level, message, fields }) => [level, message, fields.status]);
    const cut = ["debug", "answered", 503];
    assert.deepEqual(said(), [cut]);
    release();
    await until(() => lines().length > 1, "the run has ended");
    assert.deepEqual(said(), [cut, ["info", "the tool ended after the shutdown had answered its call with 503", 200]]);
  });

  it("the entry of a run that was cut off stays in flight, because its progress is unknown", async () => {
    const { tool } = heldTool({ invoke: () => new Promise(() => {}) });
    const replayStore = new ReplayMemory();
    const server = await serveSigned([tool], { replayStore, shutdown: { drainMs: 0 } });
    const answer = echoCall(tool, "1").send(server.url);
    await until(() => tool.calls.invoked === 1, "it runs");
    const closed = server.close();
    await elapse(GRACE_MS);
    expectError(await answer, 503, "tool_invocation_interrupted");
    assert.equal((await closed).cut, 1);
    const { entries, inFlight } = replayStore.stats();
    assert.deepEqual([entries, inFlight], [0, 1]);
    proves("8.20");
  });

  it("waits for a health check and cuts it off like a call", async () => {
    const { tool } = heldTool({ health: () => new Promise(() => {}) });
    const server = await serveFor([tool], { shutdown: { drainMs: 0 } });
    const answer = exchange(server.url, requestText("GET", tool.target.replace("invoke", "health")));
    await until(() => tool.calls.constructed === 1, "it runs");
    const closed = server.close();
    await elapse(GRACE_MS);
    expectError(await answer, 503, "shutting_down");
    assert.equal((await closed).cut, 1);
  });

  for (const [shutdown, name, range, got] of [
    [{ drainMs: 3_600_001 }, "drainMs", 3_600_000, "3600001"],
    [{ readinessDelayMs: 600_001 }, "readinessDelayMs", 600_000, "600001"],
  ] as const) {
    it(`is a start-up error with ${JSON.stringify(shutdown)}`, async () => {
      await assert.rejects(serve([countingTool().class], { config: UNSIGNED, logger: keptLog(), shutdown }), {
        name: "RangeError",
        message: `shutdown.${name}: expected an integer from 0 to ${range} milliseconds, got ${got}`,
      });
    });
  }
});
