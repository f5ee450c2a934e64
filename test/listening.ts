/** Servers that tests write, each on a port of its own until the end of the test file. */

import { once } from "node:events";
import type { Server } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { atEnd } from "./teardown.js";

/** Listens on this machine; gives the host and the port. */
export async function listen(server: Server | SecureServer): Promise<string> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
