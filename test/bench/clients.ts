/** What a call costs those who call: LeaderClient, and `svc-gen mcp` in front of a signed server. */

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { publicKeyOf } from "#runtime/leader.js";
import { REPOSITORY } from "../repository.js";
import { scratchFolder } from "../scratch-folder.js";
import { cpuMicros, cpuTime } from "./accounting.js";
import { SIGNED_SUM, WARM_UP } from "./calls.js";
import { type Bench, compare, judgeRatio, type Side } from "./report.js";
import { LEADER_SEED, sumInput, TOOL_SEED } from "./requests.js";
import { LOAD_CORE, spawnOn, type Target, TYPESCRIPT, withTarget } from "./target.js";

const FIGURE = "µs CPU";
const CALLERS = fileURLToPath(new URL("callers.ts", import.meta.url));

const caller = (name: string, kind: string, calls: number): Side => ({
  name,
  measure: () =>
    withTarget(SIGNED_SUM, async ({ url }) => {
      const args = [...TYPESCRIPT, CALLERS, kind, `${url}/sum`, `${calls}`, `${WARM_UP}`];
      const child = spawnOn(LOAD_CORE, process.execPath, args);
      const [said, wrong, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
      if (status !== 0) throw new Error(`the caller failed: ${wrong}`);
      return { [FIGURE]: Number(said) };
    }),
});

export const client: Bench = {
  title: "a signed call for the caller: LeaderClient, beside undici and the same crypto",
  async run({ repeats, calls }) {
    const sides = [caller("undici and crypto", "undici", calls), caller("LeaderClient", "LeaderClient", calls)];
    const rows = await compare(repeats, sides, FIGURE);
    return { rows, goals: [judgeRatio("CPU a call of LeaderClient, of undici and crypto", rows[1], { atMost: 1.35 })] };
  },
};

/** Calls over stdio, one after another: the CPU of the process that a client starts, and of the server behind it. */
async function measureMcp(args: readonly string[], calls: number, target?: Target): Promise<Record<string, number>> {
  const transport = new StdioClientTransport({ command: process.execPath, args: [...args], stderr: "ignore" });
  const mcp = new Client({ name: "bench", version: "1" });
  await mcp.connect(transport);
  const spent = () => [transport.pid, target?.pid].filter((pid) => typeof pid === "number").map(cpuTime);
  const repeat = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const { a, b, ...rest } = sumInput();
      const made = { a: target === undefined ? a : `${a}`, b: target === undefined ? b : `${b}`, ...rest };
      const answer = await mcp.callTool({ name: "xyz_demo_sum_v1", arguments: made });
      if (answer.isError) throw new Error(JSON.stringify(answer));
    }
  };
  await repeat(Math.ceil(WARM_UP / 2));
  const before = spent();
  await repeat(calls);
  const after = spent();
  await mcp.close();
  const [own, server = 0] = before.map((time, at) => cpuMicros(time, after[at] ?? time) / calls);
  return { [FIGURE]: (own ?? 0) + server, "µs CPU of the server behind it": server };
}

export const mcp: Bench = {
  title: "a tool call over MCP stdio, signed and verified, beside the official SDK's own server with the same tool",
  async run({ repeats, calls }) {
    const key = join(scratchFolder(), "leader.key");
    writeFileSync(key, LEADER_SEED.toString("hex"), { mode: 0o600 });
    const toolKey = Buffer.from(publicKeyOf(TOOL_SEED)).toString("hex");
    const options = ["--leader-key", key, "--leader-id", "leader", "--tool-key", toolKey];
    const bin = join(REPOSITORY, "generator/bin.js");
    const sides: Side[] = [
      { name: "official SDK", measure: () => measureMcp([...TYPESCRIPT, CALLERS, "SDK"], calls) },
      {
        name: "svc-gen mcp and a signed server",
        measure: () =>
          withTarget(SIGNED_SUM, (target) =>
            measureMcp([bin, "mcp", "--url", `${target.url}/sum`, ...options], calls, target),
          ),
      },
    ];
    const rows = await compare(repeats, sides, FIGURE);
    return { rows, goals: [judgeRatio("CPU a call over MCP, of the official SDK", rows[1], { atMost: 1.5 })] };
  },
};
