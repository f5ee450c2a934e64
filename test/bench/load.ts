/** Load on one server process and what it costs the process, by the operating system's accounting. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import autocannon from "autocannon";
import { freePort } from "../e2e/process.js";

const TICKS = Number(spawnSync("getconf", ["CLK_TCK"]).stdout.toString()) || 100;
const PINS = spawnSync("taskset", ["-c", "1", "true"]).status === 0;

/** Whether server and load have a core each. */
export const pinned = PINS;

/** A server process under test. */
export interface Target {
  readonly url: string;
  readonly process: ChildProcess;
}

/** Starts a node program on core 0 and waits until it says that it serves. */
export async function startTarget(args: (port: number) => string[], env: Record<string, string> = {}): Promise<Target> {
  const port = await freePort();
  const command = [...(PINS ? ["taskset", "-c", "0"] : []), process.execPath, ...args(port)];
  const child = spawn(command[0] as string, command.slice(1), {
    env: { ...process.env, BIND_ADDR: `127.0.0.1:${port}`, ...env },
    stdio: ["ignore", "inherit", "pipe"],
  });
  let log = "";
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on("data", (chunk: Buffer) => {
      log += chunk;
      if (log.includes('"msg":"serving"')) resolve();
    });
    child.once("exit", () => reject(new Error(`the server under test did not start:\n${log}`)));
  });
  return { url: `http://127.0.0.1:${port}`, process: child };
}

export async function stopTarget({ process: child }: Target): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** CPU seconds of a process so far, all its threads. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** One request as it goes out. */
export interface LoadRequest {
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

export interface Measurement {
  /** Microseconds of CPU of the server process for one call. */
  readonly cpuMicros: number;
  readonly callsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/**
 * Sends each request once over 16 connections and measures the server.
 *
 * @throws Error when an answer is not 200
 */
export async function measure(target: Target, requests: readonly LoadRequest[]): Promise<Measurement> {
  const pid = target.process.pid as number;
  let next = 0;
  const before = cpuSeconds(pid);
  const started = performance.now();
  const result = await autocannon({
    url: `${target.url}/sum/invoke`,
    method: "POST",
    connections: 16,
    amount: requests.length,
    requests: [
      {
        setupRequest: (request) => {
          const { headers, body } = requests[next++ % requests.length] as LoadRequest;
          return { ...request, headers, body };
        },
      },
    ],
  });
  const seconds = (performance.now() - started) / 1000;
  const cpu = cpuSeconds(pid) - before;
  const answered = result["2xx"];
  if (answered < requests.length || result.non2xx > 0) {
    throw new Error(`${result.non2xx} answers of ${requests.length} were not 200, ${result.errors} errors`);
  }
  return {
    cpuMicros: (cpu / answered) * 1e6,
    callsPerSecond: answered / seconds,
    p50: result.latency.p50,
    p99: result.latency.p99,
  };
}
