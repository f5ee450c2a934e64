/** Floods of requests on every route of a server in a small container, as many as its limits allow. */

import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { publicKeyOf } from "#runtime/leader.js";
import { quantile } from "../../bench/statistics.js";
import { type Child, PRELUDE, start } from "../../runtime/child.js";
import { openSocket, requestText } from "../../runtime/raw.js";
import { alice, bob, countingTool, echoCall, type Leader } from "../../runtime/tools.js";
import { scratchFolder } from "../../scratch-folder.js";
import { atEnd } from "../../teardown.js";
import { belowLimit } from "./cgroup.js";

const MIB = 2 ** 20;
/** The memory limit of the shipped deployments. */
const LIMIT = 512 * MIB;

/** Lengths of metadata documents, by the path of their tool. */
const DOCUMENTS = { small: 20_000, medium: 100_000, large: 420_000 } as const;

/** A tool that prints its input and returns 240 KB, and tools with metadata documents of three sizes. */
const SERVER = `${PRELUDE}
const ports = ["a", "b", "c", "d"].map((name) => ({ ...port, name }));
class Big extends One {
  static fqn() { return "xyz.test.big@1"; }
  static path() { return "big"; }
  async invoke({ value }) {
    process.stdout.write("ran " + value + "\\n");
    const text = "x".repeat(60_000);
    return { ok: { a: text, b: text, c: text, d: text } };
  }
}
const documented = Object.entries(${JSON.stringify(DOCUMENTS)}).map(([path, length]) => {
  const fqn = "xyz.test." + path + "@1";
  provide(contract(fqn, path, { inputSchema: JSON.stringify({ description: "x".repeat(length) }) }));
  return tool(fqn, path);
});
provide(contract("xyz.test.big@1", "big", { output: [{ name: "ok", ports }] }));
await bootstrap([[127, 0, 0, 1], 0], [One, Big, ...documented]);
`;

/** The tool `big`, for its calls. */
const big = countingTool({ fqn: "xyz.test.big@1", path: "big" });

const leaderOf = ({ id, kid, seed }: Leader) => ({
  leader_id: id,
  keys: [{ kid: Number(kid), public_key: Buffer.from(publicKeyOf(seed)).toString("hex") }],
});

/** A flood: what each of its connections sends, again and again, without reading an answer. */
export interface Flood {
  readonly name: string;
  /** Bytes of an answer. */
  readonly bytes: number;
  /** Requests of one connection, at once. */
  readonly pipelined: number;
  /** The request with this number. */
  request(number: number): Buffer;
}

const get = (path: string, host = "x") => requestText("GET", path, [["Host", host]]);
/** Fills a chunk that Node's parser gets. */
const CHUNK = 1_500;

/** The floods of callers without credentials. */
export const STRANGERS: readonly Flood[] = [
  ...Object.entries(DOCUMENTS).map(([path, bytes]) => ({
    name: `GET /${path}/meta`,
    bytes,
    pipelined: 60,
    request: () => get(`/${path}/meta`),
  })),
  {
    name: "GET /large/meta, each with another Host",
    bytes: DOCUMENTS.large,
    pipelined: 60,
    request: (number) => get("/large/meta", `host-${number}.example`),
  },
  ...["/tools", "/health", "/big/health", "/nothing"].map((path) => ({
    name: `GET ${path}`,
    bytes: 100,
    pipelined: CHUNK,
    request: () => get(path),
  })),
  {
    name: "POST /big/invoke, not signed, with bodies of 60 KB",
    bytes: 100,
    pipelined: 4,
    request: () => requestText("POST", "/big/invoke", [["Content-Length", "60000"]], "x".repeat(60_000)),
  },
];

/** The floods of a listed leader: retries of one stored result, and new calls. */
export function leaderFloods(): readonly Flood[] {
  const stored = echoCall(big, '"stored"');
  return [
    { name: "POST /big/invoke, retries of a result", bytes: 240_000, pipelined: 60, request: () => stored.text() },
    {
      name: "POST /big/invoke, new calls",
      bytes: 240_000,
      pipelined: 4,
      request: (number) => echoCall(big, JSON.stringify(`call ${number} of ${stored.nonce.toString("hex")}`)).text(),
    },
  ];
}

