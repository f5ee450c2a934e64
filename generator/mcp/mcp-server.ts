/** The MCP server of a bridge. The official SDK implements the protocol and its revisions. */

import { type CallToolResult, ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { VERSION } from "../process/version.js";
import { type Bridge, type BridgeCall, UnknownTool } from "./bridge.js";
import type { Plain } from "./exact-integers.js";
import { IDEMPOTENCY_KEY } from "./repeated-calls.js";

/**
 * Creates a server for one connection, or for one request over HTTP.
 *
 * @param connection identifies the connection: a request with the id and arguments of an earlier one is the same call.
 * Undefined over HTTP, where every client numbers its requests from one
 */
export function mcpServer(bridge: Bridge, connection?: string): Server {
  const server = new Server(
    { name: "svc-gen", version: VERSION },
    { capabilities: { tools: { listChanged: connection !== undefined } }, instructions: INSTRUCTIONS },
  );
  if (connection !== undefined) {
    const notify = () => void server.sendToolListChanged().catch(() => {});
    bridge.onChange.add(notify);
    server.onclose = () => bridge.onChange.delete(notify);
  }
  server.setRequestHandler("tools/list", async () => ({ tools: await bridge.list() }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }): Promise<CallToolResult> => {
    const { id, signal, _meta = {} } = mcpReq;
    const key = keyOf(_meta[IDEMPOTENCY_KEY], connection, id);
    const { progressToken } = _meta;
    const onProgress = (elapsedMs: number, limitMs: number) => {
      const [progress, total] = [elapsedMs, limitMs].map((ms) => Math.round(ms / 1_000)) as [number, number];
      const message = `running for ${progress} s; the time limit of the tool is ${total} s`;
      const notification = { method: "notifications/progress", params: { progressToken, progress, total, message } };
      void mcpReq.notify(notification).catch(() => {});
    };
    const call: BridgeCall = {
      name: params.name,
      args: (params.arguments ?? {}) as Plain,
      signal,
      request: { id, meta: _meta },
      ...(key && { key }),
      ...(progressToken !== undefined && { onProgress }),
    };
    try {
      return await bridge.call(call);
    } catch (error) {
      if (error instanceof UnknownTool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
      throw error;
    }
  });
  return server;
}

function keyOf(given: unknown, connection: string | undefined, id: string | number): BridgeCall["key"] {
  if (given !== undefined) {
    if (typeof given === "string" && given.length > 0 && given.length <= 256)
      return { text: `key ${given}`, isExclusive: true };
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `${IDEMPOTENCY_KEY}: expected a string of 1 to 256 characters`,
    );
  }
  if (connection === undefined) return undefined;
  return { text: `id ${connection} ${JSON.stringify(id)}`, isExclusive: false };
}

const INSTRUCTIONS =
  "64-bit integers are strings of decimal digits, in arguments and in results. A result is an object with one member, named after the variant that the tool returned.";
