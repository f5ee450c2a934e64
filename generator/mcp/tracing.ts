/** Spans of calls, by the MCP semantic conventions of OpenTelemetry (GenAI 0.1.0), if a provider is registered. */

import type { CallToolResult } from "@modelcontextprotocol/server";
import { loadOpenTelemetry } from "svc-runtime/internal/generator";

export interface RequestFacts {
  readonly id: string | number;
  /** `_meta` of the request, with the trace context of the client (SEP-414). */
  readonly meta: object;
}

/** Runs a call inside a span, which is a child of the client's and the parent of the request to the tool. */
export async function traced(
  tool: string,
  { id, meta }: RequestFacts,
  call: () => Promise<CallToolResult>,
): Promise<CallToolResult> {
  const api = await loadOpenTelemetry("trace", console);
  if (api === undefined) return call();
  const { context, propagation, SpanKind, SpanStatusCode, trace } = api;
  const parent = propagation.extract(context.active(), meta);
  const attributes = {
    "mcp.method.name": "tools/call",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": tool,
    "jsonrpc.request.id": String(id),
  };
  const span = trace
    .getTracer("svc-gen")
    .startSpan(`tools/call ${tool}`, { kind: SpanKind.SERVER, attributes }, parent);
  try {
    const result = await context.with(trace.setSpan(parent, span), call);
    if (result.isError) span.setAttribute("error.type", "tool_error").setStatus({ code: SpanStatusCode.ERROR });
    return result;
  } finally {
    span.end();
  }
}
