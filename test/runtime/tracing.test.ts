/** Spans of calls, by the OpenTelemetry API and an SDK that the application has registered. */

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { channel } from "node:diagnostics_channel";
import { after, describe, it } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import {
  type Context,
  type ContextManager,
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { Bridge } from "#generator/mcp/bridge.js";
import { mcpServer } from "#generator/mcp/mcp-server.js";
import { run, stop } from "./child.js";
import { alice, countingTool, echoCall, echoed, expectResult, sendPlain, serveFor, serveSigned } from "./tools.js";

/** What @opentelemetry/context-async-hooks does. */
class Contexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();
  active = () => this.#storage.getStore() ?? ROOT_CONTEXT;
  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    of: Context,
    work: F,
    self?: ThisParameterType<F>,
    ...args: A
  ) {
    return this.#storage.run(of, () => work.apply(self, args));
  }
  bind = <T>(_context: Context, target: T): T => target;
  enable = () => this;
  disable = () => this;
}

/** What W3CTraceContextPropagator of @opentelemetry/core does, as far as a server needs it. */
const traceparent: TextMapPropagator = {
  inject: (of, carrier, setter) => {
    const { traceId, spanId } = trace.getSpanContext(of) ?? {};
    if (traceId !== undefined) setter.set(carrier, "traceparent", `00-${traceId}-${spanId}-01`);
  },
  fields: () => ["traceparent"],
  extract: (into, carrier, getter) => {
    const [, traceId = "", spanId = ""] =
      /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/.exec(String(getter.get(carrier, "traceparent"))) ?? [];
    if (traceId === "") return into;
    return trace.setSpanContext(into, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
  },
};

const exporter = new InMemorySpanExporter();
context.setGlobalContextManager(new Contexts());
propagation.setGlobalPropagator(traceparent);
/** A processor that fails for the spans that a test names. */
let fails: ((event: "start" | "end", name: string) => boolean) | undefined;
const failing = (event: "start" | "end", { name }: { readonly name: string }) => {
  if (fails?.(event, name)) throw new Error("the tracer is broken");
};
const broken: SpanProcessor = {
  onStart: (span) => failing("start", span),
  onEnd: (span) => failing("end", span),
  forceFlush: async () => {},
  shutdown: async () => {},
};
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter), broken] }));
after(() => {
  context.disable();
  propagation.disable();
  trace.disable();
});

/** The spans of what was done, by name. */
async function spansOf(work: () => Promise<unknown>): Promise<Map<string, ReadableSpan>> {
  exporter.reset();
  await work();
  return new Map(exporter.getFinishedSpans().map((span) => [span.name, span]));
}

const PARENT = ["traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"] as const;

describe("a call is traced", () => {
  it("is a child of its caller's span, and the tool's own spans are its children", async () => {
    const tool = countingTool({
      fqn: "xyz.test.traced@1",
      path: "traced",
      invoke: async ({ value }) => {
        await new Promise((resolve) => setImmediate(resolve));
        trace.getTracer("tool").startSpan("query").end();
        return { ok: { value } };
      },
    });
    const { url } = await serveFor([tool]);
    const spans = await spansOf(() => sendPlain(url, tool.target, '{"value":1}', PARENT, ["X-Request-Id", "7"]));
    const [server, own, query] = ["POST /traced/invoke", `execute_tool ${tool.fqn}`, "query"].map(
      (name) => spans.get(name) ?? assert.fail(name),
    );
    assert.equal(spans.size, 3);
    assert.equal(server?.kind, SpanKind.SERVER);
    assert.equal(server?.spanContext().traceId, "0af7651916cd43dd8448eb211c80319c");
    assert.equal(server?.parentSpanContext?.spanId, "b7ad6b7169203331");
    assert.deepEqual(server?.attributes, {
      "http.request.method": "POST",
      "http.route": "/traced/invoke",
      "url.path": "/traced/invoke",
      "url.scheme": "http",
      "svc.tool": tool.fqn,
      "svc.request_id": "7",
      "http.response.status_code": 200,
    });
    assert.equal(server?.status.code, SpanStatusCode.UNSET);
    assert.deepEqual(own?.attributes, {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": tool.fqn,
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": "7",
    });
    assert.equal(own?.parentSpanContext?.spanId, server?.spanContext().spanId);
    assert.equal(query?.parentSpanContext?.spanId, own?.spanContext().spanId);
  });

  it("has no parent without a caller's span; a failure has its code but not the error", async () => {
    const tool = countingTool({ path: "failing", invoke: () => assert.fail("canary") });
    const { url } = await serveFor([tool]);
    const spans = await spansOf(() => sendPlain(url, tool.target, '{"value":1}'));
    const server = spans.get("POST /failing/invoke");
    assert.equal(server?.parentSpanContext, undefined);
    for (const span of [server, spans.get(`execute_tool ${tool.fqn}`)]) {
      assert.equal(span?.attributes["error.type"], "tool_invocation_failed");
      assert.deepEqual(span?.status, { code: SpanStatusCode.ERROR });
      assert.deepEqual(span?.events, []);
    }
    assert.equal(server?.attributes["http.response.status_code"], 500);
  });

  it("contains the caller if signed, and whether it was a retry; a refusal is not a server error", async () => {
    const tool = countingTool({ path: "signed" });
    const { url } = await serveSigned([tool]);
    const call = echoCall(tool, "1");
    await spansOf(() => call.send(url));
    const retry = await spansOf(() => call.send(url));
    assert.deepEqual([...retry.keys()], ["POST /signed/invoke"]);
    const { attributes } = retry.get("POST /signed/invoke") ?? assert.fail();
    assert.deepEqual([attributes["svc.leader_id"], attributes["svc.replayed"]], ["alice", true]);
    const refused = await spansOf(() => sendPlain(url, tool.target, "{}"));
    const span = refused.get("POST /signed/invoke");
    assert.deepEqual([span?.attributes["error.type"], span?.status.code], ["auth_failed", SpanStatusCode.UNSET]);
  });

  it("is part of an active span, such as one of an instrumentation of node:http", async () => {
    const tool = countingTool({ path: "inside" });
    const spans = await spansOf(async () => {
      const { Observers } = await import("#runtime/server/call/observers.js");
      const { loadTracing } = await import("#runtime/server/observe/tracing.js");
      const { ServedTool } = await import("#runtime/server/call/run/served-tool.js");
      const { keptLog } = await import("./tools.js");
      const tracing = (await loadTracing("http", keptLog())) ?? assert.fail("registered");
      const outer = trace.getTracer("http").startSpan("outer", { kind: SpanKind.SERVER });
      context.with(trace.setSpan(ROOT_CONTEXT, outer), () => {
        const request = { id: "1", peer: () => undefined, headers: { [PARENT[0]]: PARENT[1] } };
        const observers = new Observers([tracing], keptLog());
        const call = observers.begin(new ServedTool(tool.class), request, keptLog());
        call?.end({ status: 200, headers: [], body: Buffer.alloc(0) });
      });
      outer.end();
    });
    const [own, outer] = [spans.get("POST /inside/invoke"), spans.get("outer")];
    assert.equal(own?.kind, SpanKind.INTERNAL);
    assert.equal(own?.parentSpanContext?.spanId, outer?.spanContext().spanId);
  });
});

