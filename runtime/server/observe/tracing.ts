/**
 * OpenTelemetry spans, if the application has registered a provider: a server span for each call, and a child span for
 * the tool's own code, which is the parent of spans that the tool starts.
 */

import type { Context, Span, Tracer } from "@opentelemetry/api";
import type { Reply } from "../call/messages.js";
import type { Observation, Observer } from "../call/observers.js";
import { loadOpenTelemetry } from "../call/run/open-telemetry.js";
import type { ServerLogger } from "../log/safe-logger.js";
import { shown } from "./claims.js";

type Api = typeof import("@opentelemetry/api");

/**
 * Creates the observer that traces calls.
 *
 * @returns undefined, without loading the API, if the application has registered no provider
 */
export async function loadTracing(scheme: "http" | "https", log: ServerLogger): Promise<Observer | undefined> {
  const api = await loadOpenTelemetry("trace", log);
  return api && new Tracing(api, scheme);
}

interface Traced {
  readonly server: Span;
  readonly context: Context;
  run?: Span;
}

class Tracing implements Observer {
  readonly active = true;
  readonly #tracer: Tracer;
  readonly #calls = new WeakMap<Observation, Traced>();

  readonly #api: Api;
  readonly #scheme: string;

  constructor(api: Api, scheme: string) {
    this.#api = api;
    this.#scheme = scheme;
    this.#tracer = api.trace.getTracer("svc-runtime");
  }

  began(call: Observation): void {
    const { context, propagation, ROOT_CONTEXT, SpanKind, trace } = this.#api;
    // If node:http is instrumented, the active span is already the server span of this request.
    const outer = trace.getSpan(context.active()) !== undefined;
    const parent = outer ? context.active() : propagation.extract(ROOT_CONTEXT, call.request.headers);
    const { fqn, prefix } = call.tool;
    const attributes = {
      "http.request.method": "POST",
      "http.route": `${prefix}/invoke`,
      "url.path": `${prefix}/invoke`,
      "url.scheme": this.#scheme,
      "svc.tool": fqn,
      "svc.request_id": call.request.id,
    };
    const kind = outer ? SpanKind.INTERNAL : SpanKind.SERVER;
    const server = this.#tracer.startSpan(`POST ${prefix}/invoke`, { kind, attributes }, parent);
    this.#calls.set(call, { server, context: trace.setSpan(parent, server) });
  }

  around<T>(call: Observation, start: () => T): T {
    const traced = this.#calls.get(call);
    if (traced === undefined) return start();
    const run = this.#tracer.startSpan(call.tool.fqn, {}, traced.context);
    traced.run = run;
    return this.#api.context.with(this.#api.trace.setSpan(traced.context, run), start);
  }

  ended(call: Observation, { status, code }: Reply): void {
    const traced = this.#calls.get(call);
    if (traced === undefined) return;
    const { server, run } = traced;
    server.setAttribute("http.response.status_code", status);
    if (call.caller !== undefined) server.setAttribute("svc.leader_id", shown(call.caller.leaderId));
    if (call.replayed) server.setAttribute("svc.replayed", true);
    for (const span of run === undefined ? [server] : [run, server]) {
      if (code !== undefined) span.setAttribute("error.type", code);
      if (status >= 500) span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
      span.end();
    }
  }
}
