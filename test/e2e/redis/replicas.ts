/** Replicas of one tool as processes. */

import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Child, start } from "../../runtime/child.js";
import { atEnd } from "../../teardown.js";
import { LEADER, MARKS, SECRET, toolConfig } from "../fault/harness.js";
import { leasePort } from "../process.js";

export const FQN = "xyz.fault.counted@1";
/** The tool's timeout in milliseconds: the default of all tools. */
export const TIMEOUT_MS = 10_000;

export interface ReplicaOptions {
  /** Of the Redis, through whatever stands before it. Absent: each replica has its own memory. */
  readonly url?: string | undefined;
  readonly graceMs?: number;
  /** Time limit of the store's commands, in milliseconds. */
  readonly timeoutMs?: number;
  /** Lease of a claim in place of the tool's timeout and 30 s. */
  readonly leaseMs?: number;
  readonly ttlMs?: number;
  /** Leaders that are allowed: the one of the suite by default. */
  readonly leaders?: readonly (typeof LEADER)[];
  readonly env?: Readonly<Record<string, string>>;
  /** Options of `bootstrap`. */
  readonly options?: object;
}

/** What a line of the file of runs says. */
export interface RunEvent {
  readonly kind: "begin" | "end";
  readonly replica: string;
  readonly pid: number;
  readonly pair: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The file in which replicas note their runs. */
export class RunLog {
  readonly directory = mkdtempSync(join(tmpdir(), "svc-runs-"));
  readonly path = join(this.directory, "runs");

  constructor() {
    appendFileSync(this.path, "");
    atEnd(() => rmSync(this.directory, { recursive: true, force: true }));
  }

  read(): readonly RunEvent[] {
    const lines = readFileSync(this.path, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => {
      const [kind, replica = "", pid, pair, at] = line.split(" ");
      return { kind: kind as RunEvent["kind"], replica, pid: Number(pid), pair: Number(pair), at: Number(at) };
    });
  }

  /** Runs by pair. */
  runs(): Map<number, number> {
    const runs = new Map<number, number>();
    for (const { kind, pair } of this.read()) if (kind === "begin") runs.set(pair, (runs.get(pair) ?? 0) + 1);
    return runs;
  }
}

/** A replica: a process on one port across its restarts. */
export class Replica {
  #child!: Child;
  #log = "";

  readonly #runs: RunLog;
  readonly #options: ReplicaOptions;

  private constructor(
    readonly name: string,
    readonly port: number,
    readonly admin: number,
    runs: RunLog,
    options: ReplicaOptions,
  ) {
    this.#runs = runs;
    this.#options = options;
  }

  static async prepare(name: string, runs: RunLog, options: ReplicaOptions): Promise<Replica> {
    return new Replica(name, await leasePort(), await leasePort(), runs, options);
  }

  static async start(name: string, runs: RunLog, options: ReplicaOptions): Promise<Replica> {
    const replica = await Replica.prepare(name, runs, options);
    await replica.start();
    return replica;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get process(): ChildProcess {
    return this.#child.process;
  }

  /** Everything that it has written since its first start. */
  get log(): string {
    return this.#log + this.#child.stdout() + this.#child.stderr();
  }

  /** Starts it and waits until it serves. */
  async start(): Promise<void> {
    this.launch();
    await this.#child.url;
  }

  /** Starts it without waiting. */
  launch(): Child {
    const { url, graceMs, timeoutMs, leaseMs, ttlMs = 300_000, leaders = [LEADER], env, options = {} } = this.#options;
    const inCode = url !== undefined && leaseMs !== undefined;
    const config = join(this.#runs.directory, `${this.name}.json`);
    writeFileSync(config, JSON.stringify(toolConfig([FQN], { leaders, ttlMs })), { mode: 0o600 });
    if (this.#child !== undefined) this.#log = this.log;
    this.#child = start(process.execPath, [fileURLToPath(new URL("replica.mjs", import.meta.url))], {
      BIND_ADDR: `127.0.0.1:${this.port}`,
      SVC_ADMIN_ADDR: `127.0.0.1:${this.admin}`,
      SVC_TOOLKIT_CONFIG_PATH: config,
      FAULT_CANARY: MARKS.environment,
      REPLICA: JSON.stringify({
        fqn: FQN,
        timeoutMs: TIMEOUT_MS,
        runs: this.#runs.path,
        name: this.name,
        options,
        ...(inCode && { store: { url, graceMs, timeoutMs, leaseMs } }),
      }),
      ...(url !== undefined && !inCode && { SVC_REPLAY_REDIS_URL: url }),
      ...(graceMs !== undefined && !inCode && { SVC_REPLAY_REDIS_GRACE_MS: `${graceMs}` }),
      ...(timeoutMs !== undefined && !inCode && { SVC_REPLAY_REDIS_TIMEOUT_MS: `${timeoutMs}` }),
      ...env,
    });
    return this.#child;
  }

  /** Ends it in an instant, as a crash would. */
  async kill(): Promise<void> {
    this.#child.process.kill("SIGKILL");
    await this.#child.ended;
  }

  /** Ends it with SIGTERM, looks for marks in its log, and gives its exit code. */
  async stop(): Promise<number | null> {
    this.#child.process.kill("SIGTERM");
    const { code } = await this.#child.ended;
    this.assertCleanLog();
    return code;
  }

  assertCleanLog(marks: readonly string[] = []): void {
    for (const mark of [...SECRET, ...marks]) assert.ok(!this.log.includes(mark), `the log holds ${mark}`);
  }

  /** The sum of a metric's samples over their labels, as far as `labels` does not say which; 0 without any. */
  async metric(name: string, labels = ""): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.admin}/metrics`)).text();
    const samples = text.split("\n").filter((line) => new RegExp(`^${name}(\\{.*\\})? `).test(line));
    const counted = samples.filter((line) => line.includes(labels));
    return counted.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
  }

  /** Status and text of `/readyz`. */
  async readiness(): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(`http://127.0.0.1:${this.admin}/readyz`);
    return { status: response.status, text: await response.text() };
  }
}

/** Starts some replicas of one tool, at the same time. */
export async function startReplicas(count: number, runs: RunLog, options: ReplicaOptions): Promise<Replica[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => Replica.start(`r${i}`, runs, options)));
}

/** Ends all replicas; each has to end well. */
export async function stopAll(replicas: readonly Replica[]): Promise<void> {
  const codes = await Promise.all(replicas.map((replica) => replica.stop()));
  assert.deepEqual(
    codes,
    codes.map(() => 0),
    replicas.map(({ log }) => log.slice(-2_000)).join("\n"),
  );
}
