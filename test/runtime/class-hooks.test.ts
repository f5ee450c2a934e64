/** `static create()` and `static close()`: what all calls of a process, or of a thread, share. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fastify, svcTools } from "#runtime/fastify.js";
import { type BootstrapOptions, serve } from "#runtime/index.js";
import { CLOSE_LIMIT_MS, createClasses } from "#runtime/server/call/run/class-hooks.js";
import { run } from "./child.js";
import {
  type Behaviour,
  countingTool,
  echoed,
  expectResult,
  gate,
  keptLog,
  sendPlain,
  UNSIGNED,
  until,
} from "./tools.js";

interface Hooks {
  create?(): unknown;
  close?(): unknown;
}

/** A tool whose class writes down what is done to it. */
function hookedTool({ create, close }: Hooks = {}, behaviour: Behaviour = {}) {
  const done: string[] = [];
  const tool = countingTool({
    path: "t",
    ...behaviour,
    construct: () => void done.push("new"),
  });
  Object.assign(tool.class, {
    create: async () => {
      done.push("create");
      await create?.();
    },
    close: async () => {
      done.push("close");
      await close?.();
    },
  });
  return { ...tool, done };
}

type Hooked = ReturnType<typeof hookedTool>;

async function start(tools: readonly Hooked[], options: BootstrapOptions = {}) {
  const log = keptLog();
  const server = await serve(
    tools.map((tool) => tool.class),
    { address: [[127, 0, 0, 1], 0], config: UNSIGNED, logger: log, ...options },
  );
  return { server, log };
}

