/** Every default in the documents, compared with servers that were started without options. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { syncBuiltinESMExports } from "node:module";
import { connect, type ListenOptions, Server, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, describe, it, mock } from "node:test";
import { replayTtlOf } from "#runtime/config/config.js";
import {
  type BootstrapOptions,
  DEFAULT_TIMEOUT_MS,
  type RunningServer,
  serve,
  ToolkitRuntimeConfig,
} from "#runtime/index.js";
import { DEFAULT_ENDPOINT } from "#runtime/server/bootstrap.js";
import { CLOSE_LIMIT_MS } from "#runtime/server/call/run/class-hooks.js";
import { DEADLINES, MAX_UNREAD_BYTES } from "#runtime/server/http/limits.js";
import { MAX_PIPELINED, MAX_UNANSWERED } from "#runtime/server/http/request-queue.js";
import { GRACE_MS, LINGER_MS, Shutdown, type ShutdownOptions } from "#runtime/server/http/shutdown.js";
import { DEFAULT_QUEUE, DEFAULT_QUEUE_TIMEOUT_MS } from "#runtime/server/load/concurrency-limit.js";
import { DEFAULT_WINDOW_MS } from "#runtime/server/load/load-control.js";
import { BOOTSTRAP_OPTIONS } from "#runtime/server/options.js";
import { inputValuesLimit } from "#runtime/server/tool-server.js";
import { BASE_STEPS } from "#runtime/server/wire/union-steps.js";
import { ROOT } from "./child.js";
import { type HeldTimer, type HeldTimers, holdTimers } from "./held-timers.js";
import { exchange, RawConnection, requestText } from "./raw.js";
import { countingTool, echoCall, keptLog, signedConfig, UNSIGNED, until as untilWithin } from "./tools.js";

// ---- what the documents say ----

/** The numbers of a text, in milliseconds, bytes or by themselves. */
import { scratchFolder } from "../scratch-folder.js";

function quantities(text: string): number[] {
  const units = { ms: 1, s: 1000, KiB: 1024, MiB: 1_048_576, bytes: 1 } as const;
  return [...text.matchAll(/(\d[\d,]*)(?: (ms|s|KiB|MiB|bytes)\b)?/g)].map(
    ([, digits = "", unit]) => Number(digits.replaceAll(",", "")) * (unit === undefined ? 1 : units[unit as "s"]),
  );
}

