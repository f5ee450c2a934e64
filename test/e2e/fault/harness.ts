/**
 * What the fault suite has in common: a server process, its files, leaders who check every signature, a load of a
 * constant rate, and marked strings that must not turn up where they have no business.
 */

import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LeaderClient, LeaderError, type LeaderOptions, publicKeyOf, type SignedRequest } from "#runtime/leader.js";
import { start } from "../../runtime/child.js";
import { until } from "../../runtime/tools.js";
import { scratchFolder } from "../../scratch-folder.js";
import { ECHO, FAULTY, MARKS } from "./names.js";

export { until } from "../../runtime/tools.js";
export { ECHO, FAULTY, MARKS, TIMEOUT_MS } from "./names.js";

/** Whether the suite runs as long as its figures need, or just long enough to fail. */
export const FULL = process.env.SVC_TEST_FULL === "1";
/** Milliseconds that a caller waits. Bounds a hang; the server's own deadlines are shorter. */
const PATIENCE_MS = 120_000;
/** What may be in no log line: keys in any form that they are written in, the environment, inputs. */
export const SECRET = [
  MARKS.key,
  Buffer.from(MARKS.key, "hex").toString("base64"),
  Buffer.from(MARKS.key, "hex").toString("base64url"),
  MARKS.environment,
  MARKS.input,
];

const LEADER_SEED = Buffer.alloc(32, 21);
const OTHER_SEED = Buffer.alloc(32, 22);
export const LEADER = { id: "fault-leader", keyId: 0, key: LEADER_SEED };
/** Allow-listed only where a test says so. */
export const OTHER = { id: "other-leader", keyId: 0, key: OTHER_SEED };

/** A configuration for both tools. */
export function configText(options: ConfigOptions = {}): string {
  return JSON.stringify(toolConfig([ECHO, FAULTY], options));
}

interface ConfigOptions {
  readonly leaders?: readonly (typeof LEADER)[];
  readonly ttlMs?: number;
}

/** A configuration for some tools. */
export function toolConfig(
  fqns: readonly string[],
  { leaders = [LEADER], ttlMs = 60_000 }: ConfigOptions = {},
): object {
  const entry = { response_signing_key: MARKS.key, replay_cache_ttl_ms: ttlMs };
  return {
    signed_http: {
      allowed_leaders: {
        version: 1,
        leaders: leaders.map(({ id, key }) => ({
          leader_id: id,
          keys: [{ kid: 0, public_key: Buffer.from(publicKeyOf(key)).toString("hex") }],
        })),
      },
      tools: Object.fromEntries(fqns.map((fqn) => [fqn, entry])),
    },
  };
}

export interface FaultServer {
  readonly url: string;
  /** Of the admin listener. */
  readonly admin: string;
  readonly process: ChildProcess;
  /** The folder of its configuration, removed with it. */
  readonly directory: string;
  readonly config: string;
  log(): string;
  /** Ends it with SIGTERM, looks for marks in its log, and gives its exit code. */
  stop(): Promise<number | null>;
}

const SERVER = fileURLToPath(new URL("tool-server.ts", import.meta.url));

export interface FaultServerOptions {
  readonly config?: string;
  readonly options?: object;
  readonly env?: Readonly<Record<string, string>>;
  /** Before the command, such as a shell that sets a limit. */
  readonly wrap?: readonly string[];
  readonly nodeOptions?: readonly string[];
  readonly maxInputValues?: number;
}

export async function startFaultServer({
  config = configText(),
  options = {},
  env = {},
  wrap = [],
  nodeOptions = [],
  maxInputValues,
}: FaultServerOptions = {}): Promise<FaultServer> {
  const directory = scratchFolder();
  const configPath = join(directory, "config.json");
  writeFileSync(configPath, config, { mode: 0o600 });
  const [command, ...args] = [...wrap, process.execPath, ...nodeOptions, "--import", "tsx", SERVER];
  const child = start(command as string, args, {
    BIND_ADDR: "127.0.0.1:0",
    SVC_ADMIN_ADDR: "127.0.0.1:0",
    ...(maxInputValues !== undefined && { SVC_MAX_INPUT_VALUES: `${maxInputValues}` }),
    SVC_TOOLKIT_CONFIG_PATH: configPath,
    FAULT_OPTIONS: JSON.stringify(options),
    FAULT_CANARY: MARKS.environment,
    ...env,
  });
  const log = () => child.stdout() + child.stderr();
  const url = await child.url;
  const serving =
    child
      .stderr()
      .split("\n")
      .find((line) => line.includes('"msg":"serving"')) ?? "";
  return {
    url,
    admin: (JSON.parse(serving) as { admin: string }).admin,
    process: child.process,
    directory,
    config: configPath,
    log,
    stop: async () => {
      child.process.kill("SIGTERM");
      const { code } = await child.ended;
      for (const mark of SECRET) assert.ok(!log().includes(mark), `the log holds ${mark}`);
      return code;
    },
  };
}

