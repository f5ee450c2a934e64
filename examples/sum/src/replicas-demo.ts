/**
 * Three replicas behind nginx that share a replay store in Redis. Signed calls and their retries reach the replicas in
 * turn, one replica is killed, and each call runs at most once. With `--memory` each replica has its own replay memory and
 * refuses copies of calls that another one may have run. The exit code is 0 if no call ran twice and all answers of a call
 * are equal.
 */

import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CallResult, LeaderClient, LeaderError, publicKeyOf, type SignedRequest } from "svc-runtime/leader";
import { findProgram, MissingProgram, Processes, type Replica } from "./replicas.js";

const FQN = "xyz.demo.sum@1";
const CALLS = 200;
/** Number of concurrent copies of each call. */
const COPIES = 3;
/** Number of calls in flight at the same time. */
const AT_ONCE = 16;
/** Milliseconds added to each run, so that copies arrive during the run. */
const RUN_MS = 20;
const RETRY_MS = 50;
/** Milliseconds to wait for a signal that has already ended another process. */
const SIGNAL_MS = 100;
/** Milliseconds without a result after which the demo gives up. */
const STALL_MS = 60_000;

const isShared = !process.argv.includes("--memory");
const processes = new Processes();
const stall = setTimeout(() => {
  console.error(`\nFailed: no result for ${STALL_MS / 1000} s`);
  process.exit(1);
}, STALL_MS);
process.once("exit", () => processes.end());
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const) {
  process.once(signal, () => process.exit(code));
}

try {
  await demo();
} catch (error) {
  // Ctrl-C in a terminal signals all processes at once; let the signal handler run first.
  await new Promise((resolve) => setTimeout(resolve, SIGNAL_MS));
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof MissingProgram) console.error(message);
  else {
    console.error(`\nFailed: ${message}`);
    if (processes.log !== "") console.error(`\nThe log of the processes:\n${processes.log}`);
  }
  process.exitCode = 1;
}
// Exiting closes idle connections and ends the child processes.
process.exit();

async function demo(): Promise<void> {
  const programs = {
    redis: findProgram(["redis-server", "valkey-server"], "Debian: apt-get install redis-server"),
    nginx: findProgram(["nginx"], "Debian: apt-get install nginx-light"),
  };
  console.log(
    `Three replicas of one tool behind nginx, ${isShared ? "with a shared replay store in Redis" : "each with its own replay memory"}\n`,
  );

  const [leaderKey, toolKey] = [randomBytes(32), randomBytes(32)];
  const config = writeConfig(leaderKey, toolKey);
  const env: Record<string, string> = { SVC_TOOLKIT_CONFIG_PATH: config, RUN_MS: String(RUN_MS) };
  if (isShared) {
    const { url, version } = await processes.redis(programs.redis);
    Object.assign(env, { SVC_REPLAY_REDIS_URL: url, SVC_REPLAY_REDIS_GRACE_MS: "500" });
    step("redis", `${version}, empty, maxmemory-policy noeviction`);
  }
  const [a, b, c] = await Promise.all([
    processes.replica("A", env),
    processes.replica("B", env),
    processes.replica("C", env),
  ]);
  const replicas = [a, b, c];
  step("replicas", replicas.map(({ name, address }) => `${name} ${address}`).join(", "));
  const nginx = await processes.nginx(programs.nginx, replicas);
  step("nginx", `${nginx.url} sends requests to them in turn`);

  const client = await LeaderClient.connect(`${nginx.url}/sum`, {
    fqn: FQN,
    leader: { id: "demo-leader", keyId: 0, key: leaderKey },
    toolKey: publicKeyOf(toolKey),
  });
  stall.refresh();

  const first = await Promise.all(group(client, () => true));
  const firstRuns = runsOf(replicas);
  step("calls", `${CALLS} signed calls, each sent ${COPIES} times at once: ${CALLS * COPIES} verified results`);
  more(`runs: ${replicas.map(({ name, runs }) => `${runs().length} in ${name}`).join(", ")}`);
  const answered = nginx.passed().filter(({ status }) => status === 200);
  const elsewhere = answered.filter(({ nonce, answeredBy }) => {
    const ran = firstRuns.get(hexOf(nonce)) ?? [];
    return ran.length > 0 && !ran.some(({ address }) => address === answeredBy);
  });
  more(`${elsewhere.length} of the results came from another replica than the one in which the call ran`);

  let killed = false;
  const calls = group(client, () => !killed);
  await calls[CALLS / 2];
  await b.kill();
  killed = true;
  const second = await Promise.all(calls);
  // Nothing runs now, so the calls still in flight were claimed by B.
  for (const call of second) while (call.results.length < COPIES && (await sendCopy(client, call, () => false)));
  const lost = second.filter(({ results }) => results.length < COPIES);
  step("kill -9", `replica B, while ${CALLS} more calls were on their way, each ${COPIES} times`);
  more(`${CALLS - lost.length} got their results; under way in B when it died: ${lost.length}`);
  if (lost.length > 0) {
    more("a retry of those is 409 for 340 s (10 s timeout of the tool, 30 s more of lease, 300 s of TTL), then it");
    more("runs: no process knows how far they came");
  }

  const again = first.filter(({ nonce }) => firstRuns.get(nonce)?.includes(b));
  for (const call of again) await sendCopy(client, call, () => true);
  step("retries", `A and C answered a retry of each of the ${again.length} earlier calls that ran in B`);

  clearTimeout(stall);
  client.close();
  const runs = runsOf(replicas);
  const twice = [...runs.values()].filter(({ length }) => length > 1).length;
  const all = [...first, ...second];
  const different = all.filter(({ results }) => results.some((result) => !sameResult(result, results[0])));
  const without = all.filter(({ nonce, results }) => results.length > 0 && !runs.has(nonce));
  const unanswered = lost.filter(({ nonce }) => runs.get(nonce)?.some((replica) => replica !== b));
  step(
    "counted",
    `in the files that the replicas wrote: ${all.length} calls, ${[...runs.values()].flat().length} runs`,
  );
  if (twice > 0) throw new Error(`${twice} calls ran twice`);
  if (without.length > 0) throw new Error(`${without.length} calls have a result and no run`);
  if (unanswered.length > 0) throw new Error(`${unanswered.length} calls ran in A or C and have no result`);
  if (different.length > 0) throw new Error(`${different.length} calls got results or signatures that differ`);
  console.log("\nNothing ran twice, and all results of a call have the same bytes and the same signature.");
}