describe("static create and close", () => {
  it("run once, before and after all calls, each of which has its own instance", async () => {
    const tool = hookedTool();
    const { server } = await start([tool]);
    assert.deepEqual(tool.done, ["create"]);
    for (const value of ["1", "2"]) {
      expectResult(await sendPlain(server.url, tool.target, `{"value":${value}}`), echoed(value));
    }
    await server.close();
    assert.deepEqual(tool.done, ["create", "new", "new", "close"]);
  });

  it("the server listens after create has ended, and close runs after the last call", async () => {
    const [created, answered] = [gate(), gate()];
    const tool = hookedTool(
      { create: () => created.promise },
      {
        invoke: async () => {
          await answered.promise;
          tool.done.push("returned");
          return { ok: { value: 1 } };
        },
      },
    );
    let listens = false;
    const starting = start([tool]).then((started) => {
      listens = true;
      return started;
    });
    await until(() => tool.done.length === 1, "create runs");
    assert.equal(listens, false);
    created.open();
    const { server, log } = await starting;
    const call = sendPlain(server.url, tool.target, '{"value":1}');
    await until(() => tool.calls.invoked === 1, "it runs");
    const closed = server.close();
    await until(() => log.entries.some(({ message }) => message === "stopping"), "it stops");
    answered.open();
    expectResult(await call, echoed("1"));
    await closed;
    assert.deepEqual(tool.done, ["create", "new", "returned", "close"]);
  });

  it("a create that throws is a start-up error with its message; classes that were created are closed", async () => {
    const good = hookedTool({}, { path: "good" });
    const bad = hookedTool({
      create: () => {
        throw new Error("no database at db:5432");
      },
    });
    await assert.rejects(start([good, bad]), {
      name: "StartupError",
      message: `create() of ${bad.fqn} failed: no database at db:5432`,
    });
    assert.deepEqual([good.done, bad.done], [["create", "close"], ["create"]]);
    // It may be started again.
    await assert.rejects(start([bad]), { name: "StartupError" });
    assert.deepEqual(bad.done, ["create", "create"]);
  });

  it("a failed create is reported although another one never ends", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const hanging = gate();
    const tools = [
      hookedTool({ create: () => hanging.promise }, { path: "hanging" }),
      hookedTool({}, { path: "good" }),
      hookedTool({ create: () => Promise.reject(new Error("no database")) }),
    ] as const;
    const hooked = tools.map((tool) => ({ fqn: tool.fqn, tool: tool.class }));
    const failed = assert.rejects(createClasses(hooked, { log: keptLog() }), /no database$/);
    const settled = () => new Promise((done) => setImmediate(done));
    await settled();
    assert.deepEqual(tools[1].done, ["create", "close"]);
    t.mock.timers.tick(CLOSE_LIMIT_MS);
    await failed;
    assert.deepEqual(tools[0].done, ["create"]);
    // What it made is not lost when it ends after all.
    hanging.open();
    await settled();
    assert.deepEqual(tools[0].done, ["create", "close"]);
  });

  it("a close that throws is logged, and the server is closed", async () => {
    const tool = hookedTool({
      close: () => {
        throw new Error("the pool is stuck");
      },
    });
    const { server, log } = await start([tool]);
    const { cut } = await server.close();
    assert.equal(cut, 0);
    const line = log.entries.find(({ message }) => message === "close() of the tool failed");
    assert.deepEqual([line?.level, line?.fields.tool], ["error", tool.fqn]);
    assert.match(String(line?.fields.err), /the pool is stuck/);
  });

  it("a close that does not end is abandoned after its limit, with a warning", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const tool = hookedTool({ close: () => new Promise(() => {}) });
    const log = keptLog();
    const close = await createClasses([{ fqn: tool.fqn, tool: tool.class }], { log });
    const closed = close();
    // The timer is set once `close` runs.
    for (let i = 0; i < 10; i++) await Promise.resolve();
    t.mock.timers.tick(CLOSE_LIMIT_MS);
    await closed;
    assert.deepEqual(
      log.entries.map(({ level, message }) => [level, message]),
      [["warn", "close() of the tool exceeded its time limit; the shutdown continues without it"]],
    );
  });

  it("a slow create is logged with its tool", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const created = gate();
    const tool = hookedTool({ create: () => created.promise });
    const log = keptLog();
    const creating = createClasses([{ fqn: tool.fqn, tool: tool.class }], { log });
    for (let i = 0; i < 10; i++) await Promise.resolve();
    t.mock.timers.tick(10_000);
    created.open();
    await (await creating)();
    assert.deepEqual(
      log.entries.map(({ message, fields }) => [message, fields.tool]),
      [["the server is not started yet: create() of the tool has not returned", tool.fqn]],
    );
  });

  it("two servers of one class in a process share it: the first creates, the last closes", async () => {
    const tool = hookedTool();
    const [one, two] = await Promise.all([start([tool]), start([tool])]);
    assert.deepEqual(tool.done, ["create"]);
    await one.server.close();
    expectResult(await sendPlain(two.server.url, tool.target, '{"value":1}'), echoed("1"));
    await two.server.close();
    assert.deepEqual(tool.done, ["create", "new", "close"]);
    const { server } = await start([tool]);
    await server.close();
    assert.deepEqual(tool.done, ["create", "new", "close", "create", "close"]);
  });

  it("of a mounted tool run with the application", async () => {
    const tool = hookedTool();
    const app = fastify();
    await app.register(svcTools, { tools: [tool.class], config: UNSIGNED, logger: keptLog() });
    assert.deepEqual(tool.done, ["create"]);
    await app.close();
    assert.deepEqual(tool.done, ["create", "close"]);
    const bad = hookedTool({
      create: () => {
        throw new Error("no database");
      },
    });
    const other = fastify();
    other.register(svcTools, { tools: [bad.class], config: UNSIGNED, logger: keptLog() });
    await assert.rejects(async () => other.ready(), { message: `create() of ${bad.fqn} failed: no database` });
  });
});

it("a signal ends a process whose create does not end", async () => {
  // Five seconds are over at once.
  const child = run(
    `const { setTimeout } = globalThis;
    globalThis.setTimeout = (callback, ms, ...more) => setTimeout(callback, ms === 5_000 ? 1 : ms, ...more);
    await bootstrap(Object.assign(class extends One {}, {
      create() { console.log("creating"); setInterval(() => {}, 1000); return new Promise(() => {}); }
    }));`,
    { env: { BIND_ADDR: "127.0.0.1:0" } },
  );
  await until(() => child.stdout().includes("creating"), "create() has begun");
  child.process.kill("SIGTERM");
  const { code, stderr } = await child.ended;
  assert.equal(code, 143);
  assert.match(stderr, /^cannot start: received SIGTERM while starting, and the start did not end within 5 s$/m);
});
