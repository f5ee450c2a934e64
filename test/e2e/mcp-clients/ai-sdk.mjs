import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as Stdio } from "@ai-sdk/mcp/mcp-stdio";
import { report, server } from "./report.mjs";

const client = await createMCPClient({ transport: new Stdio(server) });
const tools = await client.tools();
await report(Object.keys(tools), (name, args) => tools[name].execute(args, { messages: [], toolCallId: "1" }));
await client.close();
