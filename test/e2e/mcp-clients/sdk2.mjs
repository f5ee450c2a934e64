import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { report, server } from "./report.mjs";

const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StdioClientTransport(server));
const { tools } = await client.listTools();
await report(
  tools.map(({ name }) => name),
  (name, args) => client.callTool({ name, arguments: args }),
);
await client.close();
