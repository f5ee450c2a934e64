import { MCPClient } from "@mastra/mcp";
import { report, server } from "./report.mjs";

const client = new MCPClient({ servers: { s: server } });
const tools = Object.fromEntries(Object.entries(await client.listTools()).map(([name, tool]) => [name.slice(2), tool]));
await report(Object.keys(tools), (name, args) => tools[name].execute(args, {}));
await client.disconnect();
