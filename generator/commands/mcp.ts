/** `svc-gen mcp`: offers tools to MCP clients, on standard input and output. */

import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { LeaderOptions } from "svc-runtime/leader";
import {
  asJson,
  type CommandContext,
  CommandError,
  defineCommand,
  EXIT,
  JSON_OPTION,
  PROJECT_OPTIONS,
  UsageError,
} from "../cli/command.js";
import { DEFAULT_SERVER, isHttpUrl } from "../tool-addresses.js";
import { CALL_OPTIONS, LEADER_OPTIONS, leaderOptions } from "./options/leader-options.js";
import { generateOptions } from "./options/project-options.js";

const OPTIONS = {
  url: {
    type: "string",
    value: "URL[,URL]",
    summary: "servers or tools (default: the running svc-gen dev of the project)",
  },
  ...LEADER_OPTIONS,
  "accept-unverified": { type: "boolean", summary: "accept results that cannot be verified, without --tool-key" },
  unsigned: { type: "boolean", summary: "call servers that require no signatures" },
  ...CALL_OPTIONS,
  "print-config": { type: "boolean", summary: "print the entry for the configuration files of MCP clients" },
  project: PROJECT_OPTIONS.project,
  json: JSON_OPTION,
} as const;

type McpCall = CommandContext<typeof OPTIONS>;

export const mcpCommand = defineCommand({
  name: "mcp",
  summary: "serve tools to MCP clients, such as editors and agents",
  details: `An MCP client starts this command and talks to it over standard input and output. It reads the metadata of the tools, signs
each call as a leader, verifies the result, and sends the same signed request again if the connection breaks. Without --url it
serves the tools of the running svc-gen dev, and signs with the keys of svc-gen dev --signed.

64-bit integers are strings of digits in inputs and results, because MCP clients round large JSON numbers.`,
  options: OPTIONS,
  examples: [
    ["svc-gen mcp --print-config", "prints the entries for clients"],
    ["svc-gen mcp", "the tools of this project"],
    [
      "svc-gen mcp --url https://tools.example.org --leader-key agent.pem --leader-id agent --tool-key HEX",
      "any server",
    ],
  ],
  run: async (call) => {
    const { root } = generateOptions(call);
    if (call.values["print-config"]) return printConfig(call, root);
    const complain = (problem: string) => call.complain(`svc-gen mcp: ${problem}\n`);
    const bridge = await openBridge(call, root, complain);
    const { serveOnStdio } = await import("../mcp/serve.js");
    await serveOnStdio(bridge, complain, call.interrupted);
    return EXIT.done;
  },
});

async function openBridge(call: McpCall, root: string, complain: (problem: string) => void) {
  const { devServers } = await import("../dev/dev-state.js");
  const { toolAddresses } = await import("../mcp/addresses.js");
  const { Bridge } = await import("../mcp/bridge.js");
  const given = call.values.url?.split(",");
  for (const url of given ?? []) {
    if (!isHttpUrl(url)) throw new UsageError(`--url expects addresses of servers or tools, such as ${DEFAULT_SERVER}`);
  }
  const development = async () => {
    const servers = await devServers(root, call.env);
    const server = servers.find(({ signed }) => signed) ?? servers[0];
    if (server !== undefined) return server;
    throw new CommandError("no svc-gen dev serves this project", "start it with svc-gen dev --signed, or pass --url");
  };
  const signed = call.values.unsigned !== true && (given !== undefined || (await development()).signed);
  const client = await clientOptions(call, root, signed);
  if (!signed) complain("calls are unsigned: results are not verified, and a repeated call runs again");
  const addresses = async () => {
    const urls = given ?? [(await development()).url];
    return (await Promise.all(urls.map((url) => toolAddresses(url, client.tls)))).flat();
  };
  const bridge = new Bridge({ addresses, client, complain });
  const problems = await bridge.read();
  if (problems.length > 0) throw new CommandError(problems.join("; "), "pass --url with only the other tools");
  const { readSecret } = await import("../invoke/secrets.js");
  bridge.bindSecrets(
    (call.values.secret ?? []).map((each) => {
      const { name, secret } = readSecret(each, call.env);
      return { name, text: secret() };
    }),
  );
  return bridge;
}

async function clientOptions(call: McpCall, root: string, signed: boolean): Promise<LeaderOptions> {
  const { "tool-key": toolKey, "leader-key": leaderKey, "accept-unverified": unverified } = call.values;
  const client = await leaderOptions(call, signed, root);
  const allowHttp = call.values["allow-http"] === true;
  if (!signed) return client;
  if (client.leader === undefined) {
    throw new UsageError("mcp expects --leader-key FILE, or --unsigned for a server without signatures");
  }
  if (leaderKey !== undefined && toolKey === undefined && !unverified) {
    throw new UsageError("mcp expects --tool-key HEX, which verifies results, or --accept-unverified");
  }
  return { ...client, allowHttp, ...(toolKey !== undefined && { toolKey: toolKey.split(",") }) };
}

async function printConfig(call: McpCall, root: string): Promise<number> {
  const { clientConfig, httpClientConfig } = await import("../mcp/client-config.js");
  const own = join(root, "node_modules/svc-gen/generator/bin.js");
  const bin = existsSync(own) ? own : fileURLToPath(new URL("../../../generator/bin.js", import.meta.url));
  const { "leader-key": leaderKey, ca, "print-config": _, project: __, json: ___, ...values } = call.values;
  const paths = { "leader-key": leaderKey, ca };
  const files = Object.entries(paths).map(([name, path]) => [name, path && resolve(call.cwd, path)] as const);
  const options = [...Object.entries(values), ...files].flatMap(([name, value]) =>
    [value]
      .flat()
      .flatMap((each) => (each === undefined ? [] : each === true ? [`--${name}`] : [`--${name}`, `${each}`])),
  );
  const entry = { command: process.execPath, args: [bin, "mcp", "--project", root, ...options] };
  const name = basename(root).replaceAll(/[^A-Za-z0-9-]+/g, "-");
  const url = call.values.url === undefined ? await devEndpoint(root, call.env) : undefined;
  if (call.json) {
    call.print(asJson({ mcpServers: { [name]: entry, ...(url && { [`${name}-http`]: { type: "http", url } }) } }));
  } else call.print(clientConfig(name, entry) + (url === undefined ? "" : `\n${httpClientConfig(name, url)}`));
  return EXIT.done;
}

/** Address at which a running `svc-gen dev` of the project answers MCP clients; undefined if there is none. */
async function devEndpoint(root: string, env: McpCall["env"]): Promise<string | undefined> {
  const { devServers } = await import("../dev/dev-state.js");
  return (await devServers(root, env)).find(({ mcp }) => mcp !== undefined)?.mcp;
}
