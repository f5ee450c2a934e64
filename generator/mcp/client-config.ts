/** Entries for the configuration files of MCP clients. */

import { shellWord } from "../compile/diagnostics/quote.js";

/** A command that starts the bridge. Its paths are absolute, because clients choose the working directory. */
export interface ClientEntry {
  readonly command: string;
  readonly args: readonly string[];
}

/** @param name name of the entry: letters, digits and dashes */
export function clientConfig(name: string, entry: ClientEntry): string {
  const { command, args } = entry;
  return `Claude Desktop (claude_desktop_config.json), Cursor (.cursor/mcp.json), Windsurf, Gemini CLI (settings.json):

${json({ mcpServers: { [name]: entry } })}

VS Code (.vscode/mcp.json):

${json({ servers: { [name]: { type: "stdio", ...entry } } })}

Codex (~/.codex/config.toml):

[mcp_servers.${name}]
command = ${JSON.stringify(command)}
args = ${JSON.stringify(args)}

Claude Code:

claude mcp add ${name} -- ${[command, ...args].map(shellWord).join(" ")}
`;
}

const json = (value: object) => JSON.stringify(value, undefined, 2);

/** Entries for a bridge over HTTP. */
export function httpClientConfig(name: string, url: string): string {
  return `Over HTTP, while svc-gen dev runs. Cursor (.cursor/mcp.json):

${json({ mcpServers: { [name]: { url } } })}

VS Code (.vscode/mcp.json):

${json({ servers: { [name]: { type: "http", url } } })}

Codex (~/.codex/config.toml):

[mcp_servers.${name}]
url = ${JSON.stringify(url)}

Claude Code:

claude mcp add --transport http ${name} ${url}
`;
}
