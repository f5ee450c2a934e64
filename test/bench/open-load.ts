/**
 * An open load on one server: calls begin at a fixed rate whether or not earlier ones have their answers, as callers that
 * know nothing of each other make them. Started by goodput.ts as a process of its own.
 *
 *     open-load.ts FILE_OF_REQUESTS OPTIONS_AS_JSON
 */

import { randomFillSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { get } from "node:http";
import { connect, type Socket } from "node:net";
import { quantile } from "./statistics.js";

export interface OpenLoad {
  readonly port: number;
  /** Calls a second; absent: each connection sends its next call after its answer. */
  readonly rate?: number;
  readonly connections: number;
  /** Seconds that are measured, after those until the queues are level. */
  readonly seconds: number;
  readonly settleSeconds: number;
  /** Milliseconds after which a caller closes its connection and its answer is worth nothing. */
  readonly timeoutMs: number;
  /** What is asked on a new connection ten times a second, by name. */
  readonly probes: Readonly<Record<string, string>>;
}

/** What the callers saw in the measured seconds. */
export interface OpenFigures {
  /** Calls that were answered 200 in time. */
  readonly good: number;
  readonly p50: number;
  readonly p99: number;
  /** The 99th percentile of the times of each probe. */
  readonly probes: Readonly<Record<string, number>>;
  /** Share of its core that the load itself has used. */
  readonly loadCpu: number;
}

const NONCE = "X-Svc-Nonce: ";
const NONCE_LENGTH = 43;

interface SignedCall {
  readonly bytes: Buffer;
  readonly nonceAt: number;
}

/** Calls with nonces of their own; a signature does not cover its nonce. */
class Calls {
  readonly #calls: SignedCall[] = [];
  readonly #nonce = randomFillSync(Buffer.alloc(32));
  #next = 0;

  constructor(file: string) {
    const text = readFileSync(file);
    for (let at = 0; at < text.length; ) {
      const end = text.indexOf(10, at);
      const length = Number(text.toString("latin1", at, end));
      const bytes = text.subarray(end + 1, end + 1 + length);
      this.#calls.push({ bytes, nonceAt: bytes.indexOf(NONCE) + NONCE.length });
      at = end + 1 + length;
    }
  }

  next(): Buffer {
    const { bytes, nonceAt } = this.#calls[this.#next++ % this.#calls.length] as SignedCall;
    this.#nonce.writeUInt32LE(this.#next, 0);
    const call = Buffer.from(bytes);
    call.write(this.#nonce.toString("base64url"), nonceAt, NONCE_LENGTH, "latin1");
    return call;
  }
}

/** The status of an answer that is complete; undefined while bytes of it are missing. */
function statusOf(answer: Buffer): number | undefined {
  const end = answer.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const head = answer.toString("latin1", 0, end);
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
  return answer.length < end + 4 + length ? undefined : Number(head.slice(9, 12));
}

interface Caller {
  readonly socket: Socket;
  sentAt: number;
  received: Buffer | undefined;
  isBusy: boolean;
}

const [file, json] = process.argv.slice(2) as [string, string];
const options = JSON.parse(json) as OpenLoad;
const { port, rate, connections, timeoutMs } = options;
const calls = new Calls(file);
const started = performance.now();
const from = started + options.settleSeconds * 1_000;
const until = from + options.seconds * 1_000;
const latencies: number[] = [];
const idle: Caller[] = [];
/** In the order in which they began, so that the first is the first to time out. */
const busy = new Set<Caller>();
let open = 0;

const isMeasured = (now: number) => now >= from && now < until;

function openCaller(): Caller {
  open++;
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const caller: Caller = { socket, sentAt: 0, received: undefined, isBusy: false };
  socket.on("data", (chunk: Buffer) => {
    caller.received = caller.received === undefined ? chunk : Buffer.concat([caller.received, chunk]);
    const status = statusOf(caller.received);
    if (status === undefined) return;
    caller.received = undefined;
    end(caller, status);
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    open--;
    if (caller.isBusy) end(caller, undefined);
    const at = idle.indexOf(caller);
    if (at !== -1) idle.splice(at, 1);
  });
  return caller;
}

function end(caller: Caller, status: number | undefined): void {
  if (!busy.delete(caller)) return;
  caller.isBusy = false;
  const now = performance.now();
  if (status === 200 && isMeasured(now)) latencies.push(now - caller.sentAt);
  if (status === undefined) return;
  if (rate === undefined && now < until) send(caller);
  else idle.push(caller);
}

function send(caller: Caller): void {
  caller.sentAt = performance.now();
  caller.isBusy = true;
  busy.add(caller);
  caller.socket.write(calls.next());
}

function offer(): void {
  let caller = idle.pop();
  while (caller?.socket.writable === false) caller = idle.pop();
  if (caller === undefined && open < connections) caller = openCaller();
  if (caller !== undefined) send(caller);
}

function giveUp(): void {
  const before = performance.now() - timeoutMs;
  for (const caller of busy) {
    if (caller.sentAt > before) return;
    busy.delete(caller);
    caller.isBusy = false;
    caller.socket.destroy();
  }
}

const probed = new Map<string, number[]>(Object.keys(options.probes).map((name) => [name, []]));
const PROBE_EVERY_MS = 100;
const PROBE_LIMIT_MS = 5_000;

function probe(name: string, url: string): void {
  const sentAt = performance.now();
  if (!isMeasured(sentAt)) return;
  const took = (ms: number) => probed.get(name)?.push(ms);
  const request = get(url, { agent: false, timeout: PROBE_LIMIT_MS }, (response) => {
    response.resume().on("end", () => took(response.statusCode === 200 ? performance.now() - sentAt : PROBE_LIMIT_MS));
  });
  request.on("timeout", () => request.destroy());
  request.on("error", () => took(PROBE_LIMIT_MS));
}

if (rate === undefined) for (let i = 0; i < connections; i++) send(openCaller());
const probing = setInterval(() => {
  for (const [name, url] of Object.entries(options.probes)) probe(name, url);
}, PROBE_EVERY_MS);
let offered = 0;
let cpu = process.cpuUsage();
let cpuFrom: number | undefined;
const ticking = setInterval(() => {
  const now = performance.now();
  if (cpuFrom === undefined && now >= from) {
    cpuFrom = now;
    cpu = process.cpuUsage();
  }
  if (rate !== undefined) for (const due = ((now - started) / 1_000) * rate; offered < due; offered++) offer();
  giveUp();
  if (now < until) return;
  clearInterval(ticking);
  clearInterval(probing);
  const { user, system } = process.cpuUsage(cpu);
  const loadCpu = (user + system) / 1_000 / (now - (cpuFrom ?? started));
  const finish = () => {
    const figures: OpenFigures = {
      good: latencies.length,
      p50: quantile(latencies, 0.5),
      p99: quantile(latencies, 0.99),
      probes: Object.fromEntries([...probed].map(([name, times]) => [name, quantile(times, 0.99)])),
      loadCpu,
    };
    process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit(0));
  };
  // Probes that are on their way count too.
  setTimeout(finish, probed.size > 0 ? 1_500 : 0);
}, 1);