/** A client of a tool that checks every result's signature. */
export async function clientOf(
  server: FaultServer,
  fqn: string,
  leader = LEADER,
  options: Pick<LeaderOptions, "tls"> = {},
): Promise<LeaderClient> {
  const toolKey = publicKeyOf(Buffer.from(MARKS.key, "hex"));
  return LeaderClient.connect(`${server.url}/${fqn === ECHO ? "echo" : "faulty"}`, {
    fqn,
    leader,
    toolKey,
    ...options,
  });
}

/** How one call ended. */
export interface Outcome {
  /** Milliseconds from when it was due to when its answer was there. */
  readonly ms: number;
  /** The error's code, for a lost connection with the system's; undefined for a result, whose signature verified. */
  readonly code?: string | undefined;
}

export interface Load {
  readonly outcomes: readonly Outcome[];
  /** Every code but success, with how often it came. */
  readonly failures: Readonly<Record<string, number>>;
  readonly p50: number;
  readonly p99: number;
}

export interface LoadOptions {
  /** Calls a second. */
  readonly rate: number;
  /** Whether to go on after so many calls. */
  readonly goesOn: (calls: number) => boolean;
  /** Members of every call's value. */
  readonly input?: object;
  /** Calls without an answer at which it waits: descriptors are finite, and a slow machine is not to be buried. */
  readonly open?: number;
}

/**
 * Calls at a constant rate as long as `goesOn` holds, whatever becomes of earlier calls: a server that stalls is charged
 * for the calls that it keeps waiting. Every call has inputs and a nonce of its own; its result is compared and its
 * signature verified.
 */
export async function load(client: LeaderClient, { rate, goesOn, input = {}, open = 500 }: LoadOptions): Promise<Load> {
  const outcomes: Outcome[] = [];
  const calls: Promise<void>[] = [];
  const started = performance.now();
  for (let i = 0; goesOn(i); i++) {
    await until(() => calls.length - outcomes.length < open, "room for another call");
    const due = started + (i * 1000) / rate;
    const early = due - performance.now();
    if (early > 1) await new Promise((resolve) => setTimeout(resolve, early));
    const value = { ...input, serial: i, text: MARKS.input };
    calls.push(
      outcomeOf(client, client.sign({ value }), value).then((code) => {
        outcomes.push({ ms: performance.now() - due, code });
      }),
    );
  }
  await Promise.all(calls);
  const failures: Record<string, number> = {};
  for (const { code } of outcomes) if (code !== undefined) failures[code] = (failures[code] ?? 0) + 1;
  const times = outcomes.map(({ ms }) => ms).sort((a, b) => a - b);
  const quantile = (q: number) => times[Math.floor((times.length - 1) * q)] ?? Number.NaN;
  return { outcomes, failures, p50: quantile(0.5), p99: quantile(0.99) };
}

/** Makes so many calls, by 16 callers that never wait; each has to succeed. */
export async function callAll(client: LeaderClient, calls: number): Promise<void> {
  let next = 0;
  const caller = async () => {
    while (next < calls) {
      const value = { serial: next++, text: MARKS.input };
      assert.equal(await outcomeOf(client, client.sign({ value }), value), undefined);
    }
  };
  await Promise.all(Array.from({ length: 16 }, caller));
}

/** Undefined when the call gave the expected result, signed; else the code of its error. */
export async function outcomeOf(
  client: LeaderClient,
  request: SignedRequest,
  value: unknown,
): Promise<string | undefined> {
  try {
    const result = await client.send(request, { timeoutMs: PATIENCE_MS });
    assert.equal(result.signature, "verified");
    assert.deepEqual(result.value, { value });
    return undefined;
  } catch (error) {
    if (!(error instanceof LeaderError)) throw error;
    assertClean(error.message);
    return error.code === "connection_failed" ? `${error.code} ${error.details?.split(":", 1)[0]}` : error.code;
  }
}

/** An answer holds none of the marks, those of thrown errors included. */
export function assertClean(answer: string): void {
  for (const mark of [...SECRET, MARKS.error, MARKS.stack])
    assert.ok(!answer.includes(mark), `an answer holds ${mark}`);
}

/** A sample of the admin listener's metrics by name and labels as they are written; undefined when there is none. */
export async function metric(server: FaultServer, sample: string): Promise<number | undefined> {
  const text = await (await fetch(new URL("/metrics", server.admin))).text();
  const line = text.split("\n").find((each) => each.startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(sample.length + 1));
}

/** Bytes that a process holds after a full garbage collection. */
export interface Memory {
  /** By V8: live objects and the buffers that they own. */
  readonly held: number;
  /** By the process as the system sees it. */
  readonly resident: number;
}

/** Collects the garbage of a server that runs with `--expose-gc` and reads its memory. */
export async function memoryOf({ process: child, log }: FaultServer): Promise<Memory> {
  const lines = () => log().match(/^\{"msg":"memory".*\}$/gm) ?? [];
  const before = lines().length;
  child.kill("SIGUSR2");
  await until(() => lines().length > before, "the memory of the server");
  return JSON.parse(lines().at(-1) as string) as Memory;
}
