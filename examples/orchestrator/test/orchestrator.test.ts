/** The orchestrator, killed in the middle of each step and started again: every tool runs once, the invoice is right, and the receipts settle the account. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { publicKeyOf } from "svc-runtime/leader";

const folder = mkdtempSync(join(tmpdir(), "svc-orchestrator-"));
const runs = join(folder, "runs");
writeFileSync(runs, "");
const receipts = join(folder, "steps/receipts.jsonl");
const [leaderKey, toolKey] = [Buffer.alloc(32, 7), Buffer.alloc(32, 9)];
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
/** Built beside this file, which is in `dist/test/test`. */
const dist = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const count = () => readFileSync(runs, "utf8").split("\n").filter(Boolean);

const keys = [{ kid: 0, public_key: hex(publicKeyOf(leaderKey)) }];
const allowed_leaders = { version: 1, leaders: [{ leader_id: "orchestrator", keys }] };
const tools = Object.fromEntries(
  ["price", "total", "invoice"].map((name) => [`xyz.orchestrator.${name}@1`, { response_signing_key: hex(toolKey) }]),
);
const config = join(folder, "config.json");
writeFileSync(config, JSON.stringify({ signed_http: { allowed_leaders, tools } }), { mode: 0o600 });

const server = spawn(process.execPath, [dist("generated/server.js")], {
  env: { ...process.env, RUNS: runs, BIND_ADDR: "127.0.0.1:0", SVC_TOOLKIT_CONFIG_PATH: config },
  stdio: ["ignore", "ignore", "pipe"],
});
after(() => {
  server.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});
const url = await new Promise<string>((resolve, reject) => {
  let log = "";
  server.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    log += chunk;
    const [, found] = /"(http:\/\/127\.0\.0\.1:\d+)"/.exec(log) ?? [];
    if (found !== undefined) resolve(found);
  });
  server.once("exit", () => reject(new Error(log)));
});

function start() {
  const env = { ...process.env, LEADER_KEY: hex(leaderKey), TOOL_KEY: hex(publicKeyOf(toolKey)) };
  return spawn(process.execPath, [dist("leader/orchestrator.js"), url, join(folder, "steps"), "pen", "3"], { env });
}

/** Starts the orchestrator and kills it when a tool has begun to run. */
async function killAt(tool: string) {
  const killed = start();
  while (!count().includes(tool)) {
    assert.equal(killed.exitCode, null);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  killed.kill("SIGKILL");
  await once(killed, "exit");
}

test("three steps, killed twice, run once each", async () => {
  await killAt("price");
  await killAt("total");
  // What a process that is killed while it writes may leave.
  appendFileSync(receipts, '{"receipt":1,"tool":"xyz.orch');
  const last = start();
  const [printed, errors, [code]] = await Promise.all([text(last.stdout), text(last.stderr), once(last, "exit")]);
  assert.equal(code, 0, errors);
  assert.deepEqual(count(), ["price", "total", "invoice"]);
  assert.match(printed, /^27021597764222985 cents, priced at \d{4}-.*Z, [0-9a-f]{64}\n$/);

  server.kill("SIGKILL");
  await once(server, "exit");
  const env = { ...process.env, LEADER_PUBLIC_KEY: hex(publicKeyOf(leaderKey)), TOOL_KEY: hex(publicKeyOf(toolKey)) };
  const settled = spawnSync(process.execPath, [dist("leader/settle.js"), receipts], { env, encoding: "utf8" });
  assert.equal(
    settled.stdout,
    "1 charges, 27021597764222985 cents, 1 lines that are not true receipts\n",
    settled.stderr,
  );
});
