/** The bridge over streamable HTTP, served by the development page's server. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { JsonError, readExact } from "svc-runtime/internal/generator";
import { boundedBody } from "../http/bounded-body.js";
import type { Bridge } from "./bridge.js";
import { MAX_MESSAGE_BYTES, NOT_JSON, TOO_LARGE } from "./json-rpc.js";
import { mcpServer } from "./mcp-server.js";

export type McpEndpoint = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Creates the endpoint. Parses bodies itself, because the SDK's JSON.parse rounds integers.
 *
 * @param complain reports protocol errors
 */
export function mcpEndpoint(bridge: Bridge, complain: (problem: string) => void): McpEndpoint {
  const handler = createMcpHandler(() => mcpServer(bridge), { onerror: ({ message }) => complain(message) });
  return async (request, response) => {
    const { method = "GET", headers } = request;
    let parsedBody: unknown;
    if (method === "POST") {
      const bytes = await boundedBody(request, MAX_MESSAGE_BYTES);
      if (bytes === undefined) return refuse(response, 413, TOO_LARGE);
      try {
        parsedBody = readExact(bytes);
      } catch (error) {
        if (!(error instanceof JsonError)) throw error;
        return refuse(response, 400, NOT_JSON);
      }
    }
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const given = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const web = new Request(`http://${headers.host}/mcp`, { method, headers: given, signal: gone.signal });
    const answer = await handler.fetch(web, parsedBody === undefined ? {} : { parsedBody });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) response.end();
    else await pipeline(Readable.fromWeb(answer.body as never), response).catch(() => response.destroy());
  };
}

function refuse(response: ServerResponse, status: number, answer: object): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
}
