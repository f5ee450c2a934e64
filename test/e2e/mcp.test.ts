/** `svc-gen mcp` as a client starts it: in front of a signed server, over standard input and output. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { serve } from "svc-runtime";
import { publicKeyOf } from "svc-runtime/leader";
import { provideContracts } from "svc-runtime/v1";
import { REPOSITORY } from "../generator/project.js";
import { CuttingProxy } from "../runtime/cutting-proxy.js";
import { alice, signedConfig, TOOL_SEED } from "../runtime/tools.js";
import { atEnd } from "../teardown.js";
import { run, scratchFolder } from "./packages.js";

const BIN = join(REPOSITORY, "generator/bin.js");
const FOLDER = scratchFolder("svc-mcp-");
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
writeFileSync(join(FOLDER, "leader.key"), `${hex(alice.seed)}\n`, { mode: 0o600 });

const { Sum } = await import(join(REPOSITORY, "examples/sum/dist/sum.js"));
const { contracts } = await import(join(REPOSITORY, "examples/sum/dist/generated/contracts.js"));
provideContracts(contracts);
let runs = 0;
class Counted extends Sum {
  invoke(...given: unknown[]) {
    runs++;
    return super.invoke(...given);
  }
}
const config = signedConfig(["xyz.demo.sum@1"]);
process.env.BIND_ADDR = "127.0.0.1:0";
const server = await serve([Counted as never], { config });
atEnd(() => server.close());
const port = Number(new URL(server.url).port);
const proxy = await CuttingProxy.start(() => [port]);

const bridge = (key = hex(publicKeyOf(TOOL_SEED))) => ({
  command: process.execPath,
  args: [
    BIN,
    "mcp",
    "--url",
    `${proxy.url}/sum`,
    "--leader-key",
    "leader.key",
    "--leader-id",
    "alice",
    "--tool-key",
    key,
  ],
  cwd: FOLDER,
});
const INPUT = { a: "9007199254740992", b: "1", label: "x", tags: ["t"] };
const EXACT = { ok: { sum: "9007199254740993", label: "x", tags: ["t"] } };
const call = { name: "xyz_demo_sum_v1", arguments: INPUT };

async function connect(parameters: object, mode: object = {}): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, mode);
  await client.connect(new StdioClientTransport({ ...(parameters as { command: string }), stderr: "ignore" }));
  atEnd(() => client.close());
  return client;
}

describe("the official client", () => {
  for (const [name, mode] of [
    ["by default", {}],
    ["that negotiates", { versionNegotiation: { mode: "auto" } }],
    ["pinned to 2026-07-28", { versionNegotiation: { mode: { pin: "2026-07-28" } } }],
  ] as const) {
    test(`${name} gets verified, exact results`, async () => {
      const client = await connect(bridge(), mode);
      const result = await client.callTool(call);
      assert.deepEqual(result.structuredContent, EXACT);
      assert.equal(result._meta?.["svc-gen/signature"], "verified");
    });
  }

  test("gets the result of one run, although the connection to the tool broke after it", async () => {
    const client = await connect(bridge());
    await client.listTools();
    const before = runs;
    let cuts = 0;
    proxy.cut = () => (cuts++ === 0 ? "after" : "pass");
    assert.deepEqual((await client.callTool(call)).structuredContent, EXACT);
    proxy.cut = () => "pass";
    assert.deepEqual([runs - before, cuts], [1, 2]);
  });

  test("gets no result that another key signed", async () => {
    const client = await connect(bridge(hex(publicKeyOf(randomBytes(32)))));
    const result = await client.callTool(call);
    assert.equal(result.isError, true);
    assert.match(JSON.stringify(result.content), /was not signed by the tool's key.*The tool (?:may have run|ran)\./);
  });
});

test("rubbish on standard input is answered, and its end ends the bridge", async () => {
  const { command, args, cwd } = bridge();
  const input =
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}';
  const quoted = [command, ...args].map((word) => `'${word}'`).join(" ");
  const { status, stdout } = await run(
    "bash",
    ["-c", `(printf '%s\\n' 'no JSON' '[1]' '${input}'; sleep 3) | ${quoted}`],
    { cwd },
  );
  assert.equal(status, 0);
  const codes = stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { error?: { code: number } }).error?.code);
  assert.deepEqual(codes, [-32700, -32600, undefined]);
});

test("other clients", { skip: process.env.SVC_TEST_FULL !== "1" }, async () => {
  mkdirSync(join(FOLDER, "clients"));
  const folder = join(FOLDER, "clients");
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const packages = ["@modelcontextprotocol/sdk@1", "@ai-sdk/mcp", "@modelcontextprotocol/inspector"];
  const installed = await run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...packages], {
    cwd: folder,
  });
  assert.equal(installed.status, 0, installed.out);
  const parameters = JSON.stringify(bridge());
  writeFileSync(
    join(folder, "v1.mjs"),
    `import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
const client = new Client({ name: "v1", version: "1" });
await client.connect(new StdioClientTransport(${parameters}));
console.log(JSON.stringify((await client.callTool(${JSON.stringify(call)})).structuredContent));
await client.close();`,
  );
  writeFileSync(
    join(folder, "ai.mjs"),
    `import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as Stdio } from "@ai-sdk/mcp/mcp-stdio";
const client = await createMCPClient({ transport: new Stdio(${parameters}) });
const tools = await client.tools();
const result = await tools.xyz_demo_sum_v1.execute(${JSON.stringify(INPUT)}, { messages: [], toolCallId: "1" });
console.log(JSON.stringify(result.structuredContent));
await client.close();`,
  );
  for (const file of ["v1.mjs", "ai.mjs"]) {
    const { stdout, out } = await run(process.execPath, [file], { cwd: folder });
    assert.deepEqual(JSON.parse(stdout.trim().split("\n").at(-1) ?? ""), EXACT, `${file}: ${out}`);
  }
  const { command, args } = bridge();
  const inspector = ["--cli", command, ...args.map((word) => (word === "leader.key" ? join(FOLDER, word) : word))];
  const given = Object.entries(INPUT).flatMap(([name, value]) => [
    "--tool-arg",
    `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  ]);
  const inspected = await run(
    join(folder, "node_modules/.bin/mcp-inspector"),
    [...inspector, "--method", "tools/call", "--tool-name", call.name, ...given],
    { cwd: folder },
  );
  assert.match(inspected.stdout, /"sum": "9007199254740993"/, inspected.out);
});
