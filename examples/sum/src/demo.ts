/**
 * One signed call whose answer is lost and whose result is proven later: starts the generated server as an operator would,
 * calls it as a leader does through a connection that breaks, repeats the call, and verifies its receipt with svc-gen. Exits
 * with code 1 if anything deviates from the protocol.
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type CallResult, LeaderClient, LeaderError, publicKeyOf, readReceipt } from "svc-runtime/leader";

const FQN = "xyz.demo.sum@1";
const LEADER_ID = "demo-leader";

/** Beyond 2^53, where JSON.parse rounds: 9007199254740993 becomes 9007199254740992. */
const INPUT = { a: 9_007_199_254_740_992n, b: 1n, label: "2^53 + 1", tags: ["exact", "signed"] };
const EXPECTED_SUM = 9_007_199_254_740_993n;

const leaderKey = randomBytes(32);
const toolKey = randomBytes(32);
const directory = mkdtempSync(join(tmpdir(), "svc-demo-"));
let server: ChildProcess | undefined;
let log = "";

process.once("exit", () => {
  server?.kill();
  rmSync(directory, { recursive: true, force: true });
});
process.once("SIGINT", () => process.exit(130));

try {
  await demo();
  console.log("\nAll checks passed. Next: docs/get-started.md, or node generator/bin.js new ../my-tool");
} catch (error) {
  console.error(`\nFailed: ${error instanceof Error ? error.message : String(error)}`);
  if (log !== "") console.error(`\nThe server's log:\n${log}`);
  process.exitCode = 1;
}
// Open connections of the gateway would keep the process alive.
process.exit();

async function demo(): Promise<void> {
  console.log("An agent's retry does not run a tool twice, and the answer can be proven later\n");

  const url = await startServer();
  step("server", `${FQN}, generated from examples/sum/src/sum.ts; it accepts calls that one leader has signed`);

  const gateway = await startGateway(url);
  const options = { fqn: FQN, leader: { id: LEADER_ID, keyId: 0, key: leaderKey }, toolKey: publicKeyOf(toolKey) };
  const client = await LeaderClient.connect(`${gateway.url}/sum`, options);
  const request = client.sign(INPUT);
  gateway.loseAnswers(true);
  const lost = await failed(client.send(request));
  gateway.loseAnswers(false);
  expect(lost.ran === "maybe", `expected that the tool may have run, got ${lost.ran}`);
  step("call", `${INPUT.a} + ${INPUT.b}, signed; the connection broke before the answer arrived`);

  const result = await client.repeat(request);
  expect(result.signature === "verified", "expected a verified result");
  expect(result.value.sum === EXPECTED_SUM, `expected the sum ${EXPECTED_SUM}`);
  step("repeat", `the same signed request: ${EXPECTED_SUM}, exact beyond 2^53, signed by the tool`);

  const sent = Buffer.from(request.body).toString("utf8");
  const tampered = sent.replace(`"data":${INPUT.b}}`, `"data":${INPUT.b + 1n}}`);
  expect(tampered !== sent, "expected b in the body");
  const changed = await failed(client.send({ ...request, body: Buffer.from(tampered) }));
  expect(changed.status === 422, `expected 422 for a tampered body, got ${changed.status}`);
  const stranger = await failed(client.invokeUnsigned(INPUT));
  expect(stranger.status === 401, `expected 401 for an unsigned call, got ${stranger.status}`);
  step(
    "refused",
    `changed on the way: ${changed.status} ${changed.code}; unsigned: ${stranger.status} ${stranger.code}`,
  );

  client.destroy();
  gateway.server.close();
  const code = await stopServer();
  const runs = log.split("\n").filter((line) => line.includes('"msg":"adding"')).length;
  expect(code === 0, `expected the server to end with exit code 0, got ${code}`);
  expect(runs === 1, `expected one run of the tool in the server's log, got ${runs}`);
  step("stopped", `by the server's log, the tool ran ${runs} time`);

  const receipt = join(directory, "receipt.json");
  writeFileSync(receipt, JSON.stringify(result.receipt({ withInputs: true })));
  step("receipt", "written by the leader; the server is gone, and the receipt is verified offline:\n");
  console.log("$ svc-gen verify receipt.json --leader-key LEADER --tool-key TOOL");
  const [leader, tool] = [leaderKey, toolKey].map((key) => Buffer.from(publicKeyOf(key)).toString("hex"));
  const text = verified(receipt, String(leader), String(tool));
  console.log(text.replaceAll(String(leader), "LEADER").replaceAll(String(tool), "TOOL").trimEnd());
}

