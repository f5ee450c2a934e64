/** A proxy on bare sockets between a client and one or more servers, which cuts connections where a test says so. */

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { atEnd } from "../teardown.js";

/**
 * - `pass`: forwards
 * - `before`: cuts when the first bytes of a request have come, and forwards none
 * - `after`: forwards the request and cuts when its answer begins
 * - `gateway`: forwards the request and answers 502 in place of its answer
 */
export type Cut = "pass" | "before" | "after" | "gateway";

const GATEWAY = "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>";

export class CuttingProxy {
  /** Decides for each request. */
  cut: () => Cut = () => "pass";
  url = "";
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #connections = 0;

  /** @param targets ports of servers on this machine; connections go to them in turn, or to the next that is there */
  static async start(targets: () => readonly number[]): Promise<CuttingProxy> {
    const proxy = new CuttingProxy();
    proxy.#server = createServer((socket) => proxy.#serve(socket, targets())).listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    proxy.url = `http://127.0.0.1:${(proxy.#server.address() as AddressInfo).port}`;
    atEnd(() => proxy.close());
    return proxy;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server?.close();
  }

  /** Not by `resetAndDestroy`: Node 20 then waits at its end for a write that never ends. */
  #serve(client: Socket, targets: readonly number[]): void {
    const port = targets[this.#connections++ % Math.max(1, targets.length)];
    if (port === undefined) {
      client.destroy();
      return;
    }
    const server = connect(port, "127.0.0.1");
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => {
        this.#sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    let cut: Cut = "pass";
    client.on("data", (chunk) => {
      if (chunk.toString("latin1", 0, 5) === "POST ") cut = this.cut();
      if (cut === "before") client.destroy();
      else server.write(chunk);
    });
    server.on("data", (chunk) => {
      if (cut === "pass") client.write(chunk);
      else if (cut === "after") client.destroy();
      else client.end(GATEWAY);
    });
  }
}