it("one trace reaches from an MCP client through the bridge to the tool, without inputs and results", async () => {
  const tool = countingTool({ fqn: "xyz.test.bridged@1", path: "bridged" });
  const { url } = await serveSigned([tool]);
  const bridge = new Bridge({
    addresses: async () => new Map([[`${url}/bridged`, {}]]),
    client: { leader: { id: alice.id, keyId: alice.kid, key: alice.seed }, acceptUnverified: true },
    complain: assert.fail,
  });
  await bridge.read();
  const [near, far] = InMemoryTransport.createLinkedPair();
  serveStdio(() => mcpServer(bridge, "test"), { transport: far });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(near);
  const name = "xyz_test_bridged_v1";
  const call = { name, arguments: { value: "canary" }, _meta: { [PARENT[0]]: PARENT[1] } };
  const spans = await spansOf(() => client.callTool(call));
  assert.doesNotMatch(JSON.stringify([...spans.values()].map(({ attributes }) => attributes)), /canary/);
  let parent = "b7ad6b7169203331";
  for (const [title, kind] of [
    [`tools/call ${name}`, SpanKind.SERVER],
    ["POST /bridged/invoke", SpanKind.SERVER],
    [`execute_tool ${tool.fqn}`, SpanKind.INTERNAL],
  ] as const) {
    const span = spans.get(title) ?? assert.fail(title);
    assert.deepEqual([span.kind, span.spanContext().traceId], [kind, "0af7651916cd43dd8448eb211c80319c"]);
    assert.equal(span.parentSpanContext?.spanId, parent);
    parent = span.spanContext().spanId;
  }
  const { "jsonrpc.request.id": id, ...attributes } = spans.get(`tools/call ${name}`)?.attributes ?? {};
  assert.match(String(id), /^\d+$/);
  assert.deepEqual(attributes, {
    "mcp.method.name": "tools/call",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": name,
  });
  // OpenTelemetry's own instrumentation of undici adds the headers itself.
  const watching = channel("undici:request:create");
  const watch = () => {};
  watching.subscribe(watch);
  const instrumented = await spansOf(() => client.callTool(call));
  watching.unsubscribe(watch);
  assert.equal(instrumented.get("POST /bridged/invoke")?.parentSpanContext, undefined);
  await client.close();
  await bridge.close();
});

describe("a tracer that throws", () => {
  const CASES = [
    ["at the start of a call", (event: string, name: string) => event === "start" && name.startsWith("POST")],
    ["between claim and run", (event: string, name: string) => event === "start" && !name.startsWith("POST")],
    ["at the end of a call", (event: string) => event === "end"],
  ] as const;
  for (const [when, failure] of CASES) {
    it(`${when} does not change answers, keeps neither pair nor slot, and is logged once`, async () => {
      const tool = countingTool({ path: "broken" });
      const server = await serveSigned([tool], { load: { limits: { concurrency: 1 } } });
      fails = failure;
      try {
        for (let i = 0; i < 2; i++) {
          const call = echoCall(tool, "1");
          for (let retry = 0; retry < 2; retry++) expectResult(await call.send(server.url), echoed("1"), call);
        }
      } finally {
        fails = undefined;
      }
      assert.equal(tool.calls.invoked, 2);
      assert.equal(server.load().tools.get(tool.fqn)?.running, 0);
      assert.equal(server.log.filter(({ message }) => message.startsWith("an observer of calls threw")).length, 1);
    });
  }
});

it("a process without a registered provider does not load the package", async () => {
  const child = run(
    `
    await bootstrap(One);
    console.log(Symbol.for("opentelemetry.js.api.1") in globalThis);`,
    { env: { BIND_ADDR: "127.0.0.1:0" } },
  );
  const url = await child.url;
  assert.equal((await sendPlain(url, "/one/invoke", '{"value":1}')).status, 200);
  await stop(child);
  assert.equal(child.stdout(), "false\n");
});
