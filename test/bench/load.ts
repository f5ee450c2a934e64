/** Load on one server process and what it costs the process, by the operating system's accounting. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
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

const CONNECTIONS = 16;
/** Requests that may be on their way when the last answer that counts arrives; the list is that much longer. */
export const SPARE = 2 * CONNECTIONS;

/** What drives the load: wrk where it is installed (`apt-get install wrk`), else autocannon, which costs more itself. */
export const generator = spawnSync("wrk", ["-v"]).error === undefined ? "wrk" : "autocannon";

/**
 * Sends each request once over 16 connections, but for the last {@link SPARE}, and measures the server.
 *
 * @throws Error when an answer is not 200
 */
export async function measure(target: Target, requests: readonly LoadRequest[]): Promise<Measurement> {
  const pid = target.process.pid as number;
  const before = cpuSeconds(pid);
  const load = generator === "wrk" ? await runWrk(target, requests) : await runAutocannon(target, requests);
  const cpu = cpuSeconds(pid) - before;
  if (load.bad > 0) throw new Error(`${load.bad} of ${load.calls} calls were not answered 200`);
  const { calls, seconds, p50, p99 } = load;
  return { cpuMicros: (cpu / calls) * 1e6, callsPerSecond: calls / seconds, p50, p99 };
}

interface Load {
  readonly calls: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
  readonly bad: number;
}

async function runWrk({ url }: Target, requests: readonly LoadRequest[]): Promise<Load> {
  const directory = mkdtempSync(join(tmpdir(), "svc-load-"));
  const file = join(directory, "requests");
  const { host } = new URL(url);
  const raw = requests.flatMap(({ headers, body }) => {
    const lines = Object.entries({ Host: host, ...headers, "Content-Length": String(body.length) });
    const head = `POST /sum/invoke HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
    const request = Buffer.concat([Buffer.from(head), body]);
    return [Buffer.from(`${request.length}\n`), request];
  });
  writeFileSync(file, Buffer.concat(raw));
  try {
    const script = fileURLToPath(new URL("load.lua", import.meta.url));
    const limit = String(requests.length - SPARE);
    const args = ["-t", "1", "-c", String(CONNECTIONS), "-d", "120s", "-s", script, url, "--", file, limit];
    const command = [...(PINS ? ["taskset", "-c", "1"] : []), "wrk", ...args];
    const child = spawn(command[0] as string, command.slice(1), { stdio: ["ignore", "pipe", "inherit"] });
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk;
      if (chunk.includes("done")) child.kill("SIGINT");
    });
    await once(child, "exit");
    const result = JSON.parse(out.slice(out.indexOf("{"))) as Omit<Load, "bad"> & { non200: number; errors: number };
    return { ...result, bad: result.non200 + result.errors };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function runAutocannon({ url }: Target, requests: readonly LoadRequest[]): Promise<Load> {
  let next = 0;
  const started = performance.now();
  const {
    "2xx": calls,
    non2xx,
    errors,
    latency,
  } = await autocannon({
    url: `${url}/sum/invoke`,
    method: "POST",
    connections: CONNECTIONS,
    amount: requests.length - SPARE,
    requests: [{ setupRequest: (request) => ({ ...request, ...(requests[next++] as LoadRequest) }) }],
  });
  const seconds = (performance.now() - started) / 1000;
  return { calls, seconds, p50: latency.p50, p99: latency.p99, bad: non2xx + errors };
}
