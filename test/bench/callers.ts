/** Programs of the other side: those that call the sum tool, and the official SDK's own server with the same tool. */

import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { Pool } from "undici";
import { prepareSigningKey, prepareVerifyKey, selectEngine } from "#client/wire/signature/ed25519.js";
import { LeaderClient, publicKeyOf } from "#runtime/leader.js";
import { LEADER_SEED, SUM, signedCalls, sumInput, TOOL_SEED } from "./requests.js";

const [kind, url, calls, warmUp] = process.argv.slice(2) as [string, string, string, string];
const CONNECTIONS = 16;

type Call = () => Promise<unknown>;

async function repeat(count: number, call: Call): Promise<void> {
  let left = count;
  const one = async () => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
}

/** Prints the CPU of this process for one call, in microseconds. */
async function printCost(call: Call): Promise<void> {
  await repeat(Number(warmUp), call);
  const before = process.cpuUsage();
  await repeat(Number(calls), call);
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / Number(calls));
}

/** Sends requests that were prepared, signs a hash as for a request and verifies as many bytes as of a result. */
async function callWithUndici(): Promise<void> {
  const { engine } = selectEngine();
  const leader = prepareSigningKey(LEADER_SEED);
  const tool = prepareVerifyKey(publicKeyOf(TOOL_SEED));
  const message = Buffer.alloc(161, 7);
  const signature = engine.sign(prepareSigningKey(TOOL_SEED), message);
  const requests = signedCalls(Number(warmUp) + Number(calls));
  const pool = new Pool(new URL(url).origin, { connections: CONNECTIONS });
  await printCost(async () => {
    const { headers, body } = requests.pop() as (typeof requests)[number];
    engine.sign(leader, message.subarray(0, 32));
    const answer = await pool.request({ method: "POST", path: SUM.path, headers: { ...headers }, body });
    await answer.body.arrayBuffer();
    if (answer.statusCode !== 200 || !engine.verify(tool, message, signature)) throw new Error("a call failed");
  });
  await pool.close();
}

async function callWithClient(): Promise<void> {
  const client = await LeaderClient.connect(url, {
    leader: { id: "leader", keyId: 0, key: LEADER_SEED },
    toolKey: publicKeyOf(TOOL_SEED),
  });
  await printCost(() => client.invoke(sumInput()));
  await client.close();
}

/** Serves the sum tool to an MCP client with the official SDK alone. */
function serveWithSdk(): void {
  const integer = { type: "integer" } as const;
  const text = { type: "string" } as const;
  const tags = { type: "array", items: text } as const;
  type Sum = { readonly a: number; readonly b: number; readonly label: string; readonly tags: readonly string[] };
  const properties = { a: integer, b: integer, label: text, tags, note: { type: ["string", "null"] } } as const;
  const inputSchema = fromJsonSchema<Sum>({ type: "object", properties, required: ["a", "b", "label", "tags"] });
  serveStdio(() => {
    const server = new McpServer({ name: "sum", version: "1" });
    server.registerTool("xyz_demo_sum_v1", { inputSchema }, ({ a, b, label, tags }) => {
      const ok = { ok: { sum: a + b, label, tags } };
      return { content: [{ type: "text", text: JSON.stringify(ok) }], structuredContent: ok };
    });
    return server;
  });
}

switch (kind) {
  case "undici":
    await callWithUndici();
    break;
  case "LeaderClient":
    await callWithClient();
    break;
  case "SDK":
    serveWithSdk();
    break;
  default:
    throw new Error("usage: callers.ts KIND URL CALLS WARM_UP");
}
