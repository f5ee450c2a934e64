/**
 * OpenTelemetry spans, if the application has registered a provider: a server span for each call, and a child span for
 * the tool's own code, which is the parent of spans that the tool starts.
 */

import type { Context, Span } from "@opentelemetry/api";
import type { Observation, Observer } from "../call/observers.js";
import { loadOpenTelemetry, type OpenTelemetry } from "../log/open-telemetry.js";
import type { ServerLogger } from "../log/safe-logger.js";
import { shown } from "./claims.js";

/**
 * Creates the observer that traces calls.
 *
 * @returns undefined, without loading the API, if the application has registered no provider
 */
export async function loadTracing(scheme: "http" | "https", log: ServerLogger): Promise<Observer | undefined> {
  const api = await loadOpenTelemetry("trace", log);
  return api && tracing(api, scheme);
}

interface Traced {
  readonly server: Span;
  readonly context: Context;
  run?: Span;
}

function tracing(api: OpenTelemetry, scheme: string): Observer {
  const { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = api;
  const tracer = trace.getTracer("svc-runtime");
  const calls = new WeakMap<Observation, Traced>();
  return {
    active: true,
    began: (call) => {
      // If node:http is instrumented, the active span is already the server span of this request.
      const outer = trace.getSpan(context.active()) !== undefined;
      const parent = outer ? context.active() : propagation.extract(ROOT_CONTEXT, call.request.headers);
      const { fqn, prefix } = call.tool;
      const attributes = {
        "http.request.method": "POST",
        "http.route": `${prefix}/invoke`,
        "url.path": `${prefix}/invoke`,
        "url.scheme": scheme,
        "svc.tool": fqn,
        "svc.request_id": call.request.id,
      };
      const kind = outer ? SpanKind.INTERNAL : SpanKind.SERVER;
      const server = tracer.startSpan(`POST ${prefix}/invoke`, { kind, attributes }, parent);
      calls.set(call, { server, context: trace.setSpan(parent, server) });
    },
    around: (call, start) => {
      const traced = calls.get(call);
      if (traced === undefined) return start();
      const { fqn } = call.tool;
      // Names of the GenAI semantic conventions 0.1.0.
      const attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": fqn,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": call.request.id,
      };
      const run = tracer.startSpan(`execute_tool ${fqn}`, { attributes }, traced.context);
      traced.run = run;
      return context.with(trace.setSpan(traced.context, run), start);
    },
    ended: (call, { status, code }) => {
      const traced = calls.get(call);
      if (traced === undefined) return;
      const { server, run } = traced;
      server.setAttribute("http.response.status_code", status);
      if (call.caller !== undefined) server.setAttribute("svc.leader_id", shown(call.caller.leaderId));
      if (call.replayed) server.setAttribute("svc.replayed", true);
      for (const span of run === undefined ? [server] : [run, server]) {
        if (code !== undefined) span.setAttribute("error.type", code);
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      }
    },
  };
}
