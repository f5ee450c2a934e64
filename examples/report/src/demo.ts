/**
 * A result that is too large to send inline: one tool renders and stores it and returns a signed reference with a summary;
 * the leader reads and verifies it; another tool checks it. The store is svc-runtime's development store, on this machine.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type JsonText, LeaderClient, LeaderError, publicKeyOf, WalrusValue } from "svc-runtime/leader";
import { FileJournal, WalrusReader, WalrusStorage } from "svc-runtime-storage";
import { DevStore } from "svc-runtime-storage/dev";

/** Few shards, so that blob ids are computed quickly; the real networks have 1,000. */
const SHARDS = 40;
const TOOLS = ["io.report.render@1", "io.report.audit@1"];

const leader = { id: "demo-leader", keyId: 0, key: randomBytes(32) };
const toolKey = randomBytes(32);
const directory = mkdtempSync(join(tmpdir(), "svc-report-"));
const journalPath = join(directory, "uploads");
let server: ChildProcess | undefined;

process.once("exit", () => {
  server?.kill();
  rmSync(directory, { recursive: true, force: true });
});

const store = await DevStore.start({ directory: join(directory, "store"), shards: SHARDS });
try {
  await demo();
  console.log("\nAll checks passed.");
} catch (error) {
  console.error(`\nFailed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
server?.kill();
await store.stop();

async function demo(): Promise<void> {
  const url = await startServer();
  const options = { leader, toolKey: publicKeyOf(toolKey) };
  const reader = new WalrusReader({ aggregator: { url: store.url } });
  const render = await LeaderClient.connect(`${url}/report/render`, { ...options, reader });
  const audit = await LeaderClient.connect(`${url}/report/audit`, options);
  const inputFor = (accounts: number) => ({
    title: "Statements",
    currency: "EUR",
    from: new Date("2024-01-01T00:00:00Z"),
    months: 120,
    accounts: Array.from({ length: accounts }, (_, i) => `DE-${String(i).padStart(6, "0")}`),
  });

  const small = await render.invoke(inputFor(3));
  expect(!(small.value.report instanceof WalrusValue) && store.created === 0, "expected a small report inline");
  say("small", `3 accounts: the report is inline, ${small.bcs.length} bytes of signed result`);

  const result = await render.invoke(inputFor(250));
  const { summary, report } = result.value as { summary: { lines: number; bytes: number }; report: unknown };
  expect(report instanceof WalrusValue && result.signature === "verified", "expected a signed reference");
  say("large", `250 accounts: ${summary.lines} lines, ${mib(summary.bytes)} stored in one blob`);
  say("result", `${result.bcs.length} bytes, signed: the summary inline, the report as blob id and digest`);

  const { texts } = await render.resolve(result);
  const text = texts.report as JsonText;
  expect(text.bytes.length === summary.bytes, "expected the whole report");
  say("resolved", `${mib(text.bytes.length)} from the aggregator, the digest verified`);

  const checked = await audit.invoke({ report: text });
  expect(checked.tag === "correct" && checked.value.lines === summary.lines, "expected a correct report");
  say("audited", `the second tool got exactly these bytes: ${checked.value.lines} lines are correct`);

  store.fail("PUT", { kind: "status", status: 500, stored: true });
  store.fail("GET", { kind: "status", status: 403 });
  const failed = await refusal(render.invoke(inputFor(200)));
  expect(failed.status === 500 && failed.code === "tool_invocation_failed", "expected an unsigned 500");
  say("failure", "a publisher that stores and then fails: 500, unsigned, and nothing of it reaches the caller");

  render.close();
  audit.close();
  const stopped = once(server as ChildProcess, "exit");
  server?.kill("SIGTERM");
  await stopped;
  const journal = await FileJournal.open(journalPath);
  const storage = new WalrusStorage({ ...store.connection(), epochs: 5, journal });
  const [lost, ...more] = await storage.recover();
  expect(lost !== undefined && more.length === 0, "expected one upload that was not returned");
  expect(lost?.paid === "maybe", "expected it to be perhaps paid");
  say("journal", `what was returned is settled; one upload of ${mib(lost?.size ?? 0)} is not, paid: ${lost?.paid}`);
}

/** Starts the generated server as an operator would, with endpoints, journal and credentials in its environment. */
async function startServer(): Promise<string> {
  const keys = [{ kid: leader.keyId, public_key: Buffer.from(publicKeyOf(leader.key)).toString("hex") }];
  const config = {
    signed_http: {
      allowed_leaders: { version: 1, leaders: [{ leader_id: leader.id, keys }] },
      tools: Object.fromEntries(TOOLS.map((fqn) => [fqn, { response_signing_key: toolKey.toString("hex") }])),
    },
  };
  const configPath = join(directory, "config.json");
  writeFileSync(configPath, JSON.stringify(config), { mode: 0o600 });
  const child = spawn(process.execPath, [fileURLToPath(new URL("generated/server.js", import.meta.url))], {
    env: {
      ...process.env,
      BIND_ADDR: "127.0.0.1:0",
      SVC_TOOLKIT_CONFIG_PATH: configPath,
      WALRUS_PUBLISHER: store.url,
      WALRUS_AGGREGATOR: store.url,
      WALRUS_SHARDS: String(SHARDS),
      REPORT_JOURNAL: journalPath,
      // The second tool reads entire reports, which have more values than the default limit of a call.
      SVC_MAX_INPUT_VALUES: "600000",
    },
    stdio: ["ignore", "inherit", "pipe"],
  });
  server = child;
  let log = "";
  return new Promise((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      const serving = log.split("\n").find((line) => line.includes('"msg":"serving"') && line.endsWith("}"));
      if (serving !== undefined) resolve((JSON.parse(serving) as { url: string }).url);
    });
    child.once("close", (code) => reject(new Error(`the server ended with exit code ${code}:\n${log}`)));
  });
}

async function refusal(call: Promise<unknown>): Promise<LeaderError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof LeaderError) return error;
    throw error;
  }
  throw new Error("expected a refusal, got a result");
}

function expect(condition: boolean, message: string): void {
  if (!condition) throw new Error(message);
}

function say(title: string, text: string): void {
  console.log(`${title.padEnd(10)} ${text}`);
}

function mib(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
