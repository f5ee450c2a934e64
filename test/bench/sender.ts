/**
 * Sends requests at a constant rate, whether or not earlier ones are answered: an open loop. A process of its own, so
 * that it has a core of its own, which it never leaves idle: a timer would be a millisecond late.
 *
 *     sender.ts HOST PORT FILE RATE CONNECTIONS
 *
 * Writes four doubles for each request to standard output: when it was due, sent and answered, in milliseconds from the
 * start, and the status. A request that finds no free connection waits for one; its time counts from when it was due.
 */

import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";

const [host, port, file, rate, connections] = process.argv.slice(2) as [string, string, string, string, string];

/** The requests of a file of {@link withRequestFile}. */
function readRequests(bytes: Buffer): Buffer[] {
  const requests: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const start = bytes.indexOf("\n", at) + 1;
    const end = start + Number(bytes.toString("latin1", at, start));
    requests.push(bytes.subarray(start, end));
    at = end;
  }
  return requests;
}

/** The status of an answer, once all of it is there. */
function statusOf(bytes: Buffer): number | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const head = bytes.toString("latin1", 0, end);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`an answer has no Content-Length: ${head.split("\r\n", 1)[0]}`);
  return bytes.length >= end + 4 + Number(length) ? Number(head.slice(9, 12)) : undefined;
}

const requests = readRequests(readFileSync(file));
const interval = 1000 / Number(rate);
const results = new Float64Array(requests.length * 4);
const idle: Connection[] = [];
let next = 0;
let answered = 0;
let start = 0;
const clock = () => performance.now() - start;

class Connection {
  private received: Buffer = Buffer.alloc(0);
  private current = 0;

  constructor(private readonly socket: Socket) {
    socket.setNoDelay(true);
    socket.on("data", (chunk) => this.receive(chunk));
    socket.on("close", () => {
      throw new Error("the server closed a connection");
    });
  }

  send(index: number): void {
    this.current = index;
    results[index * 4 + 1] = clock();
    this.socket.write(requests[index] as Buffer);
  }

  private receive(chunk: Buffer): void {
    this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    const status = statusOf(this.received);
    if (status === undefined) return;
    this.received = Buffer.alloc(0);
    results[this.current * 4 + 2] = clock();
    results[this.current * 4 + 3] = status;
    idle.push(this);
    if (++answered === requests.length) finish();
  }
}

/** Sends what is due and looks again as soon as input has been seen to. */
function pump(): void {
  const now = clock();
  while (next < requests.length && next * interval <= now) {
    // The one that has rested longest: a server closes connections that rest for too long.
    const connection = idle.shift();
    if (connection === undefined) break;
    results[next * 4] = next * interval;
    connection.send(next++);
  }
  if (next < requests.length) setImmediate(pump);
}

function finish(): void {
  process.stdout.write(Buffer.from(results.buffer), () => process.exit());
}

let open = 0;
for (let i = 0; i < Number(connections); i++) {
  const socket = connect(Number(port), host, () => {
    idle.push(new Connection(socket));
    if (++open < Number(connections)) return;
    start = performance.now();
    pump();
  });
}
