/** A machine that runs out of file descriptors. */

import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { it } from "node:test";
import { LeaderError } from "#runtime/leader.js";
import { openSocket } from "../../runtime/raw.js";
import { clientOf, ECHO, outcomeOf, startFaultServer, until } from "./harness.js";

it("without free file descriptors, open connections are served, and new connections once descriptors are free", {
  skip: process.platform === "win32",
}, async () => {
  const server = await startFaultServer({ wrap: ["/bin/sh", "-c", 'ulimit -n 120; exec "$0" "$@"'] });
  const client = await clientOf(server, ECHO);
  assert.equal(await outcomeOf(client, client.sign({ value: 0 }), 0), undefined);
  const idle: Socket[] = [];
  for (let i = 0; i < 200; i++) {
    const socket = openSocket(server.url);
    idle.push(socket);
    await once(socket, "connect");
  }
  for (let i = 1; i <= 20; i++) assert.equal(await outcomeOf(client, client.sign({ value: i }), i), undefined);
  for (const socket of idle) socket.destroy();
  // The server may see a new connection before it sees that the others are closed: then it cannot take it yet.
  const served = async () => {
    const other = await clientOf(server, ECHO).catch((error: unknown) => {
      assert.ok(error instanceof LeaderError && error.code === "connection_failed", String(error));
      return undefined;
    });
    return other !== undefined && (await outcomeOf(other, other.sign({ value: "new" }), "new")) === undefined;
  };
  await until(served, "a new connection is served");
  assert.equal(await server.stop(), 0);
});
