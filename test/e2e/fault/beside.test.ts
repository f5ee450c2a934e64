/** Good callers beside bad ones. */

import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { it } from "node:test";
import { drip, openSocket } from "../../runtime/raw.js";
import { clientOf, ECHO, FULL, load, startFaultServer } from "./harness.js";

const MANY = FULL ? 200 : 60;
const FEW = FULL ? 20 : 8;
const SECONDS = FULL ? 20 : 2;

it(`200 good calls a second succeed next to ${MANY} slow, ${MANY} idle and ${FEW} oversized and garbage clients`, async (t) => {
  const server = await startFaultServer();
  const client = await clientOf(server, ECHO);
  const sockets = new Set<Socket>();
  let running = true;
  /** A client of a kind, and its successor whenever the server has had enough of it. */
  const start = (begin: (socket: Socket) => void) => {
    const socket = openSocket(server.url).resume();
    sockets.add(socket);
    socket.once("connect", () => begin(socket));
    socket.once("close", () => {
      sockets.delete(socket);
      if (running) setTimeout(() => running && start(begin), 50);
    });
  };
  const dripping = (head: string, drop: string) => (socket: Socket) => {
    socket.write(head);
    drip(socket, drop, 250);
  };
  const post = "POST /echo/invoke HTTP/1.1\r\nHost: x\r\n";
  for (let i = 0; i < MANY; i++) {
    start(i % 2 === 0 ? dripping(post, "X") : dripping(`${post}Content-Length: 5000\r\n\r\n`, " "));
    start(() => {});
  }
  for (let i = 0; i < FEW; i++) {
    start((socket) => socket.write(`${post}Content-Length: 12582912\r\n\r\n${"x".repeat(65_536)}`));
    start((socket) => socket.write(Buffer.from("\x16\x03\x01\x02garbage \x00\xff\r\n\r\n", "latin1")));
  }
  const { outcomes, failures, p50, p99 } = await load(client, { rate: 200, goesOn: (calls) => calls < 200 * SECONDS });
  running = false;
  for (const socket of sockets) socket.destroy();
  t.diagnostic(`${outcomes.length} calls: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
  assert.deepEqual(failures, {});
  assert.equal(await server.stop(), 0);
});