/** The rows of one of the tables below a heading, cell by cell. */
function table(file: string, heading: string, index = 0): string[][] {
  const [, section = ""] = `\n${readFileSync(join(ROOT, file), "utf8")}`.split(`\n${heading}\n`);
  const [text = ""] = section.split(/\n#/);
  const tables = text.split(/\n(?!\|)/).filter((block) => block.includes("\n|"));
  const rows = (tables[index] ?? assert.fail(`${file} has no such table: ${heading}`)).split("\n").slice(1);
  return rows.slice(2).map((row) => row.split("|").map((cell) => cell.trim().replaceAll("`", "")));
}

/** Those rows, by their first cell, with the text of another. */
const rowsOf = (cells: readonly string[][], column: number) =>
  new Map(cells.map((row) => [row[1] ?? "", row[column] ?? ""]));

// ---- what a server does ----

const servers: RunningServer[] = [];
const timers: HeldTimers = holdTimers();
const directory = scratchFolder();
after(async () => {
  await Promise.all(servers.map(end));
  timers.restore();
});

/** Ends a server, whatever its tools do: every time that it gives them is over at once. */
async function end(server: RunningServer): Promise<void> {
  let ended = false;
  const closed = server.close().then(() => {
    ended = true;
  });
  while (!ended) {
    for (const timer of timers.waiting) timer.fire();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await closed;
}

/** Waits as long as a slow machine may take. */
const until = (holds: () => boolean | Promise<boolean>, what: string) => untilWithin(holds, what, 60_000);

type Tool = ReturnType<typeof countingTool>;

/** Starts a server as an application does; gives node's server inside of it too, and the connections of that. */
async function start(tools: readonly Tool[], options: BootstrapOptions = {}) {
  const made: { server: http.Server; options: https.ServerOptions }[] = [];
  const sockets: Socket[] = [];
  const originals = [http, https].map((module) => ({
    module,
    create: module.createServer as typeof https.createServer,
  }));
  for (const { module, create } of originals) {
    Object.assign(module, {
      createServer: (given: https.ServerOptions, handler: http.RequestListener) => {
        const server = create(given, handler);
        server.on("connection", (socket) => sockets.push(socket as Socket));
        made.push({ server, options: given });
        return server;
      },
    });
  }
  syncBuiltinESMExports();
  try {
    const log = keptLog();
    const running = await serve(
      tools.map((tool) => tool.class),
      { address: [[127, 0, 0, 1], 0], config: UNSIGNED, logger: log, ...options },
    );
    servers.push(running);
    return { ...running, log: log.entries, ...(made.at(-1) ?? assert.fail("no server")), sockets };
  } finally {
    for (const { module, create } of originals) Object.assign(module, { createServer: create });
    syncBuiltinESMExports();
  }
}

/** What a probe measures, in the order in which the document names the numbers. */
type Probe = (documented: readonly number[]) => readonly number[] | Promise<readonly number[]>;

/** Compares the numbers of rows with what their probes measure; a row without a probe is a fault, and the other way round. */
function compare(what: string, rows: ReadonlyMap<string, string>, probes: Readonly<Record<string, Probe>>): void {
  describe(what, () => {
    it("has a probe for each row with a number, and for no other row", () => {
      const named = [...rows].filter(([, text]) => quantities(text).length > 0).map(([name]) => name);
      assert.deepEqual(named.sort(), Object.keys(probes).sort());
    });
    for (const [name, probe] of Object.entries(probes)) {
      it(`${name}: ${rows.get(name)}`, async () => {
        const documented = quantities(rows.get(name) ?? "");
        assert.deepEqual(await probe(documented), documented);
      });
    }
  });
}

/** The largest number that something holds for, if that is the documented one; else a number beside it. */
async function largest(documented: number, holds: (n: number) => Promise<boolean>): Promise<number> {
  if (!(await holds(documented))) return documented - 1;
  return (await holds(documented + 1)) ? documented + 1 : documented;
}

/** A function that waits for a timeout of so long that is started from now on, and gives it. */
function nextTimer(ms: number, repeats = false): () => Promise<HeldTimer> {
  const known = new Set(timers.waiting);
  const found = () => timers.waiting.find((timer) => timer.ms === ms && timer.repeats === repeats && !known.has(timer));
  return async () => {
    await until(() => found() !== undefined, `a timer of ${ms} ms`);
    return found() ?? assert.fail();
  };
}

const isDuration = async (options: ShutdownOptions) => {
  try {
    return new Shutdown(options) instanceof Shutdown;
  } catch {
    return false;
  }
};

const echo = countingTool({ path: "echo" });
let plain: Awaited<ReturnType<typeof start>>;
before(async () => {
  plain = await start([echo]);
});

/** Sends a request on a connection of its own; gives the connection and the first answer. */
async function answerTo(request: Uint8Array) {
  const connection = await RawConnection.open(plain.url);
  return { connection, response: await connection.send(request).response("POST") };
}

const largestBody = async (documented: number) =>
  largest(documented, async (n) => {
    const headers = [
      ["Content-Length", `${n}`],
      ["Expect", "100-continue"],
    ] as const;
    const { connection, response } = await answerTo(requestText("POST", "/echo/invoke", headers));
    connection.close();
    return response.status === 100;
  });

/** How long an answer may take to be taken, by a caller that reads nothing. */
async function answerMs(): Promise<number> {
  // More than the buffers of the system hold.
  const inputSchema = `{"type":"object","description":"${"x".repeat(4 * 1_048_576)}","properties":{"value":{}}}`;
  const { url } = await start([countingTool({ path: "large", inputSchema })]);
  const known = new Set(timers.waiting);
  const { hostname, port } = new URL(url);
  const caller = connect(Number(port), hostname).pause();
  try {
    const documents = Array.from({ length: MAX_UNANSWERED }, () => requestText("GET", "/large/meta"));
    caller.write(documents.join(""));
    const cut = () => timers.waiting.find((timer) => !known.has(timer) && !timer.repeats);
    await until(() => cut() !== undefined, "an answer is not taken");
    return cut()?.ms ?? 0;
  } finally {
    caller.destroy();
  }
}

/** The rate in bytes per second below which a body is ended, if it is the given one; NaN otherwise. */
async function bodyRate(rate: number, options: BootstrapOptions = {}): Promise<readonly number[]> {
  const slow = await start([countingTool({ path: "slow" })], options);
  /** Whether so many bytes make up for the second before them: whether five more seconds may pass in silence. */
  const suffices = async (bytes: number) => {
    const pace = nextTimer(1000, true);
    const connection = await RawConnection.open(slow.url);
    connection.send(requestText("POST", "/slow/invoke", [["Content-Length", `${10 * rate}`]]));
    const seconds = await pace();
    seconds.fire();
    connection.send(Buffer.alloc(bytes));
    await until(() => slow.load().bodyBytes.inFlight === bytes, "the bytes have arrived");
    for (let second = 0; second < 5; second++) seconds.fire();
    const goesOn = timers.waiting.includes(seconds);
    connection.close();
    await until(() => slow.load().bodyBytes.inFlight === 0, "the body is gone");
    seconds.fire();
    return goesOn;
  };
  return [(await suffices(rate)) && !(await suffices(rate - 1)) ? rate : Number.NaN];
}

const LIMITS = rowsOf(table("docs/settings.md", "### Limits of a server"), 2);
compare("docs/settings.md, limits", LIMITS, {
  "open connections": () => [plain.server.maxConnections],
  "new connections that wait to be accepted": async () => {
    const listen = mock.method(Server.prototype, "listen");
    await start([countingTool({ path: "listening" })]);
    listen.mock.restore();
    const options = listen.mock.calls[0]?.arguments[0] as ListenOptions | undefined;
    return [options?.backlog ?? 0];
  },
  "time of a TLS handshake": () => [DEADLINES.handshakeMs],
  "time from the first byte of a request until the end of its headers": () => [plain.server.headersTimeout],
  "time until a whole request has arrived": () => [plain.server.requestTimeout],
  "time until a caller has read an answer": async () => [await answerMs()],
  "idle time between two requests of a connection": () => [plain.server.keepAliveTimeout],
  "headers of a request": async ([count = 0]) => [
    await largest(count, async (n) => {
      const others = Array.from({ length: n - 1 }, (_, i) => [`a${i}`, ""] as const);
      return (await exchange(plain.url, requestText("GET", "/tools", others))).status === 200;
    }),
    plain.options.maxHeaderSize ?? 0,
  ],
  "size of one body": async ([bytes = 0]) => [await largestBody(bytes)],
  "values in the input of one call": () => [inputValuesLimit(undefined)],
  "attempts to match union branches in one call": () => [BASE_STEPS],
  "memory of bodies in flight (received, but not yet answered)": () => [plain.load().bodyBytes.most],
  // test/runtime/request-queue.test.ts holds servers to the next three.
  "requests of a connection that are handled at the same time": () => [1],
  "unanswered requests of a connection": () => [MAX_UNANSWERED],
  "requests that wait for an earlier answer on their connection, in the whole server": () => [MAX_PIPELINED],
  "answers that callers have not read": () => [MAX_UNREAD_BYTES],
  "runs of all tools at the same time": () => [plain.load().runs.most],
  "size of the replay memory": async () => [(await signedDefaults()).bound],
  "time of a call": () => [DEFAULT_TIMEOUT_MS],
  "slowest rate of a body": ([rate = 0]) => bodyRate(rate),
  "size of a refused call's body, up to which the server keeps the connection": async ([bytes = 0]) => [
    await largest(bytes, async (n) => {
      const { connection, response } = await answerTo(requestText("POST", "/no", [["Content-Length", `${n}`]]));
      connection.close();
      return response.headers.get("connection") !== "close";
    }),
  ],
  "size and time of the bytes that the server discards before it closes a connection": async ([bytes = 0, ms = 0]) => {
    const linger = nextTimer(ms);
    const { connection } = await answerTo(requestText("POST", "/no", [["Content-Length", `${8 * bytes}`]]));
    const socket = plain.sockets.find(({ remotePort }) => remotePort === connection.socket.localPort);
    assert.ok(socket !== undefined);
    connection.send(Buffer.alloc(4 * bytes));
    await until(() => socket.bytesRead >= bytes, "the documented bytes are taken");
    // It stops within what a socket reads at once.
    for (let read = 0; read !== socket.bytesRead; ) {
      read = socket.bytesRead;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.ok(socket.bytesRead < bytes + 1_048_576, `${socket.bytesRead} bytes are taken`);
    (await linger()).fire();
    await connection.closed();
    return [bytes, ms];
  },
});

// test/runtime/load.test.ts holds servers to them.
compare("docs/settings.md, load", rowsOf(table("docs/settings.md", "## `load`"), 2), {
  "rateLimit.windowMs": () => [DEFAULT_WINDOW_MS],
  "limits.queue": () => [DEFAULT_QUEUE],
  "limits.queueTimeoutMs": () => [DEFAULT_QUEUE_TIMEOUT_MS],
});

// test/runtime/shutdown.test.ts and class-hooks.test.ts hold servers to them.
compare("docs/deploy/README.md, Shutdown", rowsOf(table("docs/deploy/README.md", "### Steps"), 2), {
  "the listener closes": async ([, most = 0]) => [
    new Shutdown().limitMs - new Shutdown({ readinessDelayMs: 0 }).limitMs,
    await largest(most, (readinessDelayMs) => isDuration({ readinessDelayMs })),
  ],
  "unsent bodies": () => [LINGER_MS],
  "the drain limit": async ([, most = 0]) => [
    new Shutdown().limitMs - GRACE_MS,
    await largest(most, (drainMs) => isDuration({ drainMs })),
  ],
  "remaining calls": () => [GRACE_MS],
  "the last answers": () => [LINGER_MS],
  "shared resources": () => [CLOSE_LIMIT_MS],
});

// ---- docs/settings.md ----

const SETTINGS = "docs/settings.md";

/** A signed server that says what it took for settings that were left out. */
async function signedDefaults() {
  const tool = countingTool({ path: "signed" });
  const server = await start([tool], { config: signedConfig([tool.fqn]), admin: [[127, 0, 0, 1], 0] });
  const { body } = await exchange(server.adminUrl ?? "", requestText("GET", "/metrics"));
  const [, bound] = /^svc_replay_bound_bytes (\d+)$/m.exec(body.toString()) ?? assert.fail(body.toString());
  return { ttl: replayTtlOf(signedConfig([tool.fqn]), tool.fqn), bound: Number(bound) };
}

compare("docs/settings.md, the configuration", rowsOf(table(SETTINGS, "## Configuration file"), 2), {
  replay_cache_ttl_ms: async () => [(await signedDefaults()).ttl],
});

/** The defaults of the options in code. */
const OPTIONS = new Map(
  table(SETTINGS, "## Server")
    .map(([, , option = "", text = ""]) => [option, text] as const)
    .filter(([option]) => option !== "–"),
);

/** Milliseconds between two looks at a configuration, if they are about the expected ones. */
async function reloadIntervalMs(expected: number, options: BootstrapOptions = {}): Promise<number> {
  const path = join(directory, "config.json");
  writeFileSync(path, "{}", { mode: 0o600 });
  process.env.SVC_TOOLKIT_CONFIG_PATH = path;
  const from = timers.started.length;
  const server = await start([countingTool()], { config: ToolkitRuntimeConfig.fromEnv(), ...options });
  delete process.env.SVC_TOOLKIT_CONFIG_PATH;
  const interval = () => timers.started.slice(from).find((each) => each === expected);
  await until(() => interval() !== undefined, "it waits to look again");
  await server.close();
  return interval() ?? 0;
}

compare("docs/settings.md, in code", OPTIONS, {
  reloadIntervalMs: async ([ms = 0]) => [await reloadIntervalMs(ms)],
});

describe("an option in place of its default", () => {
  it("minBodyBytesPerSecond", async () => {
    assert.deepEqual(await bodyRate(1_000, { minBodyBytesPerSecond: 1_000 }), [1_000]);
  });

  it("reloadIntervalMs", async () => {
    assert.equal(await reloadIntervalMs(7_000, { reloadIntervalMs: 7_000 }), 7_000);
  });
});

describe("docs/settings.md", () => {
  it("names every option of bootstrap", () => {
    assert.deepEqual([...OPTIONS.keys()].sort(), Object.keys(BOOTSTRAP_OPTIONS).sort());
  });

  // test/runtime/bootstrap.test.ts starts a server there.
  it("contains the default address", () => {
    const { host, port } = DEFAULT_ENDPOINT;
    assert.equal(rowsOf(table(SETTINGS, "## Server"), 3).get("BIND_ADDR"), `${host}:${port}`);
  });
});

describe("docs/error-codes.md", () => {
  it("contains the time limit of a claim", async () => {
    const text = readFileSync(join(ROOT, "docs/error-codes.md"), "utf8");
    const [documented] = quantities(
      /did not answer within ([\d.]+ s)/.exec(text)?.[1] ?? assert.fail("no time of a claim"),
    );
    const tool = countingTool();
    const replayStore = { scope: "process", claim: () => new Promise<never>(() => {}) } as const;
    const earlier = new Set(timers.waiting);
    const { url } = await start([tool], { config: signedConfig([tool.fqn]), replayStore });
    const response = echoCall(tool, "1").send(url);
    const late = () => timers.waiting.find((timer) => !earlier.has(timer) && timer.ms === documented);
    await until(() => late() !== undefined, "a timer of the claim");
    late()?.fire();
    assert.equal((await response).status, 503);
  });
});
