/** Tools in a fastify application of one's own, and an author's routes in a server of ours (`svc-runtime/fastify`). */

import assert from "node:assert/strict";
import { createServer } from "node:http2";
import { describe, it } from "node:test";
import cors from "@fastify/cors";
import helmet from "@fastify/helmet";
import rateLimit from "@fastify/rate-limit";
import swagger from "@fastify/swagger";
import { type MeterProvider, metrics } from "@opentelemetry/api";
import * as successor from "@prometheus-io/client";
import * as promClient from "prom-client";
import { type FastifyInstance, fastify, svcTools } from "#runtime/fastify.js";
import { type ClassContext, InvalidInput, InvocationAborted, ReplayMemory, StartupError } from "#runtime/index.js";
import { atEnd } from "../teardown.js";
import { mounted, type Setup } from "./mounted-tools.js";
import { exchange, expectError, RawConnection, requestText } from "./raw.js";
import {
  alice,
  type CountingTool,
  countingTool,
  echoCall,
  echoed,
  expectResult,
  gate,
  keptLog,
  SignedCall,
  sendPlain,
  serveFor,
  signedConfig,
  UNSIGNED,
  until,
  waitingTool,
} from "./tools.js";

const signed = (tools: readonly CountingTool[]) => ({ config: signedConfig(tools.map(({ fqn }) => fqn)) });
const json = (body: string): [string, string][] => [
  ["Content-Type", "application/json"],
  ["Content-Length", `${body.length}`],
];

