import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { report, server } from "./report.mjs";

const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport(server));
const { tools } = await client.listTools();
await report(
  tools.map(({ name }) => name),
  (name, args) => client.callTool({ name, arguments: args }),
);
await client.close();
