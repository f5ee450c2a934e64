/** Runs the bridge on standard input and output, until either closes. */

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Bridge } from "./bridge.js";
import { mcpServer } from "./mcp-server.js";
import { StdioTransport } from "./stdio-transport.js";

export async function serveOnStdio(
  bridge: Bridge,
  complain: (problem: string) => void,
  interrupted: () => Promise<unknown>,
): Promise<void> {
  const transport = new StdioTransport(process.stdin, process.stdout);
  const ended = new Promise<void>((done) => {
    const handle = serveStdio(() => mcpServer(bridge, "stdio"), {
      transport,
      onerror: ({ message }) => complain(message),
    });
    void interrupted().then(() => handle.close().finally(done));
    process.stdin.once("close", done);
  });
  await ended;
  await bridge.close();
}