/** What `svc-gen verify` prints; without svc-gen, as in an installation of the server alone, the claims of `readReceipt`. */
function verified(file: string, leader: string, tool: string): string {
  let svcGen: string;
  try {
    svcGen = import.meta.resolve("svc-gen/package.json");
  } catch {
    const { claims } = readReceipt(readFileSync(file), { leaderKey: leader, toolKey: tool });
    return claims.map(({ verdict, text }) => `${verdict === "true" ? "✓" : "·"} ${text}\n`).join("");
  }
  const args = ["verify", file, "--leader-key", leader, "--tool-key", tool];
  const bin = fileURLToPath(new URL("generator/bin.js", svcGen));
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], { encoding: "utf8" });
  expect(status === 0, `expected a true receipt: ${stdout}${stderr}`);
  return stdout;
}

/** A gateway in front of the server that can break each connection when the answer arrives. */
async function startGateway(target: string) {
  const { hostname, port } = new URL(target);
  let loses = false;
  const server = createServer((caller) => {
    const called = connect(Number(port), hostname);
    caller.on("error", () => called.destroy()).pipe(called);
    called.on("error", () => caller.destroy()).on("end", () => caller.end());
    called.on("data", (bytes) => {
      if (loses) caller.destroy();
      else caller.write(bytes);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port: own } = server.address() as AddressInfo;
  const loseAnswers = (lost: boolean) => {
    loses = lost;
  };
  return { url: `http://127.0.0.1:${own}`, loseAnswers, server };
}

/** Starts the generated server with new keys and returns its address. */
async function startServer(): Promise<string> {
  const config = {
    signed_http: {
      allowed_leaders: {
        version: 1,
        leaders: [
          { leader_id: LEADER_ID, keys: [{ kid: 0, public_key: Buffer.from(publicKeyOf(leaderKey)).toString("hex") }] },
        ],
      },
      tools: { [FQN]: { response_signing_key: toolKey.toString("hex") } },
    },
  };
  const configPath = join(directory, "config.json");
  writeFileSync(configPath, JSON.stringify(config), { mode: 0o600 });
  const child = spawn(process.execPath, [fileURLToPath(new URL("generated/server.js", import.meta.url))], {
    env: {
      ...process.env,
      BIND_ADDR: "127.0.0.1:0",
      SVC_TOOLKIT_CONFIG_PATH: configPath,
      SVC_LOG_LEVEL: "debug",
    },
    stdio: ["ignore", "inherit", "pipe"],
  });
  server = child;
  return new Promise((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      const serving = log.split("\n").find((line) => line.includes('"msg":"serving"') && line.endsWith("}"));
      if (serving !== undefined) resolve((JSON.parse(serving) as { url: string }).url);
    });
    child.once("error", reject);
    child.once("close", (code) => reject(new Error(`the server ended with exit code ${code}`)));
  });
}

/** Stops the server and waits until its log is complete. */
async function stopServer(): Promise<number | null> {
  if (server === undefined) return null;
  const closed = once(server, "close");
  server.kill("SIGTERM");
  const [code] = (await closed) as [number | null];
  server = undefined;
  return code;
}

/** Returns the error of a call that must not succeed. */
async function failed(call: Promise<CallResult>): Promise<LeaderError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof LeaderError) return error;
    throw error;
  }
  throw new Error("expected an error, got a result");
}

function expect(condition: boolean, message: string): void {
  if (!condition) throw new Error(message);
}

function step(title: string, text: string): void {
  console.log(`${title.padEnd(8)} ${text}`);
}