/** A signed server below the limit. Callers are alice, who floods, and bob. */
export async function startServer(env: Record<string, string> = {}) {
  const config = join(scratchFolder(), "config.json");
  const tools = ["one", "big", ...Object.keys(DOCUMENTS)].map((name) => [`xyz.test.${name}@1`, {}]);
  const signed_http = {
    allowed_leaders: { version: 1, leaders: [alice, bob].map(leaderOf) },
    tools: Object.fromEntries(tools),
  };
  writeFileSync(config, JSON.stringify({ signed_http }), { mode: 0o600 });
  const [command = "", ...args] = belowLimit(LIMIT);
  const node = [process.execPath, "--input-type=module", "-e", SERVER];
  const child = start(command, [...args, ...node], {
    SVC_TOOLKIT_CONFIG_PATH: config,
    SVC_ADMIN_ADDR: "127.0.0.1:0",
    ...env,
  });
  const url = await child.url;
  const serving =
    child
      .stderr()
      .split("\n")
      .find((line) => line.includes('"msg":"serving"')) ?? "{}";
  const { memory, admin } = JSON.parse(serving) as { memory: { maxConnections: number }; admin: string };
  return { child, url, admin, maxConnections: memory.maxConnections };
}

/** Probes that wait for an answer at a time: half of the connections that the admin listener accepts. */
const MOST_OPEN = 32;

/** Probes an address on a new connection every 100 ms, in a thread of its own. Reports when all probes have ended. */
const PROBER = `
const { get } = require("node:http");
const { parentPort, workerData: url } = require("node:worker_threads");
const waits = [];
let [open, failed, isOver] = [0, 0, false];
const probe = () => {
  if (open === ${MOST_OPEN}) return;
  const began = performance.now();
  open++;
  const end = (answered) => {
    waits.push(performance.now() - began);
    if (!answered) failed++;
    if (--open === 0 && isOver) parentPort.postMessage({ waits, failed });
  };
  get(url, { agent: false }, (response) => response.resume().on("end", () => end(response.statusCode === 200)))
    .on("error", () => end(false));
};
const timer = setInterval(probe, 100);
parentPort.once("message", () => {
  clearInterval(timer);
  isOver = true;
  probe();
});
`;

interface Probes {
  readonly waits: readonly number[];
  readonly failed: number;
}

/** Starts probes of an address. Returns a function that ends them. */
async function startProbes(url: string): Promise<() => Promise<Probes>> {
  const prober = new Worker(PROBER, { eval: true, workerData: url });
  const forget = atEnd(() => prober.terminate());
  const reported = new Promise<Probes>((resolve) => prober.once("message", resolve));
  await once(prober, "online");
  return async () => {
    prober.postMessage("end");
    const probes = await reported;
    forget();
    await prober.terminate();
    return probes;
  };
}

export interface Damage {
  /** Largest resident memory of the process since it started. */
  readonly peakMiB: number;
  /** Median and 99th percentile of the time of `/health` on another connection. */
  readonly medianMs: number;
  readonly healthMs: number;
  /** 99th percentile of the time of `/readyz` of the admin listener. */
  readonly adminMs: number;
  /** Probes of `/health` and of the admin listener. */
  readonly probes: readonly { readonly count: number; readonly failed: number }[];
  /** Connections that the server closed, and that were opened again. */
  readonly closed: number;
}

/** Floods a server, and measures the damage. */
export async function flood(
  { child, url, admin, maxConnections }: { child: Child; url: string; admin: string; maxConnections: number },
  { pipelined, request }: Flood,
  { ms, connections = maxConnections - 100 }: { readonly ms: number; readonly connections?: number },
): Promise<Damage> {
  let [number, closed, isOver] = [0, 0, false];
  const sockets = new Set<ReturnType<typeof openSocket>>();
  const open = () => {
    const socket = openSocket(url);
    sockets.add(socket);
    socket.on("data", () => socket.pause());
    socket.on("close", () => {
      sockets.delete(socket);
      if (isOver) return;
      closed++;
      globalThis.setTimeout(() => isOver || send(open()), 200);
    });
    return socket;
  };
  const send = (socket: ReturnType<typeof openSocket>) =>
    socket.write(Buffer.concat(Array.from({ length: pipelined }, () => request(number++))));
  await Promise.all(Array.from({ length: connections }, () => once(open(), "connect")));
  const endProbes = await Promise.all([`${url}/health`, `${admin}/readyz`].map(startProbes));
  for (const socket of sockets) send(socket);
  await setTimeout(ms);
  const [health, ready] = (await Promise.all(endProbes.map((end) => end()))) as [Probes, Probes];
  isOver = true;
  for (const socket of sockets) socket.destroy();
  return {
    peakMiB: peakOf(child),
    healthMs: quantile(health.waits, 0.99),
    adminMs: quantile(ready.waits, 0.99),
    medianMs: quantile(health.waits, 0.5),
    probes: [health, ready].map(({ waits, failed }) => ({ count: waits.length, failed })),
    closed,
  };
}

/** Largest resident memory of a process so far; infinite if it has ended. */
function peakOf({ process: { pid, exitCode, signalCode } }: Child): number {
  if (exitCode !== null || signalCode !== null) return Number.POSITIVE_INFINITY;
  const [, kib = "0"] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) / 1_024;
}
