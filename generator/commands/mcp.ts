/** `svc-gen mcp`: offers tools to MCP clients, on standard input and output. */

import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { LeaderOptions, Receipt } from "svc-runtime/leader";
import {
  asJson,
  type CommandContext,
  CommandError,
  defineCommand,
  EXIT,
  PROJECT_OPTIONS,
  UsageError,
} from "../cli/command.js";
import { devServers } from "../dev/dev-state.js";
import { writeReceipt } from "../invoke/receipt-file.js";
import { readSecret } from "../invoke/secrets.js";
import { toolAddresses } from "../mcp/addresses.js";
import { Bridge } from "../mcp/bridge.js";
import { NamePatterns, readHintOptions, sizeNotes } from "../mcp/choice.js";
import { serveOnStdio } from "../mcp/serve.js";
import { DEFAULT_SERVER, isHttpUrl, schemeAdvice } from "../tools/tool-addresses.js";
import { AS_OPTION, CALL_OPTIONS, LEADER_OPTIONS, leaderOptions } from "./options/leader-options.js";
import { generateOptions } from "./options/project-options.js";

const OPTIONS = {
  url: {
    type: "string",
    value: "URL[,URL]",
    summary: "servers or tools (default: the running svc-gen dev of the project)",
  },
  ...LEADER_OPTIONS,
  as: AS_OPTION,
  "accept-unverified": { type: "boolean", summary: "accept results that cannot be verified, without --tool-key" },
  unsigned: {
    type: "boolean",
    summary: "call servers that require no signatures",
    excludes: ["leader-key", "tool-key", "as", "accept-unverified"],
  },
  receipts: {
    type: "string",
    value: "FOLDER",
    summary: "write the receipt of each call to a file in this folder, and name the file in _meta of the answer",
    excludes: ["unsigned", "accept-unverified"],
  },
  tools: {
    type: "string",
    value: "PATTERN[,PATTERN]",
    summary: "offer only tools whose FQN matches, such as xyz.bank.*@1",
  },
  except: { type: "string", value: "PATTERN[,PATTERN]", summary: "do not offer tools whose FQN matches" },
  hint: {
    type: "string",
    multiple: true,
    value: "FQN=HINT[,HINT]",
    summary: "hint of a tool: readOnly, idempotent, destructive, openWorld, each also with =false",
  },
  ...CALL_OPTIONS,
  "print-config": {
    type: "boolean",
    summary: "print the entries for the configuration file of an MCP client, as JSON",
  },
  project: PROJECT_OPTIONS.project,
} as const;

type McpCall = CommandContext<typeof OPTIONS>;

