import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { report, server } from "./report.mjs";

const client = new MultiServerMCPClient({ mcpServers: { s: { transport: "stdio", ...server } } });
const tools = await client.getTools();
await report(
  tools.map(({ name }) => name),
  async (name, args) => {
    const text = await tools.find((tool) => tool.name === name).invoke(args);
    return typeof text === "string" ? JSON.parse(text) : text;
  },
);
await client.close();
