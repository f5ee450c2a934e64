#!/usr/bin/env bash
# Whether an MCP client compares a result with the tool's `outputSchema` depends on what it has listed before. The client of
# @modelcontextprotocol/sdk 1.32.2 (TypeScript) knows only the schemas of the page that it listed last: before a listing, and for tools
# of other pages, it takes every result. The client of mcp 2.3.0 (Python) asks for the first page after the call of an unknown tool, and
# keeps all pages. The server has a page for each of two tools, whose results break their schema. Seen on 2026-11-29.
# Needs: python 3.11 with venv.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true }' >package.json
npm install --silent --no-audit --no-fund @modelcontextprotocol/sdk@1.32.2 >/dev/null
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check mcp==2.3.0
cat >server.mjs <<'JS'
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const outputSchema = { type: "object", properties: { sum: { type: "integer" } }, required: ["sum"] };
const tool = (name) => ({ name, inputSchema: { type: "object" }, outputSchema });
const server = new Server({ name: "pages", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, ({ params }) =>
  params?.cursor === "2" ? { tools: [tool("second")] } : { tools: [tool("first")], nextCursor: "2" },
);
server.setRequestHandler(CallToolRequestSchema, () => ({ content: [], structuredContent: { sum: "three" } }));
await server.connect(new StdioServerTransport());
JS
cat >client.mjs <<'JS'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const client = new Client({ name: "client", version: "1" });
await client.connect(new StdioClientTransport({ command: "node", args: ["server.mjs"] }));
const call = (name) => client.callTool({ name }).then(() => "accepted", () => "refused");
console.log("TypeScript, nothing listed: first", await call("first"), "second", await call("second"));
const { nextCursor } = await client.listTools();
await client.listTools({ cursor: nextCursor });
console.log("TypeScript, both pages listed: first", await call("first"), "second", await call("second"));
await client.close();
JS
cat >client.py <<'PY'
import asyncio
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

async def main():
    server = StdioServerParameters(command="node", args=["server.mjs"])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()

        async def call(name):
            try:
                await session.call_tool(name, {})
                return "accepted"
            except RuntimeError:
                return "refused"

        print("Python, nothing listed: first", await call("first"), "second", await call("second"))
        await session.list_tools()
        await session.list_tools(params=types.PaginatedRequestParams(cursor="2"))
        print("Python, both pages listed: first", await call("first"), "second", await call("second"))

asyncio.run(main())
PY
seen=$(node client.mjs && venv/bin/python client.py 2>errors.txt)
echo "$seen"
[ "$seen" = "TypeScript, nothing listed: first accepted second accepted
TypeScript, both pages listed: first accepted second refused
Python, nothing listed: first refused second accepted
Python, both pages listed: first refused second refused" ]
