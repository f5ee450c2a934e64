/** Processes and servers that stop: readiness, drain, limits, exit codes (protocol.md section 8). */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { InvocationAborted, type InvokeContext, serve } from "#runtime/index.js";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import { proves } from "../proves.js";
import { makeCertificate } from "./certificate.js";
import { type Child, PRELUDE, ROOT, run, start } from "./child.js";
import { exchange, expectError, openSocket, RawConnection, requestText } from "./raw.js";
import {
  attempt,
  countingTool,
  echoCall,
  echoed,
  expectResult,
  gate,
  keptLog,
  sendPlain,
  serveFor,
  serveSigned,
  UNSIGNED,
  until,
} from "./tools.js";

/** What the tool does is what it is called with; it writes down what it began and how it was told to end. */
const TOOL = `
One.prototype.invoke = async ({ value }, context) => {
  process.stdout.write("began;");
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const told = () => new Promise((resolve) => context.signal.addEventListener("abort", resolve));
  if (value === "brief") await sleep(Math.random() * 20);
  // Runs until after the process was told to stop.
  if (value === "second") {
    await new Promise((resolve) => ["SIGTERM", "SIGINT"].map((signal) => process.once(signal, resolve)));
    await sleep(200);
  }
  if (value === "held") await new Promise((resolve) => process.once("SIGUSR2", resolve));
  if (value === "deaf") await new Promise(() => {});
  if (value === "throws") await told().then(() => { throw context.signal.reason; });
  if (value === "returns") await told();
  return { ok: { value } };
};
process.on("exit", (code) => process.stdout.write("exit " + code));
`;

const call = (value: string) =>
  requestText("POST", "/one/invoke", [["Content-Length", `${value.length + 12}`]], `{"value":"${value}"}`);
const began = (child: Child) => child.stdout().split("began;").length - 1;