/** A call and the results of its copies. */
interface Call {
  readonly nonce: string;
  readonly request: SignedRequest;
  readonly results: CallResult[];
}

/**
 * Sends each call several times at once, and retries until it has its results.
 *
 * @param repeats whether to retry a copy whose call is in flight
 */
function group(client: LeaderClient, repeats: () => boolean): Promise<Call>[] {
  const calls: Promise<Call>[] = [];
  for (let i = 0; i < CALLS; i++) {
    const request = client.sign({ a: BigInt(i), b: 1n, label: `call ${i}`, tags: ["x"] });
    const call: Call = { nonce: Buffer.from(request.nonce).toString("hex"), request, results: [] };
    // A call starts when the one AT_ONCE places before it has ended.
    const turn = calls[i - AT_ONCE] ?? Promise.resolve();
    calls.push(turn.then(() => sendCopies(client, call, repeats)));
  }
  return calls;
}

async function sendCopies(client: LeaderClient, call: Call, repeats: () => boolean): Promise<Call> {
  await Promise.all(Array.from({ length: COPIES }, () => sendCopy(client, call, repeats)));
  return call;
}

/** Sends a call until it has one more result; false if it is in flight and must not be retried. */
async function sendCopy(client: LeaderClient, call: Call, repeats: () => boolean): Promise<boolean> {
  for (;;) {
    const again = repeats();
    try {
      call.results.push(await client.send(call.request));
      stall.refresh();
      return true;
    } catch (error) {
      if (error instanceof LeaderError && error.code === "replay_memory_lost") {
        throw new Error("a replica refused a copy of a call: the replicas share no replay memory");
      }
      if (!mayRepeat(error)) throw error;
      if (error.status === 409 && !again) return false;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** Whether a leader may retry the same request: it is in flight, nothing ran, or the gateway got no answer. */
function mayRepeat(error: unknown): error is LeaderError {
  return error instanceof LeaderError && [409, 502, 503].includes(error.status ?? 0);
}

/** The replicas in which each call ran, by nonce. */
function runsOf(replicas: readonly Replica[]): Map<string, Replica[]> {
  const found = new Map<string, Replica[]>();
  for (const replica of replicas) {
    for (const nonce of replica.runs()) found.set(nonce, [...(found.get(nonce) ?? []), replica]);
  }
  return found;
}

function sameResult(one: CallResult, other: CallResult | undefined): boolean {
  return (
    other !== undefined &&
    one.toolSignature !== undefined &&
    Buffer.from(one.bcs).equals(other.bcs) &&
    Buffer.from(one.toolSignature).equals(other.toolSignature ?? one.bcs)
  );
}

/** A nonce header converted to hex. */
function hexOf(nonce: string): string {
  return Buffer.from(nonce, "base64url").toString("hex");
}

/** Writes the configuration of the replicas, with one leader and a key that signs results. */
function writeConfig(leaderKey: Uint8Array, toolKey: Uint8Array): string {
  const public_key = Buffer.from(publicKeyOf(leaderKey)).toString("hex");
  const config = {
    signed_http: {
      allowed_leaders: { version: 1, leaders: [{ leader_id: "demo-leader", keys: [{ kid: 0, public_key }] }] },
      tools: { [FQN]: { response_signing_key: Buffer.from(toolKey).toString("hex") } },
    },
  };
  const path = join(processes.folder, "config.json");
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

function step(title: string, text: string): void {
  console.log(`${title.padEnd(10)} ${text}`);
}

function more(text: string): void {
  console.log(`${" ".repeat(11)}${text}`);
}
