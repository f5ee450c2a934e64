/**
 * One signed call, from a tool class to a verified result: starts the generated server as an operator would, calls it as
 * a leader does, and shows refused calls. Exits with code 1 if anything deviates from the protocol.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type CallResult, LeaderClient, LeaderError, type PortShape, publicKeyOf } from "svc-runtime/leader";

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
let steps = 0;

process.once("exit", () => {
  server?.kill();
  rmSync(directory, { recursive: true, force: true });
});
process.once("SIGINT", () => process.exit(130));

try {
  await demo();
  console.log("\nAll checks passed.");
} catch (error) {
  console.error(`\nFailed: ${error instanceof Error ? error.message : String(error)}`);
  if (log !== "") console.error(`\nThe server's log:\n${log}`);
  process.exitCode = 1;
}
server?.kill();

async function demo(): Promise<void> {
  console.log("One signed call, from a tool class to a verified result\n");

  const url = await startServer();
  step("server", `dist/generated/server.js listens on ${url}`);
  more("signed requests are required; it knows one leader and has a key to sign results with");

  const client = await LeaderClient.connect(`${url}/sum`, {
    fqn: FQN,
    leader: { id: LEADER_ID, keyId: 0, key: leaderKey },
    toolKey: publicKeyOf(toolKey),
  });
  const { fqn, description, timeout } = client.metadata;
  step("metadata", `GET /sum/meta: ${fqn}, ${JSON.stringify(description)}, at most ${timeout} ms a call`);

  const { inputPorts, outputVariants } = client.ports;
  step("ports", `in   ${portNames(inputPorts)}`);
  for (const { name, ports } of outputVariants) more(`out  ${name}: ${portNames(ports)}`);

  const request = client.sign(INPUT);
  step("hash", `${short(request.inputHash)} commits to the values of all ${inputPorts.length} ports, in their order`);
  more(`a ${INPUT.a}, b ${INPUT.b}: the sum has no double, so rounding anywhere would show`);
  step("signature", `${short(request.leaderSignature)} is ${LEADER_ID}'s, by Ed25519 over that hash`);
  more(`nonce ${short(request.nonce)}, random here; a network derives it from the invocation`);

  const first = await timed(() => client.send(request));
  expect(first.result.tag === "ok", `expected the variant ok, got ${first.result.tag}`);
  expect(first.result.value.sum === EXPECTED_SUM, `expected the sum ${EXPECTED_SUM}`);
  step("call", `POST /sum/invoke: ${request.body.length} bytes there, ${first.result.bcs.length} bytes of BCS back`);
  more(`${first.result.tag}: ${portTexts(first.result)}`);

  expect(first.result.signature === "verified", "expected a verified result");
  step("verified", `${short(first.result.toolSignature)} is the tool's signature over`);
  more(`the leader's signature, the nonce and the result's hash ${short(first.result.outputHash)}`);

  const second = await timed(() => client.send(request));
  expect(Buffer.from(second.result.bcs).equals(first.result.bcs), "expected the same bytes for an exact retry");
  step("retry", `the same request again: the same ${second.result.bcs.length} bytes, from the replay cache`);
  more(`${first.ms} ms the first time, ${second.ms} ms the second`);

  const sent = Buffer.from(request.body).toString("utf8");
  const tampered = sent.replace(`"data":${INPUT.b}}`, `"data":${INPUT.b + 1n}}`);
  expect(tampered !== sent, "expected b in the body");
  const changed = await refused(client.send({ ...request, body: Buffer.from(tampered) }));
  expect(changed.status === 422, `expected 422 for a tampered body, got ${changed.status}`);
  step("tampered", `b changed from 1 to 2 on the way: ${changed.status} ${changed.code}`);
  more(String(changed.details));

  const stranger = await refused(client.invokeUnsigned(INPUT));
  expect(stranger.status === 401, `expected 401 for an unsigned call, got ${stranger.status}`);
  step("unsigned", `the same input without a signature: ${stranger.status} ${stranger.code}`);
  more(String(stranger.details));

  client.close();
  const code = await stopServer();
  const runs = log.split("\n").filter((line) => line.includes('"msg":"adding"')).length;
  expect(code === 0, `expected the server to end with exit code 0, got ${code}`);
  expect(runs === 1, `expected one run of the tool in the server's log, got ${runs}`);
  step("stopped", `four calls, and by the server's log the tool ran ${runs} time`);
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

async function timed(call: () => Promise<CallResult>): Promise<{ result: CallResult; ms: string }> {
  const start = performance.now();
  const result = await call();
  return { result, ms: (performance.now() - start).toFixed(1) };
}

/** Returns the refusal of a call that must not succeed. */
async function refused(call: Promise<CallResult>): Promise<LeaderError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof LeaderError && error.status !== undefined) return error;
    throw error;
  }
  throw new Error("expected a refusal, got a result");
}

function expect(condition: boolean, message: string): void {
  if (!condition) throw new Error(message);
}

function step(title: string, text: string): void {
  steps++;
  console.log(`${String(steps).padStart(2)}  ${title.padEnd(10)} ${text}`);
}

function more(text: string): void {
  console.log(`${" ".repeat(15)}${text}`);
}

function portNames(ports: readonly PortShape[]): string {
  return ports.map(({ name, many }) => (many ? `${name}[]` : name)).join(", ");
}

/** The ports of a result as the JSON texts that were signed. */
function portTexts({ ports }: CallResult): string {
  return ports
    .map(({ name, many, values }) => {
      const texts = values.map((value) => (value.kind === "inline" ? Buffer.from(value.bytes).toString("utf8") : "…"));
      return `${name} ${many ? `[${texts.join(", ")}]` : texts[0]}`;
    })
    .join(", ");
}

/** The first and last four bytes in hex. */
function short(bytes: Uint8Array | undefined): string {
  const hex = Buffer.from(bytes ?? []).toString("hex");
  return `${hex.slice(0, 8)}…${hex.slice(-8)}`;
}