describe("tools in an application", () => {
  it("log through its logger with its request ids, add metrics to its registry, and no operations to its document", async () => {
    const lines: { msg: string; request?: string; reqId?: string }[] = [];
    const app = fastify({
      logger: { level: "debug", stream: { write: (line: string) => lines.push(JSON.parse(line)) } },
      genReqId: () => "from-the-application",
    });
    await app.register(swagger, { openapi: {} });
    app.get("/own", { schema: { summary: "Own" } }, async () => "own");
    const registry = new promClient.Registry();
    const tool = countingTool({ path: "echo" });
    await app.register(svcTools, { tools: [tool.class], config: UNSIGNED, registry, prefix: "/tools" });
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    atEnd(() => app.close());
    const body = JSON.stringify({ value: 1 });
    const { headers } = await sendPlain(url, `/tools${tool.target}`, body);
    assert.equal(headers.get("x-request-id"), "from-the-application");
    assert.ok(lines.some(({ msg }) => msg === "mounted"));
    assert.ok(
      lines.some((line) => line.request === "from-the-application"),
      JSON.stringify(lines),
    );
    assert.match(await registry.metrics(), /svc_calls_total\{tool="[^"]+",status="200",code="ok"\} 1/);
    assert.match(await registry.metrics(), /svc_ready 1/);
    const { paths } = (app as unknown as { swagger(): { paths: object } }).swagger();
    assert.deepEqual(Object.keys(paths), ["/own"]);
    const second = fastify();
    await assert.rejects(
      async () => second.register(svcTools, { tools: [tool.class], config: UNSIGNED, registry }),
      /registered/,
    );
  });

  it("report failed calls to its onError hooks, once each, and answer them by the protocol", async () => {
    const [thrown, outputs] = [new Error("canary"), [1, { ok: 1 }]];
    const never = new Promise(() => {});
    const failures: Record<string, () => unknown> = {
      "1": () => Promise.reject(thrown),
      "2": () => Promise.reject("text"),
      "3": () => outputs,
      "4": () => never,
      "5": () => Promise.reject(new InvalidInput("value", "expected less")),
    };
    const health = () => Promise.reject(thrown);
    const invoke = ({ value }: { value: unknown }) => failures[String(value)]?.();
    const tool = countingTool({ path: "echo", timeout: 300, health, invoke });
    const seen: unknown[] = [];
    const { url } = await mounted([tool], {
      ...signed([tool]),
      before: (app) => {
        app.setErrorHandler((_error, _request, reply) => reply.code(418).send("mine"));
        app.addHook("onError", async (request, _reply, error) => void seen.push(request.routeOptions.url, error));
      },
    });
    const call = async (value: string, status: number, code: string) => {
      const sent = echoCall(tool, value);
      for (let i = 0; i < 2; i++) expectError(await sent.send(url), status, code);
      return seen.splice(0);
    };
    assert.deepEqual(await call("1", 500, "tool_invocation_failed"), ["/echo/invoke", thrown]);
    const [, wrapped] = await call("2", 500, "tool_invocation_failed");
    assert.ok(wrapped instanceof Error && wrapped.cause === "text");
    assert.match(String((await call("3", 500, "output_serialization_error"))[1]), /output_serialization_error: /);
    assert.deepEqual((await call("4", 504, "tool_invocation_timeout"))[1], new InvocationAborted("timeout"));
    assert.deepEqual(await call("5", 422, "input_deserialization_error"), []);
    assert.equal((await fetch(`${url}/echo/health`)).status, 500);
    assert.deepEqual(seen.splice(0), ["/echo/health", thrown]);
  });

  it("answer 500 without a message when a hook fails after the call", async () => {
    const tool = countingTool({ path: "echo", invoke: () => Promise.reject(new Error("canary")) });
    for (const name of ["onError", "onSend"] as const) {
      const before = (app: FastifyInstance) =>
        app.addHook(name as "onSend", async () => Promise.reject(new Error("mine")));
      const { url } = await mounted([tool], { before });
      const answer = await sendPlain(url, tool.target, JSON.stringify({ value: 1 }));
      expectError(answer, 500, name === "onSend" ? "internal_error" : "tool_invocation_failed");
    }
  });

  for (const [library, { Counter, Registry }] of [
    ["prom-client", promClient],
    ["@prometheus-io/client", successor],
  ] as const)
    it(`get the application's registry of ${library} and a meter for their own metrics`, async () => {
      const counted: unknown[] = [];
      const meter = { createCounter: (name: string) => ({ add: (value: number) => counted.push([name, value]) }) };
      metrics.setGlobalMeterProvider({ getMeter: (name: string) => ({ name, ...meter }) } as unknown as MeterProvider);
      atEnd(() => metrics.disable());
      const tool = countingTool({ path: "echo" });
      const got: ClassContext[] = [];
      Object.assign(tool.class, {
        create({ registry, meter }: ClassContext) {
          const own = new Counter({ name: "own_total", help: "Own.", registers: [] });
          registry?.registerMetric(own);
          own.inc();
          meter?.createCounter("own").add(1);
        },
        close: (context: ClassContext) => got.push(context),
      });
      const registry = new Registry();
      const { app } = await mounted([tool], { registry });
      assert.match(await registry.metrics(), /^own_total 1$/m);
      assert.match(await registry.metrics(), /^svc_ready 1$/m);
      assert.deepEqual(counted, [["own", 1]]);
      await app.close();
      const [{ meter: named, registry: given } = {}] = got;
      assert.equal((named as { readonly name?: string } | undefined)?.name, tool.fqn);
      assert.equal(given, registry);
      metrics.disable();
      const plain = await mounted([tool]);
      await plain.app.close();
      assert.deepEqual(Object.keys(got[1] ?? {}), ["log"]);
    });

  it("are served signed, with replay protection, under a prefix; other routes are unchanged", async () => {
    const tool = countingTool({ path: "echo" });
    const { url } = await mounted([tool], { ...signed([tool]), prefix: "/tools" });
    const call = echoCall({ ...tool, target: `/tools${tool.target}` }, "1");
    for (let i = 0; i < 2; i++) expectResult(await call.send(url), echoed("1"), call);
    assert.equal(tool.calls.invoked, 1);

    const own = '{"a":1}';
    const answer = await exchange(url, requestText("POST", "/own", json(own), own), "POST");
    assert.deepEqual([answer.status, answer.body.toString()], [200, `{"got":${own}}`]);
    assert.equal((await exchange(url, requestText("GET", "/none"))).status, 404);
    const listing = await exchange(url, requestText("GET", "/tools/tools"));
    assert.equal(listing.body.toString(), '["echo"]');
    for (const path of ["/tools/health", "/tools/echo/health"]) {
      assert.equal((await exchange(url, requestText("HEAD", path), "HEAD")).status, 200);
    }
    const meta = await exchange(url, requestText("GET", "/tools/echo/meta"));
    assert.equal((JSON.parse(meta.body.toString()) as { url: string }).url, "http://localhost/tools/echo/");
  });

  it("refuse an unknown caller before a byte of the body is read, whatever its type", async () => {
    const tool = countingTool({ path: "echo" });
    const { url } = await mounted([tool], signed([tool]));
    const connection = await RawConnection.open(url);
    connection.send(
      requestText("POST", tool.target, [
        ["Content-Type", "image/png"],
        ["Content-Length", "1000000"],
      ]),
    );
    expectError(await connection.response("POST"), 401, "auth_failed");
    connection.close();
    const stranger = { ...alice, seed: Buffer.alloc(32, 66) };
    expectError(await echoCall(tool, "1", { leader: stranger }).send(url), 401, "auth_failed");
    assert.equal(tool.calls.constructed, 0);
  });

  it("leave differently spelled paths and unknown methods to the application", async () => {
    const tool = countingTool({ path: "sum" });
    const { url } = await mounted([tool], {
      before: (app) => app.setNotFoundHandler((_request, reply) => reply.code(404).send({ whose: "mine" })),
    });
    for (const path of ["/s%75m/invoke", "/sum/invok%65"]) {
      const { status, body } = await sendPlain(url, path, '{"value":1}');
      assert.deepEqual([status, body.toString()], [404, '{"whose":"mine"}'], path);
    }
    const wrong = await exchange(url, requestText("PUT", "/sum/invoke", [["Content-Length", "0"]]), "PUT");
    expectError(wrong, 405, "method_not_allowed");
    assert.equal(wrong.headers.get("allow"), "POST");
    assert.equal((await exchange(url, requestText("OPTIONS", "/sum/invoke"), "OPTIONS")).status, 404);
    assert.equal(tool.calls.constructed, 0);
  });

  it("work with helmet, cors and rate-limit, whose headers and refusals apply to their answers", async () => {
    const tool = countingTool({ path: "echo" });
    const origin = "https://app.example";
    const { url } = await mounted([tool], {
      allowedOrigins: [origin],
      before: async (app) => {
        await app.register(helmet);
        await app.register(cors, { origin });
        await app.register(rateLimit, { max: 3, timeWindow: 600_000 });
      },
    });
    const preflight = await exchange(
      url,
      requestText("OPTIONS", tool.target, [
        ["Origin", origin],
        ["Access-Control-Request-Method", "POST"],
      ]),
      "OPTIONS",
    );
    assert.equal(preflight.status, 204);
    for (let left = 2; left >= 0; left--) {
      const answer = await sendPlain(url, tool.target, '{"value":1}', ["Origin", origin]);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("x-frame-options"), "SAMEORIGIN");
      assert.equal(answer.headers.get("access-control-allow-origin"), origin);
      assert.equal(answer.headers.get("x-ratelimit-remaining"), `${left}`);
      assert.equal(answer.headers.get("content-length"), `${answer.body.length}`);
    }
    assert.equal((await sendPlain(url, tool.target, '{"value":1}')).status, 429);
    assert.equal(tool.calls.invoked, 3);
  });

  it("answer app.inject, unsigned and signed", async () => {
    const [plain, safe] = [countingTool({ path: "plain" }), countingTool({ path: "safe" })];
    const { app } = await mounted([plain]);
    const answer = await app.inject({ method: "POST", url: plain.target, payload: { value: [1, "é"] } });
    assert.equal(answer.statusCode, 200);
    assert.deepEqual(answer.payload, '{"ok":{"value":[1,"é"]}}');
    const { app: other } = await mounted([safe], signed([safe]));
    const call = echoCall(safe, "2");
    const headers = Object.fromEntries(call.headers);
    const first = await other.inject({ method: "POST", url: safe.target, headers, payload: call.body });
    assert.deepEqual([first.statusCode, first.rawPayload], [200, Buffer.from(echoed("2"))]);
    assert.ok(first.headers["x-svc-tool-signature"] !== undefined);
    assert.equal((await other.inject({ method: "POST", url: safe.target, payload: "{}" })).statusCode, 401);
    assert.equal((await other.inject({ method: "GET", url: "/safe/health" })).statusCode, 200);
  });

  it("end with the application: running calls are answered, new ones refused, tools aborted at the drain limit", async () => {
    const { tool, open } = waitingTool({ path: "slow" });
    const { app, url, log } = await mounted([tool]);
    const running = sendPlain(url, tool.target, '{"value":1}');
    await until(() => tool.calls.invoked === 1, "it runs");
    const kept = await RawConnection.open(url);
    const closed = app.close();
    await until(() => log.entries.some(({ message }) => message === "stopping"), "it stops");
    open();
    expectResult(await running, echoed("1"));
    kept.close();
    await closed;
    assert.ok(log.entries.some(({ message }) => message === "stopped"));
    // The default of fastify, which close() is subject to.
    const warned = log.entries.find(({ message }) => message.includes("pluginTimeout"));
    assert.deepEqual(warned?.fields, { pluginTimeout: 10_000, shutdownMs: 27_000 });

    const stubborn = countingTool({
      path: "stubborn",
      invoke: (_input, { signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
    });
    const other = await mounted([stubborn], { shutdown: { drainMs: 0 } });
    const cut = sendPlain(other.url, stubborn.target, '{"value":1}');
    await until(() => stubborn.calls.invoked === 1, "it runs");
    await other.app.close();
    expectError(await cut, 503, "tool_invocation_interrupted");
  });

  it("survive a hook that sets an invalid header, and keep other headers of hooks", async () => {
    const tool = countingTool({ path: "echo" });
    const { url, log } = await mounted([tool], {
      before: (app) =>
        app.addHook("onRequest", async (request, reply) => {
          reply.header("x-lang", (request.query as { l?: string }).l ?? "en").header("vary", "Origin");
        }),
    });
    const broken = await sendPlain(url, `${tool.target}?l=%0A`, '{"value":1}');
    assert.deepEqual([broken.status, broken.body.toString()], [500, '{"error":"internal_error"}']);
    assert.ok(log.entries.some(({ level, message }) => level === "error" && message === "sending an answer failed"));
    const answer = await sendPlain(url, tool.target, '{"value":1}');
    assert.equal(answer.status, 200);
    assert.deepEqual([answer.headers.get("x-lang"), answer.headers.get("vary")], ["en", "Origin, Accept"]);
  });

  it("are not subject to the application's time limit for handlers", async () => {
    const { tool, open } = waitingTool({ path: "slow" });
    const { app, url } = await mounted([tool], { prefix: "/a/", app: fastify({ handlerTimeout: 50 }) });
    const running = sendPlain(url, `/a${tool.target}`, '{"value":1}');
    await until(() => tool.calls.invoked === 1, "it runs");
    await new Promise((resolve) => setTimeout(resolve, 100));
    const injected = app.inject({ method: "POST", url: `/a${tool.target}`, payload: { value: 1 } });
    await until(() => tool.calls.invoked === 2, "both run");
    const closed = app.close();
    open();
    expectResult(await running, echoed("1"));
    assert.equal((await injected).statusCode, 200);
    await closed;
  });

  it("of several registrations stop together: the drain time of all starts at once", async () => {
    const { promise, open } = gate();
    const invoke = () => promise.then(() => ({ ok: { value: 1 } }));
    const [a, b] = [countingTool({ path: "a", invoke }), countingTool({ path: "b", invoke })];
    const logs = [keptLog(), keptLog()] as const;
    const { app, url } = await mounted([a], {
      prefix: "/one",
      logger: logs[0],
      before: (app) =>
        void app.register(svcTools, { tools: [b.class], prefix: "/two", logger: logs[1], config: UNSIGNED }),
    });
    const answers = ["/one/a/invoke", "/two/b/invoke"].map((path) => sendPlain(url, path, '{"value":1}'));
    await until(() => a.calls.invoked + b.calls.invoked === 2, "both run");
    const closed = app.close();
    const stopping = () => logs.every(({ entries }) => entries.some(({ message }) => message === "stopping"));
    await until(stopping, "both are stopping while both run", 10_000);
    open();
    for (const answer of answers) assert.equal((await answer).status, 200);
    await closed;
  });

  it("of one tool can share a store, so a signed call runs once, also with a separate server", async () => {
    const tool = countingTool({ path: "echo" });
    const shared = { ...signed([tool]), replayStore: new ReplayMemory() };
    const { app, url } = await mounted([tool], {
      ...shared,
      prefix: "/one",
      before: (app) =>
        void app.register(svcTools, { tools: [tool.class], logger: keptLog(), ...shared, prefix: "/two" }),
    });
    const beside = await serveFor([tool], shared);
    const call = echoCall(tool, "1");
    for (const [at, prefix] of [
      [url, "/one"],
      [url, "/two"],
      [beside.url, ""],
    ] as const) {
      const here = new SignedCall(`${prefix}${tool.target}`, call.body, call.hash, { nonce: call.nonce });
      expectResult(await here.send(at), echoed("1"), here);
    }
    assert.equal(tool.calls.invoked, 1);
    await app.close();
  });

  for (const [what, make, message] of [
    [
      "a path that the router reads as a pattern",
      () => mounted([countingTool({ path: "o:dd" })]),
      /^path "\/o:dd\/invoke": expected letters/,
    ],
    ["no tools", () => mounted([]), /expected at least one tool/],
    [
      "one signed tool at two prefixes",
      async () => {
        const tool = countingTool();
        const app = fastify();
        const options = { tools: [tool.class], logger: keptLog(), ...signed([tool]) };
        await app.register(svcTools, { ...options, prefix: "/one" });
        await app.register(svcTools, { ...options, prefix: "/two" });
      },
      /^xyz\S+ is served twice in this process/,
    ],
    [
      "an application of HTTP/2",
      async () => {
        const app = fastify({
          http2: true,
          serverFactory: (handler: never) => createServer(handler as never) as never,
        } as never);
        await app.register(svcTools as never, { tools: [countingTool().class] } as never);
      },
      /^svcTools: expected an HTTP\/1\.1 application/,
    ],
  ] as const) {
    it(`are refused in an application with ${what}`, async () => {
      await assert.rejects(make, (error) => error instanceof StartupError && message.test(error.message));
    });
  }
});

it("an option for the delay of readiness is refused, because the application decides about it", async () => {
  await assert.rejects(
    mounted([countingTool()], { shutdown: { readinessDelayMs: 1 } }),
    /^RangeError: shutdown\.readinessDelayMs/,
  );
});

describe("configure(app)", () => {
  it("adds the author's routes, whose bodies are parsed and checked", async () => {
    const { url } = await serveFor([countingTool({ path: "echo" })], {
      configure: (app: FastifyInstance) => {
        const schema = { body: { type: "object", required: ["a"], properties: { a: { type: "integer" } } } } as const;
        app.post("/own", { schema }, async (request) => ({ got: request.body }));
      },
    });
    for (const [body, status] of [
      ['{"a":1}', 200],
      ['{"a":"x"}', 400],
    ] as const) {
      assert.equal((await exchange(url, requestText("POST", "/own", json(body), body), "POST")).status, status);
    }
  });

  it("has its routes answered during a shutdown, and before a refusal pipelined behind them", async () => {
    const open = gate();
    const waiting: string[] = [];
    const server = await serveFor([countingTool()], {
      configure: (app: FastifyInstance) =>
        app.get("/wait", async () => {
          waiting.push("waits");
          await open.promise;
          return "mine";
        }),
    });
    const connection = await RawConnection.open(server.url);
    connection.send(Buffer.concat([requestText("GET", "/wait"), Buffer.from("GARBAGE\r\n\r\n")]));
    await until(() => waiting.length === 1, "it waits");
    const closed = server.close();
    await until(() => server.log.some(({ message }) => message === "stopping"), "it stops");
    open.open();
    assert.equal((await connection.response()).body.toString(), "mine");
    connection.close();
    assert.deepEqual((await closed).cut, 0);
  });

  it("is closed when the start fails, and errors during its close are logged", async () => {
    const closed: string[] = [];
    const configure = (app: FastifyInstance) => {
      app.addHook("onClose", async () => {
        closed.push("closed");
        throw new Error("canary");
      });
    };
    const server = await serveFor([countingTool()], { configure });
    const { port } = new URL(server.url);
    const address = [[127, 0, 0, 1], Number(port)] as const;
    await assert.rejects(serveFor([countingTool()], { configure, ...{ address } }), /EADDRINUSE/);
    assert.equal(closed.length, 1);
    await server.close();
    assert.equal(closed.length, 2);
    assert.ok(server.log.some(({ message }) => message === "closing the application failed"));
  });

  it("that throws, or defines a route of a tool, is a start-up error", async () => {
    const tool = countingTool({ path: "echo" });
    const boom = new Error("boom");
    const fails = (configure: Setup) => serveFor([tool], { configure: configure as (app: object) => unknown });
    await assert.rejects(
      fails(() => {
        throw boom;
      }),
      boom,
    );
    await assert.rejects(
      fails((app) => app.post(tool.target, async () => "mine")),
      /already declared/,
    );
  });
});
