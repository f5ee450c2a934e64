/** `svc-gen mcp` as a client starts it, in front of a signed server, and the same over HTTP, of `svc-gen dev`. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { before, describe, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { serve } from "svc-runtime";
import { publicKeyOf, readReceipt } from "svc-runtime/leader";
import { provideContracts } from "svc-runtime/v1";
import { CliProcess, startDev } from "../generator/cli-process.js";
import { ToolProject } from "../generator/project.js";
import { REPOSITORY } from "../repository.js";
import { CuttingProxy } from "../runtime/cutting-proxy.js";
import { alice, signedConfig, TOOL_SEED } from "../runtime/tools.js";
import { scratchFolder } from "../scratch-folder.js";
import { atEnd } from "../teardown.js";
import { run } from "./packages.js";

const BIN = join(REPOSITORY, "generator/bin.js");
const FOLDER = scratchFolder();
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

const AS_ALICE = ["--leader-key", "leader.key", "--leader-id", "alice"];
const bridge = (key = hex(publicKeyOf(TOOL_SEED)), ...more: string[]) => ({
  command: process.execPath,
  args: [BIN, "mcp", "--url", `${proxy.url}/sum`, ...AS_ALICE, "--tool-key", key, ...more],
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

  test("gets the result of a single run when the connection to the tool breaks after the run", async () => {
    const client = await connect(bridge());
    await client.listTools();
    const before = runs;
    let cuts = 0;
    proxy.cut = () => (cuts++ === 0 ? "after" : "pass");
    assert.deepEqual((await client.callTool(call)).structuredContent, EXACT);
    proxy.cut = () => "pass";
    assert.deepEqual([runs - before, cuts], [1, 2]);
  });

  test("gets the file of the receipt, or an error that the tool ran if it cannot be written", async () => {
    const keys = { leaderKey: hex(publicKeyOf(alice.seed)), toolKey: hex(publicKeyOf(TOOL_SEED)) };
    const client = await connect(bridge(keys.toolKey, "--receipts", "kept/receipts"));
    const file = (await client.callTool(call))._meta?.["svc-gen/receipt"] as string;
    assert.match(file, /\/kept\/receipts\/xyz\.demo\.sum-1-[0-9a-f]{64}\.json$/);
    assert.equal(readReceipt(readFileSync(file), keys).tool, "xyz.demo.sum@1");
    const full = await connect(bridge(keys.toolKey, "--receipts", "leader.key"));
    const result = await full.callTool(call);
    assert.equal(result.isError, true);
    assert.match(JSON.stringify(result.content), /The tool ran, and cannot write .*its folder is a file/);
  });

  test("rejects a result signed by another key", async () => {
    const client = await connect(bridge(hex(publicKeyOf(randomBytes(32)))));
    const result = await client.callTool(call);
    assert.equal(result.isError, true);
    assert.match(JSON.stringify(result.content), /was not signed with the tool's key.*The tool (?:may have run|ran)\./);
  });
});

test("invalid input on standard input is answered; the end of standard input ends the bridge", async () => {
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

/** A folder with packages, which is kept: removing thousands of files holds up the end of the test file. */
async function installedOnce(name: string, ...packages: readonly string[]): Promise<string> {
  const folder = join(REPOSITORY, "node_modules/.cache", name);
  if (existsSync(join(folder, "package-lock.json"))) return folder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const args = ["install", "--no-audit", "--no-fund", "--foreground-scripts", ...packages];
  const installed = await run("npm", args, { cwd: folder });
  assert.equal(installed.status, 0, installed.out);
  return folder;
}

const COUNTING = `import { SvcTool } from "svc-runtime";
let runs = 0;
interface Input {
  /** @format int64 */
  value: bigint;
  note?: unknown;
}
/** Counts its runs. */
export class Counting extends SvcTool<Input, { ok: { value: bigint; run: number; note?: unknown } }> {
  static override fqn() { return "xyz.test.counting@1"; }
  static override path() { return "counting"; }
  override async invoke({ value, note }: Input) { return { ok: { value, run: ++runs, note } }; }
}
`;

