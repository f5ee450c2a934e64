/** A log that cannot be written changes no answer: a full disk, a pipe that is not read, loggers that throw. */

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { ServerLogger } from "#runtime/index.js";
/** The environment without the variables of the tests, which a server names as unknown. */
import { scratchFolder } from "../scratch-folder.js";
import { PRELUDE, run } from "./child.js";
import { moduleFolder } from "./module-folder.js";
import { exchange, expectError, type RawResponse, requestText } from "./raw.js";
import { countingTool, echoCall, echoed, expectResult, gate, sendPlain, serveSigned, until } from "./tools.js";

const OTHERS = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SVC_")));

/**
 * The clock of the end of a process. Where nothing reads standard error (`UNREAD`), two seconds take 20 ms, so that no end
 * waits for it as long as it may. Elsewhere it stands still: lines are written however slow their reader is.
 */
const END_CLOCK = `
process.once("exit", () => {
  const { now } = performance;
  const ended = now.call(performance);
  performance.now = () => ended + (process.env.UNREAD === undefined ? 0 : 100) * (now.call(performance) - ended);
});
`;

const SERVER = `${PRELUDE}${END_CLOCK}
const serverTool = (fqn, path, invoke, more = {}, own = {}) => {
  const timeout = more.timeout ?? 10_000;
  provide(contract(fqn, path, { timeout }));
  return tool(fqn, path, {}, {
    timeout: () => timeout,
    new: async () => Object.assign(new (tool(fqn, path))(), { invoke }),
    ...own,
  });
};
const released = [];
const tools = [
  serverTool("xyz.test.late@1", "late", () => new Promise((resolve) => released.push(resolve)), { timeout: 300 }),
  serverTool("xyz.test.release@1", "release", async () => {
    for (const release of released.splice(0)) release({ ok: { value: "late" } });
    return { ok: { value: "released" } };
  }),
  serverTool("xyz.test.print@1", "print", async ({ value: { lines, bytes, exit } }, { log }) => {
    for (let i = 1; i <= lines; i++) log.info({ line: i, fill: "x".repeat(bytes) }, "filled");
    if (exit !== undefined) process.exit(exit);
    return { ok: { value: lines } };
  }),
  serverTool("xyz.test.child@1", "child", async () => {
    const { spawnSync } = await import("node:child_process");
    return { ok: { value: spawnSync("true", { stdio: "inherit" }).status } };
  }),
  serverTool("xyz.test.sick@1", "sick", async () => { throw new Error("sick"); }, {}, {
    new: async () => { throw new Error("no instance"); },
  }),
];
const server = await bootstrap(tools);
if (server !== undefined) process.stdout.write(JSON.stringify({ url: server.url, admin: server.adminUrl }) + "\\n");
`;

const folder = scratchFolder();
const children = new Set<ChildProcess>();
after(() => {
  for (const child of children) child.kill("SIGKILL");
});

interface Served {
  readonly url: string;
  readonly admin: string;
  /** Ends it with SIGTERM; its exit code. */
  stop(): Promise<number | null>;
  readonly exited: Promise<number | null>;
}

/** Starts the server with a standard error of the test's making, whose descriptor is closed here afterwards. */
async function serveWith(
  stderr: number | "pipe",
  more: Record<string, string> = {},
): Promise<Served & { readonly process: ChildProcess }> {
  const entry = join(moduleFolder({ "server.js": SERVER }), "server.js");
  const child = spawn(process.execPath, [entry], {
    env: { ...OTHERS, BIND_ADDR: "127.0.0.1:0", SVC_ADMIN_ADDR: "127.0.0.1:0", SVC_LOG_LEVEL: "", ...more },
    stdio: ["ignore", "pipe", stderr],
  });
  children.add(child);
  if (typeof stderr === "number") closeSync(stderr);
  const exited = once(child, "exit").then(([code]) => {
    children.delete(child);
    return code as number | null;
  });
  const [line] = (await Promise.race([
    once(child.stdout as NodeJS.ReadableStream, "data"),
    exited.then((code) => assert.fail(`it ended with ${code}`)),
  ])) as [Buffer];
  const { url, admin } = JSON.parse(line.toString()) as { url: string; admin: string };
  const stop = () => {
    child.kill("SIGTERM");
    return exited;
  };
  return { url, admin, stop, exited, process: child };
}

