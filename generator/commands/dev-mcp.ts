/** Serves the tools of `svc-gen dev` to MCP clients, at `mcp` below the address of the page. */

import type { CommandContext, Options } from "../cli/command.js";
import type { DevEvent } from "../dev/dev-session.js";
import type { PageContent } from "../dev/page-server/page-server.js";
import { type LEADER_OPTIONS, leaderOptions } from "./options/leader-options.js";

export interface DevMcp {
  readonly answer: NonNullable<PageContent["mcp"]>;
  /** Receives the address at which the tools are served. */
  readonly onEvent: (event: DevEvent) => void;
  readonly close: () => Promise<void>;
}

/** Signs with the project's development leader only. */
export function devMcp(call: CommandContext<typeof LEADER_OPTIONS & Options>, root: string): DevMcp {
  let url: string | undefined;
  const complain = (problem: string) => call.complain(`mcp: ${problem}\n`);
  const open = async () => {
    const [{ Bridge }, { mcpEndpoint }, { toolAddresses }] = await Promise.all([
      import("../mcp/bridge.js"),
      import("../mcp/http.js"),
      import("../mcp/addresses.js"),
    ]);
    const client = leaderOptions(call, call.values.signed === true, root);
    const bridge = new Bridge({ addresses: () => toolAddresses(url ?? "", client.tls), client, complain });
    return { bridge, answer: mcpEndpoint(bridge, complain) };
  };
  // The SDK is loaded by the first request.
  let opened: ReturnType<typeof open> | undefined;
  return {
    answer: async (request, response) => {
      // Before the first build is served, the keys for calls may not exist.
      if (url === undefined) {
        response
          .writeHead(503, { "Content-Type": "application/json" })
          .end('{"error":"no server is running: see the output of svc-gen dev"}');
        return;
      }
      opened ??= open();
      await (await opened).answer(request, response);
    },
    onEvent: (event) => {
      if (event.event === "serving") url = event.url;
    },
    close: async () => (await opened)?.bridge.close(),
  };
}