describe("over HTTP, of svc-gen dev --signed", { timeout: 300_000 }, () => {
  const project = new ToolProject({ "src/counting.ts": COUNTING });
  let url = "";
  before(async () => {
    url = (await startDev(project.root, "--signed")).mcp;
  });

  /** The status of an answer, and its text. */
  const post = async (to: string, headers: object, message: object | string): Promise<[number | undefined, string]> => {
    const accept = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
    const sent = request(to, { method: "POST", headers: { ...accept, ...headers } }).end(
      typeof message === "string" ? message : JSON.stringify(message),
    );
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return [response.statusCode, await text(response)];
  };
  const calling = (params: object) => ({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "xyz_test_counting_v1", arguments: { value: "1" }, ...params },
  });
  const runOf = ([, answer]: readonly [unknown, string]) =>
    Number(/"run":(\d+)/.exec(answer)?.[1] ?? assert.fail(answer));

  for (const mode of [{}, { versionNegotiation: { mode: { pin: "2026-07-28" } } }]) {
    test(`the official client gets verified, exact results: ${JSON.stringify(mode)}`, async () => {
      const client = new Client({ name: "test", version: "1" }, mode);
      await client.connect(new StreamableHTTPClientTransport(new URL(url)));
      const { structuredContent, _meta } = await client.callTool({
        name: "xyz_test_counting_v1",
        arguments: { value: "9007199254740993" },
      });
      assert.equal((structuredContent as { ok: { value: string } }).ok.value, "9007199254740993");
      assert.equal(_meta?.["svc-gen/signature"], "verified");
      await client.close();
    });
  }

  test("the same id runs the tool again, the same idempotency key does not", async () => {
    const first = runOf(await post(url, {}, calling({})));
    assert.equal(runOf(await post(url, {}, calling({}))), first + 1);
    const keyed = calling({ _meta: { "svc-gen/idempotency-key": "k" } });
    assert.equal(runOf(await post(url, {}, keyed)), first + 2);
    assert.equal(runOf(await post(url, {}, keyed)), first + 2);
  });

  test("an integer that JSON.parse would round is read exactly", async () => {
    const sent = JSON.stringify(calling({ arguments: { value: "1", note: [0] } })).replace("[0]", "[9007199254740993]");
    const [, answer] = await post(url, {}, sent);
    assert.match(answer, /"note":\["9007199254740993"\]/);
  });

  test("a rebound name, another origin and a missing token are refused", async () => {
    const { host, origin, pathname } = new URL(url);
    assert.equal((await post(url, { Host: "evil.example" }, calling({})))[0], 403);
    assert.equal((await post(url, { Origin: "http://evil.example" }, calling({})))[0], 403);
    assert.equal((await post(url, { Origin: `http://localhost:${host.split(":")[1]}` }, calling({})))[0], 403);
    assert.equal((await post(url, { "Sec-Fetch-Site": "cross-site" }, calling({})))[0], 403);
    assert.equal((await post(`${origin}/mcp`, {}, calling({})))[0], 403);
    // Other endpoints of the page still want the origin of the page.
    assert.equal((await post(`${origin}${pathname.replace(/mcp$/, "api/call")}`, {}, {}))[0], 403);
  });

  test("--print-config names the address while the server runs", async () => {
    const { stdout } = await run(process.execPath, [BIN, "mcp", "--print-config"], { cwd: project.root });
    const [own, http] = Object.values(JSON.parse(stdout).mcpServers as Record<string, object>);
    assert.deepEqual(http, { type: "http", url });
    assert.deepEqual(Object.keys(own ?? {}), ["command", "args"]);
  });

  test("the endpoint is disabled with --host and with the keys of another leader", async () => {
    for (const options of [
      ["--host", "127.0.0.1"],
      ["--signed", "--leader-key", join(FOLDER, "leader.key")],
    ]) {
      const dev = new CliProcess(project.root, ["dev", "--port", "0", "--json", ...options]);
      const page = await dev.event<{ readonly event: "page"; readonly url: string; readonly mcp?: string }>("page");
      assert.equal(page.mcp, undefined);
      assert.equal((await fetch(`${page.url}mcp`)).status, 404);
      await dev.interrupt();
    }
  });

  const skip =
    process.env.SVC_TEST_FULL !== "1" &&
    "NOT TESTED: the official conformance suite, in the full run only (SVC_TEST_FULL=1)";
  test("the conformance suite passes, except for tests that do not apply", { skip }, async () => {
    // The first version with scenarios of 2026-07-28. It needs Node 22.
    const packages = ["@modelcontextprotocol/conformance@0.2.0-alpha.12", "node@22"];
    const folder = await installedOnce("mcp-conformance", ...packages);
    rmSync(join(folder, "out"), { recursive: true, force: true });
    const node = join(folder, "node_modules/node/bin/node");
    const suite = join(folder, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
    const baseline = join(REPOSITORY, "test/e2e/mcp-conformance.yml");
    const given = ["server", "--url", url, "--suite", "all", "--expected-failures", baseline, "-o", "out"];
    const { status, out } = await run(node, [suite, ...given], { cwd: folder });
    assert.equal(status, 0, out.slice(out.indexOf("SUMMARY")));

    const failed = (scenario: string) => {
      const results = readdirSync(join(folder, "out")).find((each) => each.startsWith(`server-${scenario}-`));
      const checks = JSON.parse(readFileSync(join(folder, "out", results ?? assert.fail(out), "checks.json"), "utf8"));
      return (checks as { id: string; status: string }[])
        .filter(({ status }) => status === "FAILURE")
        .map(({ id }) => id);
    };
    assert.deepEqual(failed("server-stateless"), [
      "sep-2575-server-rejects-undeclared-capability",
      "sep-2575-missing-capability-http-400",
      "sep-2575-http-server-no-independent-requests-on-stream",
      "sep-2575-server-no-log-without-loglevel",
    ]);
    assert.deepEqual(failed("caching"), [
      "sep-2549-prompts-list-caching-hints",
      "sep-2549-resources-list-caching-hints",
      "sep-2549-resources-templates-list-caching-hints",
    ]);
    assert.deepEqual(failed("dns-rebinding-protection"), []);
  });
});