/** A process that serves the tool. */
async function serving(shutdown: object = {}, env: Record<string, string> = {}) {
  const code = `${TOOL} await bootstrap(One, { shutdown: ${JSON.stringify(shutdown)} });`;
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

describe("a process that is told to stop", { concurrency: 2 }, () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it(`${signal}: a call that runs gets its answer, then the process exits 0`, async () => {
      const { child, running } = await serving();
      const connection = await running("second");
      child.process.kill(signal);
      const response = await connection.response();
      expectResult(response, echoed('"second"'));
      assert.equal(response.headers.get("connection"), "close");
      const { code, stdout } = await child.ended;
      assert.deepEqual([code, stdout], [0, "began;exit 0"]);
      assert.deepEqual(line(child, "stopping"), { signal, running: 1 });
      assert.deepEqual(stopped(child), { finished: 1, cut: 0 });
    });
  }

  it("under load: every call that began is answered, every other one turned away or never taken", async () => {
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

  it("idle connections end at once, while a call still runs", async () => {
    const { child, url, running } = await serving();
    const idle = await RawConnection.open(url);
    await idle.send(requestText("GET", "/tools")).response();
    const connection = await running("held");
    child.process.kill("SIGTERM");
    await idle.closed();
    assert.equal(connection.unread.length, 0, "it still runs");
    child.process.kill("SIGUSR2");
    expectResult(await connection.response(), echoed('"held"'));
    assert.equal((await child.ended).code, 0);
  });

  it("a request whose body does not come is told 503; one that comes in time runs", async () => {
    const { child, url } = await serving();
    const text = call("brief");
    const [never, late] = [await RawConnection.open(url), await RawConnection.open(url)];
    for (const connection of [never, late]) connection.send(text.subarray(0, -5));
    // Both are there once another call, sent after them, has its answer.
    expectResult(await sendPlain(url, "/one/invoke", '{"value":1}'), echoed("1"));
    child.process.kill("SIGTERM");
    await logged(child, "stopping");
    assert.equal(line(child, "stopping").running, 2);
    expectResult(await late.send(text.subarray(-5)).response(), echoed('"brief"'));
    const response = await never.response();
    expectError(response, 503, "shutting_down");
    assert.equal(response.headers.get("connection"), "close");
    assert.equal((await child.ended).code, 0, "nothing that ran was cut");
    assert.deepEqual(stopped(child), { finished: 1, cut: 0 });
  });

  it("half of the headers does not keep it, nor a caller who says nothing", async () => {
    const { child, url } = await serving();
    const [half, silent] = [await RawConnection.open(url), await RawConnection.open(url)];
    half.send("POST /one/invoke HTTP/1.1\r\nHost: x\r\n");
    expectResult(await sendPlain(url, "/one/invoke", '{"value":1}'), echoed("1"));
    child.process.kill("SIGTERM");
    assert.deepEqual([await half.closed(), await silent.closed()], [Buffer.alloc(0), Buffer.alloc(0)]);
    assert.equal((await child.ended).code, 0);
  });

  it("a caller who was refused a tunnel and stays does not keep it either", async () => {
    // The bound of LINGER_MS, not that of a refused connection, which is 5 s.
    await attempt("an end within 4 s", async () => {
      const { child, url } = await serving();
      const socket = openSocket(url, { allowHalfOpen: true });
      socket.write("CONNECT x.example:80 HTTP/1.1\r\nHost: x\r\n\r\n");
      const [answer] = (await once(socket, "data")) as [Buffer];
      assert.match(answer.toString(), /^HTTP\/1.1 400 /);
      child.process.kill("SIGTERM");
      assert.equal((await child.ended).code, 0);
      socket.destroy();
      return (line(child, "stopped").ms as number) < 4_000;
    });
  });

  it("after the drain limit the signals of tools fire; what is cut short is told 503 and the process exits 3", async () => {
    const { child, running } = await serving({ drainMs: 200 });
    const [throws, returns, deaf] = [await running("throws"), await running("returns"), await running("deaf")];
    child.process.kill("SIGTERM");
    expectResult(await returns.response(), echoed('"returns"'));
    for (const connection of [throws, deaf]) {
      const response = await connection.response();
      expectError(response, 503, "shutting_down");
      assert.equal(response.headers.get("connection"), "close");
    }
    const { code, stdout } = await child.ended;
    assert.deepEqual([code, stdout.slice(-6)], [3, "exit 3"]);
    assert.deepEqual(stopped(child), { finished: 1, cut: 2 });
    assert.match(child.stderr(), /the drain limit has passed: tools are told to end/);
    assert.match(child.stderr(), /"running":1,"graceMs":2000,"msg":"tools did not end: their callers are told 503"/);
    proves("8.14");
  });

  for (const [signal, exitCode] of [
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const) {
    it(`a second signal ends it at once: ${signal} with ${exitCode}`, async () => {
      const { child, running } = await serving();
      await running("deaf");
      child.process.kill("SIGTERM");
      await logged(child, "stopping");
      await new Promise((resolve) => setTimeout(resolve, 600));
      child.process.kill(signal);
      const { code, stderr } = await child.ended;
      assert.equal(code, exitCode);
      assert.ok(!stderr.includes('"msg":"stopped"'));
    });
  }

  it("but not the echo of the first, as npm makes one of Ctrl-C", async () => {
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

  it("while it starts: the start comes to its end first", async () => {
    const code = 'const started = bootstrap(One); process.kill(process.pid, "SIGTERM"); await started;';
    const child = run(`${TOOL} ${code}`, { env: { BIND_ADDR: "127.0.0.1:0" } });
    assert.equal((await child.ended).code, 0);
    assert.deepEqual(stopped(child), { finished: 0, cut: 0 });
  });

  it("while a start fails: it says why and exits 1", async () => {
    const child = run('const failing = bootstrap([]); process.emit("SIGTERM", "SIGTERM", 15); await failing;');
    const { code, stderr } = await child.ended;
    assert.deepEqual([code, stderr], [1, "cannot start: bootstrap: expected at least one tool\n"]);
  });

  it("with a delay it serves on, asks callers to connect anew, and then closes", async () => {
    await attempt("calls within the delay", async () => {
      const { child, url } = await serving({ readinessDelayMs: 1_500 });
      const kept = await RawConnection.open(url);
      await kept.send(requestText("GET", "/tools")).response();
      child.process.kill("SIGTERM");
      await logged(child, "stopping");
      const calls = [exchange(url, call("brief")), kept.send(call("brief")).response()];
      const responses = await Promise.all(calls.map((response) => response.catch(() => undefined)));
      await kept.closed();
      assert.equal((await child.ended).code, 0);
      await assert.rejects(RawConnection.open(url), /ECONNREFUSED/);
      for (const response of responses) {
        if (response === undefined) return false;
        expectResult(response, echoed('"brief"'));
        assert.equal(response.headers.get("connection"), "close");
      }
      return true;
    });
  });

  it("over TLS", async () => {
    const directory = mkdtempSync(join(tmpdir(), "svc-shutdown-"));
    after(() => rmSync(directory, { recursive: true }));
    const { cert, key } = makeCertificate();
    const [certPath, keyPath] = [join(directory, "cert.pem"), join(directory, "key.pem")];
    writeFileSync(certPath, cert, { mode: 0o600 });
    writeFileSync(keyPath, key, { mode: 0o600 });
    const { child, url } = await serving({}, { SVC_TOOL_TLS_CERT_PATH: certPath, SVC_TOOL_TLS_KEY_PATH: keyPath });
    const options = { method: "POST", ca: cert, servername: "localhost", headers: { "content-length": 18 } };
    const answer = new Promise<[number | undefined, Buffer]>((resolve, reject) => {
      const sent = request(new URL("/one/invoke", url), options, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("end", () => resolve([response.statusCode, Buffer.concat(chunks)]));
      });
      sent.once("error", reject).end('{"value":"second"}');
    });
    const plain = await RawConnection.open(url.replace("https", "http"));
    await until(() => began(child) === 1, "the tool runs");
    child.process.kill("SIGTERM");
    await plain.closed();
    assert.deepEqual(await answer, [200, echoed('"second"')]);
    assert.equal((await child.ended).code, 0);
  });

  it("under npm, which passes the signal on to a script that is `exec node …`", async () => {
    const directory = mkdtempSync(join(tmpdir(), "svc-shutdown-"));
    after(() => rmSync(directory, { recursive: true }));
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
    assert.deepEqual(stopped(child), { finished: 1, cut: 0 });
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

describe("a server that is closed", () => {
  it("is not ready from then on, and answers everybody who closes it with the same end", async () => {
    const tool = countingTool();
    const server = await serve([tool.class], { address: [[127, 0, 0, 1], 0], config: UNSIGNED, logger: keptLog() });
    assert.equal(server.ready, true);
    const ends = [server.close(), server.close()];
    assert.equal(server.ready, false);
    const [first, second] = await Promise.all(ends);
    assert.equal(first, second);
    assert.deepEqual([first?.finished, first?.cut], [0, 0]);
  });

  it("has the same bounds: a call that never ends is told why and cut", async () => {
    const told = gate<unknown>();
    const invoke = (_input: unknown, { signal }: InvokeContext) => {
      signal.addEventListener("abort", () => told.open(signal.reason));
      return new Promise(() => {});
    };
    const tool = countingTool({ invoke });
    const server = await serveFor([tool], { shutdown: { drainMs: 0 } });
    const answer = sendPlain(server.url, tool.target, '{"value":1}');
    await until(() => tool.calls.invoked === 1, "it runs");
    const end = server.close();
    const reason = await told.promise;
    assert.ok(reason instanceof InvocationAborted);
    assert.equal(reason.reason, "shutdown");
    expectError(await answer, 503, "shutting_down");
    const { finished, cut } = await end;
    assert.deepEqual([finished, cut], [0, 1]);
    proves("8.20");
  });

  it("the entry of a run that was cut stays in flight: nobody knows how far it came", async () => {
    const tool = countingTool({ invoke: () => new Promise(() => {}) });
    const replayStore = new ReplayMemory();
    const server = await serveSigned([tool], { replayStore, shutdown: { drainMs: 0 } });
    const answer = echoCall(tool, "1").send(server.url);
    await until(() => tool.calls.invoked === 1, "it runs");
    assert.equal((await server.close()).cut, 1);
    expectError(await answer, 503, "shutting_down");
    const { entries, inFlight } = replayStore.stats();
    assert.deepEqual([entries, inFlight], [0, 1]);
    proves("8.20");
  });

  it("waits for a health check and cuts it like a call", async () => {
    const tool = countingTool({ health: () => new Promise(() => {}) });
    const server = await serveFor([tool], { shutdown: { drainMs: 0 } });
    const answer = exchange(server.url, requestText("GET", "/tool/health"));
    await until(() => tool.calls.constructed === 1, "it runs");
    const end = server.close();
    expectError(await answer, 503, "shutting_down");
    assert.equal((await end).cut, 1);
  });

  for (const [shutdown, name, range, got] of [
    [{ drainMs: -1 }, "drainMs", 3_600_000, "-1"],
    [{ drainMs: 3_600_001 }, "drainMs", 3_600_000, "3600001"],
    [{ drainMs: 1.5 }, "drainMs", 3_600_000, "1.5"],
    [{ drainMs: "25s" as unknown as number }, "drainMs", 3_600_000, "string"],
    [{ readinessDelayMs: 600_001 }, "readinessDelayMs", 600_000, "600001"],
    [{ readinessDelayMs: Number.NaN }, "readinessDelayMs", 600_000, "NaN"],
  ] as const) {
    it(`is not even started with ${JSON.stringify(shutdown)}`, async () => {
      await assert.rejects(serve([countingTool().class], { config: UNSIGNED, logger: keptLog(), shutdown }), {
        name: "RangeError",
        message: `shutdown.${name}: expected an integer from 0 to ${range} milliseconds, got ${got}`,
      });
    });
  }
});
