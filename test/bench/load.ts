/** Load on one server process, each connection sending its next call when it has its answer, and what it costs. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import autocannon from "autocannon";
import { Client } from "undici";
import { cpuMicros, cpuTime, residentMegabytes } from "./accounting.js";
import { quantile } from "./statistics.js";
import type { Target } from "./target.js";

/** One request as it goes out. */
export interface LoadRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What one run of load has cost and seen, by label and unit. */
export type LoadFigures = {
  /** CPU of the whole server process for one call, threads included. */
  readonly "µs CPU": number;
  readonly "calls/s": number;
  readonly "ms p50": number;
  readonly "ms p99": number;
  /** Resident memory of the server after the run. */
  readonly "MB resident": number;
  /** CPU of what drove the load, for one call. */
  readonly "µs CPU of the load": number;
};

const CONNECTIONS = 16;
/** Requests that may be on their way when the last answer that counts arrives; the list is that much longer. */
export const SPARE = 2 * CONNECTIONS;

interface Load {
  readonly calls: number;
  readonly seconds: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly bad: number;
  readonly cpuMicros: number;
}

/**
 * Sends each request once over 16 connections, but for the last {@link SPARE}, and measures the server.
 *
 * @throws Error when an answer is not 200
 */
export async function measure(target: Target, requests: readonly LoadRequest[]): Promise<LoadFigures> {
  const before = cpuTime(target.pid);
  const load = await runAutocannon(target, requests);
  const cpu = cpuMicros(before, cpuTime(target.pid));
  if (load.bad > 0) throw new Error(`${load.bad} of ${load.calls} calls were not answered 200`);
  return {
    "µs CPU": cpu / load.calls,
    "calls/s": load.calls / load.seconds,
    "ms p50": load.p50,
    "ms p99": load.p99,
    "MB resident": residentMegabytes(target.pid),
    "µs CPU of the load": load.cpuMicros / load.calls,
  };
}

/** The bytes of a request. */
function rawRequest({ url, path }: Target, { headers, body }: LoadRequest): Buffer {
  const lines = Object.entries({ Host: new URL(url).host, ...headers, "Content-Length": String(body.length) });
  const head = `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

/** Writes requests to a file while something uses it: before each its length in decimal digits and a line's end. */
export async function withRequestFile<T>(
  target: Target,
  requests: readonly LoadRequest[],
  use: (file: string) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), "svc-load-"));
  try {
    const file = join(directory, "requests");
    const parts = requests.flatMap((each) => {
      const raw = rawRequest(target, each);
      return [Buffer.from(`${raw.length}\n`), raw];
    });
    writeFileSync(file, Buffer.concat(parts));
    return await use(file);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function runAutocannon({ url, path }: Target, requests: readonly LoadRequest[]): Promise<Load> {
  let next = 0;
  const started = performance.now();
  const cpu = process.cpuUsage();
  const {
    "2xx": calls,
    non2xx,
    errors,
    latency,
  } = await autocannon({
    url: url + path,
    method: "POST",
    connections: CONNECTIONS,
    amount: requests.length - SPARE,
    requests: [{ setupRequest: (request) => ({ ...request, ...(requests[next++] as LoadRequest) }) }],
  });
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - started) / 1000;
  return { calls, seconds, p50: latency.p50, p99: latency.p99, bad: non2xx + errors, cpuMicros: user + system };
}

/** What came back for one request. */
interface Answer {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One connection to a target, for calls one after another. */
export class Caller {
  readonly #client: Client;
  readonly #path: string;

  constructor({ url, path }: Target) {
    this.#client = new Client(url);
    this.#path = path;
  }

  /** A call that must be answered 200, or with another status that is named. */
  async success(request: LoadRequest, status = 200): Promise<Answer> {
    const { statusCode, headers, body } = await this.#client.request({ path: this.#path, method: "POST", ...request });
    const text = await body.text();
    if (statusCode !== status) throw new Error(`a call was answered ${statusCode}: ${text}`);
    return { headers, body: text };
  }

  close(): void {
    void this.#client.destroy();
  }
}

/** Sends calls one after another, each made when it is its turn: for bodies too large to hold many of. */
export async function measureInTurn(
  target: Target,
  count: number,
  request: (index: number) => LoadRequest,
  status = 200,
): Promise<Pick<LoadFigures, "µs CPU" | "ms p50" | "MB resident">> {
  const caller = new Caller(target);
  const times: number[] = [];
  let cpu = 0;
  for (let index = 0; index < count; index++) {
    const made = request(index);
    const before = cpuTime(target.pid);
    const start = performance.now();
    await caller.success(made, status);
    times.push(performance.now() - start);
    cpu += cpuMicros(before, cpuTime(target.pid));
  }
  caller.close();
  return { "µs CPU": cpu / count, "ms p50": quantile(times, 0.5), "MB resident": residentMegabytes(target.pid) };
}