export const command = defineCommand({
  details: `An MCP client starts this command and talks to it over standard input and output. It reads the metadata of the tools, signs
each call as a leader, verifies the result, and sends the same signed request again if the connection breaks. Without --url it
serves the tools of the running svc-gen dev, and signs with the keys of svc-gen dev --signed.

A secret belongs to one tool: write --secret FQN.PORT=VARIABLE if several tools have a secret input port of this name. A tool
that gets such a port later, or has another address then, does not get the secret.

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
    await serveOnStdio(bridge, complain, call.interrupted);
    return EXIT.done;
  },
});

async function openBridge(call: McpCall, root: string, complain: (problem: string) => void) {
  const given = givenUrls(call);
  const development = async () => {
    const servers = await devServers(root, call.env);
    const server = servers.find(({ signed }) => signed) ?? servers[0];
    if (server !== undefined) return server;
    throw new CommandError("no svc-gen dev serves this project", "start it with svc-gen dev --signed, or pass --url");
  };
  const signed = call.values.unsigned !== true && (given !== undefined || (await development()).signed);
  const client = clientOptions(call, root, signed);
  if (!signed) complain("calls are unsigned: results are not verified, and a repeated call runs again");
  const addresses = async () => {
    const urls = given ?? [(await development()).url];
    const found = await Promise.all(urls.map((url) => toolAddresses(url, client.tls)));
    return new Map(found.flatMap((each) => [...each]));
  };
  const { receipts } = call.values;
  if (receipts !== undefined && client.toolKey === undefined) {
    throw new UsageError("--receipts expects signed calls: only a verified result has a receipt");
  }
  const keep = receipts === undefined ? undefined : receiptFolder(resolve(call.cwd, receipts));
  const { tools, except, hint = [] } = call.values;
  const wanted = tools === undefined ? undefined : new NamePatterns("tools", tools);
  const unwanted = except === undefined ? undefined : new NamePatterns("except", except);
  const offers = (fqn: string) => wanted?.matches(fqn) !== false && unwanted?.matches(fqn) !== true;
  const hints = readHintOptions(hint);
  const bridge = new Bridge({ addresses, client, complain, offers, hints, ...(keep && { keep }) });
  const problems = await bridge.read();
  if (problems.length > 0)
    throw new CommandError(problems.join("; "), "pass --except with the FQN of each of these tools");
  for (const pattern of [wanted, unwanted]) pattern?.check(bridge.seen);
  if (bridge.offered.length === 0) throw new UsageError("--tools and --except leave no tool to offer");
  const stray = [...hints.keys()].find((fqn) => !bridge.seen.has(fqn));
  const seen = [...bridge.seen].slice(0, 10).join(", ");
  if (stray !== undefined) throw new UsageError(`--hint ${stray}: no tool has this FQN; there is ${seen}`);
  bridge.bindSecrets(
    (call.values.secret ?? []).map((each) => {
      const { name, secret } = readSecret(each, call.env);
      return { name, text: secret() };
    }),
  );
  for (const note of sizeNotes(bridge.offered)) complain(note);
  return bridge;
}

/**
 * URLs of the option.
 *
 * @throws UsageError, also for a URL that may contain a credential, which the configuration of a client would show
 */
function givenUrls({ values }: McpCall): readonly string[] | undefined {
  const given = values.url?.split(",");
  for (const url of given ?? []) {
    const { username, password, search, hash } = isHttpUrl(url) ? new URL(url) : { username: url };
    if (!username && !password && !search && !hash) continue;
    throw new UsageError(
      `--url expects addresses of servers or tools, such as ${DEFAULT_SERVER}, without user, password and query${schemeAdvice(url)}`,
    );
  }
  return given;
}

/** Writes each receipt to a file of its own; a repeated call writes the same file. */
function receiptFolder(folder: string): (receipt: Receipt) => string {
  return (receipt) => {
    const call = Buffer.from(receipt.request.nonce, "base64").toString("hex");
    const target = join(folder, `${receipt.tool.replace("@", "-")}-${call}.json`);
    writeReceipt(target, receipt);
    return target;
  };
}

function clientOptions(call: McpCall, root: string, signed: boolean): LeaderOptions {
  const { "tool-key": toolKey, "leader-key": leaderKey, "accept-unverified": unverified } = call.values;
  const client = leaderOptions(call, signed, root, call.values.as);
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

/** Prints the entries of this bridge, and of a running `svc-gen dev`. Their paths are absolute, because clients choose the working directory. */
async function printConfig(call: McpCall, root: string): Promise<number> {
  givenUrls(call);
  const own = join(root, "node_modules/svc-gen/generator/bin.js");
  const bin = existsSync(own) ? own : fileURLToPath(new URL("../../../generator/bin.js", import.meta.url));
  const { "leader-key": leaderKey, ca, receipts, "print-config": _, project: __, ...values } = call.values;
  const paths = { "leader-key": leaderKey, ca, receipts };
  const files = Object.entries(paths).map(([name, path]) => [name, path && resolve(call.cwd, path)] as const);
  const options = [...Object.entries(values), ...files].flatMap(([name, value]) =>
    [value]
      .flat()
      .flatMap((each) => (each === undefined ? [] : each === true ? [`--${name}`] : [`--${name}`, `${each}`])),
  );
  const entry = { command: process.execPath, args: [bin, "mcp", "--project", root, ...options] };
  const name = basename(root).replaceAll(/[^A-Za-z0-9-]+/g, "-");
  const url = call.values.url === undefined ? await devEndpoint(root, call.env) : undefined;
  call.print(asJson({ mcpServers: { [name]: entry, ...(url && { [`${name}-http`]: { type: "http", url } }) } }));
  return EXIT.done;
}

/** Address at which a running `svc-gen dev` of the project answers MCP clients; undefined if there is none. */
async function devEndpoint(root: string, env: McpCall["env"]): Promise<string | undefined> {
  return (await devServers(root, env)).find(({ mcp }) => mcp !== undefined)?.mcp;
}