/** A pipe with a reader that does not read: the write end for a child, and what it holds once it is read. */
function unreadPipe(name: string) {
  const path = join(folder, name);
  execFileSync("mkfifo", [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  let text = "";
  const read = () => {
    const stream = new Socket({ fd: reader, writable: false }).setEncoding("utf8");
    stream.on("data", (chunk) => {
      text += chunk;
    });
    return once(stream, "close");
  };
  return { writer, read, text: () => text, close: () => closeSync(reader) };
}

const post = (url: string, tool: string, value: unknown) =>
  sendPlain(url, `/${tool}/invoke`, JSON.stringify({ value }));
const status = async (url: string, path: string) => (await exchange(url, requestText("GET", path))).status;
const metric = async (admin: string, name: string): Promise<number> => {
  const { body } = await exchange(admin, requestText("GET", "/metrics"));
  return Number(new RegExp(`^${name} (.*)$`, "m").exec(body.toString())?.[1] ?? Number.NaN);
};
const json = ({ status, body }: RawResponse) => [status, status === 200 ? undefined : JSON.parse(body.toString())];

describe("a full disk behind standard error", { timeout: 120_000 }, () => {
  it("does not change answers: calls past their deadline, a health check that throws", async () => {
    const server = await serveWith(openSync("/dev/full", "w"));
    const { url, admin } = server;
    for (let round = 0; round < 2; round++) {
      const late = await Promise.all([1, 2, 3].map(() => post(url, "late", 1)));
      for (const response of late) expectError(response, 504, "tool_invocation_timeout");
      assert.equal((await post(url, "release", 1)).status, 200);
      await until(async () => (await metric(admin, 'svc_tools_running\\{tool="xyz.test.late@1"\\}')) === 0, "no run");
    }
    expectError(await post(url, "sick", 1), 500, "tool_invocation_failed");
    assert.equal(await status(url, "/sick/health"), 500);
    const dropped = () => metric(admin, "svc_log_dropped_total");
    await until(async () => (await dropped()) > 0, "lost lines are counted before the buffer is full");
    for (let i = 0; i < 3; i++) assert.equal((await post(url, "print", { lines: 100, bytes: 10_000 })).status, 200);
    await until(async () => (await dropped()) > 300, "all lines are counted");
    assert.equal(await server.stop(), 0);
  });
});

describe("a disk that fills in the middle of a line", { timeout: 120_000 }, () => {
  const unshare = ["--user", "--map-root-user", "--mount", "sh", "-c"];
  const mounts = (more: string) => `mount -t tmpfs -o size=8k none "$0" && ${more}`;
  const { status } = spawnSync("unshare", [...unshare, mounts("true"), folder]);
  it("the next line begins on a line of its own", { skip: status !== 0 && "needs unshare and tmpfs" }, () => {
    const entry = `import { rmSync } from "node:fs";
      import { initLogger } from "svc-runtime";
      const log = initLogger();
      for (let i = 1; i <= 2; i++) log.info({ i, fill: "x".repeat(3000) }, "filled");
      while (log.lines.dropped === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      rmSync(process.argv[2] + "/used");
      log.info({ i: 3 }, "written");`;
    const path = join(moduleFolder({ "full.js": entry }), "full.js");
    const script = mounts('head -c 4096 /dev/zero > "$0/used" && "$1" "$2" "$0" 2>> "$0/log" && cat "$0/log"');
    const args = [...unshare, script, folder, process.execPath, path];
    const { stdout } = spawnSync("unshare", args, { encoding: "utf8", timeout: 60_000 });
    const [first = "", cut = "", ...more] = stdout.split("\n");
    assert.deepEqual([JSON.parse(first).i, /"i":2,"fill":"x+$/.test(cut)], [1, true]);
    assert.deepEqual(
      more.slice(0, -1).map((line) => JSON.parse(line).i ?? JSON.parse(line).dropped),
      [3, 1],
    );
  });
});

describe("a pipe that is not read", { timeout: 120_000 }, () => {
  for (const kind of ["fifo", "socket"] as const) {
    it(`blocks nothing (${kind}): calls and health checks are answered, the process ends with its exit code`, async () => {
      const pipe = kind === "fifo" ? unreadPipe("held") : undefined;
      const server = await serveWith(pipe?.writer ?? "pipe", { UNREAD: "1" });
      const { url } = server;
      // A child that inherits standard error makes it blocking again, for its parent too.
      if (kind === "fifo") assert.equal((await post(url, "child", 1)).status, 200);
      for (let i = 0; i < 12; i++) {
        const [code, error] = json(await post(url, "print", { lines: 20, bytes: 10_000 }));
        assert.deepEqual([code, error], [200, undefined]);
        assert.equal(await status(url, "/health"), 200);
      }
      assert.equal(await server.stop(), 0);
      pipe?.close();
    });
  }

  it("and blocks, because a child has inherited it, does not keep the process from answering or ending", async () => {
    // At its end the write has taken longer than that waits for one.
    const late = `process.once("exit", () => {
      const { now } = performance;
      performance.now = () => now.call(performance) + 2_001;
    });`;
    const server = await serveWith("pipe", {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(late)}`,
    });
    const { url } = server;
    assert.equal((await post(url, "child", 1)).status, 200);
    assert.equal((await post(url, "print", { lines: 90, bytes: 10_000 })).status, 200);
    assert.equal(await status(url, "/health"), 200);
    const code = await server.stop();
    assert.deepEqual([code, server.process.signalCode], [null, "SIGKILL"]);
  });

  it("and is finally read, contains the kept lines, complete and in order, and the number of dropped lines", async () => {
    const pipe = unreadPipe("late");
    const server = await serveWith(pipe.writer);
    const { url, admin } = server;
    for (let i = 0; i < 3; i++) assert.equal((await post(url, "print", { lines: 100, bytes: 10_000 })).status, 200);
    const dropped = await metric(admin, "svc_log_dropped_total");
    assert.ok(dropped > 0);
    const ended = pipe.read();
    await until(() => pipe.text().includes("log lines were dropped"), "the line about what was dropped");
    assert.equal((await post(url, "print", { lines: 1, bytes: 1 })).status, 200);
    await until(() => pipe.text().includes('"fill":"x"'), "all that waited");
    assert.equal(await server.stop(), 0);
    await ended;
    const lines = pipe
      .text()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { msg: string; line?: number; dropped?: number });
    const filled = lines.filter(({ msg }) => msg === "filled");
    assert.equal(filled.length, 300 - dropped + 1);
    const reported = lines.reduce((sum, line) => sum + (line.dropped ?? 0), 0);
    assert.equal(reported, dropped);
    assert.deepEqual([lines[0]?.msg.slice(0, 27), lines[1]?.msg], ["signatures are not required", "serving"]);
    assert.equal(lines.at(-1)?.msg, "stopped");
  });
});

describe("the log is complete at the end of a process", { timeout: 120_000 }, () => {
  it("when a tool ends it by process.exit", async () => {
    const pipe = unreadPipe("exit");
    const server = await serveWith(pipe.writer);
    const ended = pipe.read();
    await assert.rejects(post(server.url, "print", { lines: 30, bytes: 10_000, exit: 7 }));
    assert.equal(await server.exited, 7);
    await ended;
    const lines = pipe.text().match(/"line":\d+/g) ?? [];
    assert.equal(lines.length, 30);
    assert.ok(pipe.text().endsWith("}\n"));
  });

  it("when its start fails, and when something is thrown before it serves", async () => {
    for (const [code, expected, word] of [
      ['initLogger().info({}, "first"); await bootstrap([One, One]);', 1, "cannot start: two tools"],
      ['initLogger().info({}, "first"); throw new Error("thrown at start");', 1, "thrown at start"],
      ['debug({ n: 5 }, "first"); await bootstrap([One, One]);', 1, '"n":5,"msg":"first"'],
      ['debug("first"); await bootstrap([One, One]);', 1, '"msg":"first"'],
      ['initLogger().info({}, "first"); await bootstrap(One); process.kill(process.pid, "SIGTERM");', 0, '"stopped"'],
    ] as const) {
      const { code: exitCode, stderr } = await run(`import { debug, initLogger } from "svc-runtime";${code}`, {
        env: { BIND_ADDR: "127.0.0.1:0", SVC_LOG_LEVEL: "debug" },
      }).ended;
      assert.equal(exitCode, expected, stderr);
      for (const text of ['"first"', word]) assert.ok(stderr.includes(text), stderr);
    }
  });

  it("a start that fails ends the process, whatever standard error is", async () => {
    const failing = join(
      moduleFolder({ "server.js": `${PRELUDE}${END_CLOCK}await bootstrap([One, One]);` }),
      "server.js",
    );
    const fill = `${PRELUDE}${END_CLOCK}import { initLogger } from "svc-runtime";
      const log = initLogger();
      for (let i = 0; i < 200; i++) log.info({ fill: "x".repeat(10_000) }, "filled");
      await bootstrap([One, One]);`;
    const filling = join(moduleFolder({ "server.js": fill }), "server.js");
    const ended = async (entry: string, stderr: number) => {
      const child = spawn(process.execPath, [entry], {
        stdio: ["ignore", "ignore", stderr],
        env: { ...OTHERS, UNREAD: "1" },
      });
      children.add(child);
      closeSync(stderr);
      const [code] = await once(child, "exit");
      return code as number;
    };
    const pipe = unreadPipe("fill");
    const full = () => openSync("/dev/full", "w");
    assert.deepEqual(
      await Promise.all([ended(failing, full()), ended(filling, full()), ended(filling, pipe.writer)]),
      [1, 1, 1],
    );
    pipe.close();
  });
});

describe("a custom logger", () => {
  const fail = () => {
    throw new Error("the logger is broken");
  };
  const broken = { debug: fail, info: fail, warn: fail, error: fail };
  const rejecting = () => Promise.reject(new Error("the logger is broken")) as unknown as undefined;
  const LOGGERS: Readonly<Record<string, ServerLogger>> = {
    "that throws": { ...broken, child: () => LOGGERS["that throws"] as ServerLogger },
    "that has no children": { ...broken, child: fail, isLevelEnabled: fail },
    "that gives nothing for a child": { ...broken, child: () => undefined as never },
    "whose promises reject": {
      ...{ debug: rejecting, info: rejecting, warn: rejecting, error: rejecting },
      child: () => LOGGERS["whose promises reject"] as ServerLogger,
    },
  };
  for (const [what, logger] of Object.entries(LOGGERS)) {
    it(`${what} does not change answers and leaves nothing in flight`, async () => {
      const released = gate();
      const slow = countingTool({
        path: "slow",
        timeout: 50,
        invoke: async (_input, { log }) => {
          log.info("running");
          await released.promise;
        },
        health: fail,
      });
      const tool = countingTool({
        invoke: ({ value }) => {
          if (value === "throw") throw new Error("thrown");
          return { ok: { value } };
        },
      });
      const server = await serveSigned([slow, tool], {
        logger,
        load: { limits: { concurrency: 1 } },
        admin: [[127, 0, 0, 1], 0],
      });
      const { url } = server;
      const late = echoCall(slow, "1");
      for (let i = 0; i < 2; i++) expectError(await late.send(url), 504, "tool_invocation_timeout");
      released.open();
      await until(() => server.load().tools.get(slow.fqn)?.running === 0, "the slot is free");
      expectError(await late.send(url), 504, "tool_invocation_timeout");
      expectError(await echoCall(tool, '"throw"').send(url), 500, "tool_invocation_failed");
      const call = echoCall(tool, "1");
      expectResult(await call.send(url), echoed("1"), call);
      await until(async () => (await status(url, "/slow/health")) === 500, "a health check that is not late");
      assert.ok((await metric(server.adminUrl ?? "", "svc_log_dropped_total")) > 0);
    });
  }
});
