/** What a machine runs out of: descriptors, and the directory of the configuration. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import { it } from "node:test";
import { LeaderError } from "#runtime/leader.js";
import { openSocket } from "../../runtime/raw.js";
import { clientOf, configText, ECHO, LEADER, OTHER, outcomeOf, startFaultServer, until } from "./harness.js";

const POSIX = { skip: process.platform === "win32" };

it(
  "without free file descriptors, open connections are served, and new connections once descriptors are free",
  POSIX,
  async () => {
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
  },
);

it(
  "after the directory of the configuration was deleted, the last good version stays, and a new file is found",
  POSIX,
  async () => {
    const server = await startFaultServer({ config: configText({ leaders: [LEADER] }) });
    const client = await clientOf(server, ECHO);
    const other = await clientOf(server, ECHO, OTHER);
    const directory = dirname(server.config);
    renameSync(directory, `${directory}-gone`);
    await until(() => /"level":40/.test(server.log()), "a warning");
    for (let i = 0; i < 5; i++) assert.equal(await outcomeOf(client, client.sign({ value: i }), i), undefined);
    mkdirSync(directory);
    writeFileSync(server.config, configText({ leaders: [LEADER, OTHER] }), { mode: 0o600 });
    await until(
      async () => (await outcomeOf(other, other.sign({ value: 1 }), 1)) === undefined,
      "the new configuration",
    );
    renameSync(`${directory}-gone`, `${directory}/gone`);
    assert.equal(await server.stop(), 0);
  },
);
