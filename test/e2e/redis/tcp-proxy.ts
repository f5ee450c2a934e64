/** A TCP proxy whose link a test delays, holds, cuts, refuses, or moves to another port. */

import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";
import { atEnd } from "../../teardown.js";

export class TcpProxy {
  /** Milliseconds that every chunk takes each way, and up to how many more at random. */
  delayMs = 0;
  jitterMs = 0;
  /** Whether new connections are closed at once. */
  refuses = false;
  readonly #server = createServer((socket) => this.#accept(socket));
  readonly #sockets = new Set<Socket>();
  #held: Promise<void> | undefined;
  #release = () => {};

  private constructor(
    /** Port of new connections; those that exist stay. */
    public target: number,
  ) {}

  static async start(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    atEnd(() => proxy.close());
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Keeps every byte from now on, without closing a connection. */
  hold(): void {
    this.#held ??= new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  /** Lets pass what was held. */
  letPass(): void {
    this.#held = undefined;
    this.#release();
  }

  /** Closes all connections; what was held is lost. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.letPass();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(socket: Socket): void {
    if (this.refuses) {
      socket.destroy();
      return;
    }
    const upstream = createConnection(this.target, "127.0.0.1");
    this.#link(socket, upstream);
    this.#link(upstream, socket);
  }

  /** Forwards what arrives at one socket to the other, in order. */
  #link(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.setNoDelay(true);
    let due = 0;
    let last = Promise.resolve();
    const forward = (end: () => void) => {
      due = Math.max(due, performance.now() + this.delayMs + Math.random() * this.jitterMs);
      const at = due;
      last = last.then(async () => {
        await this.#held;
        const wait = at - performance.now();
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
        if (!to.destroyed) end();
      });
    };
    from.on("data", (chunk: Buffer) => forward(() => to.write(chunk)));
    from.on("end", () => forward(() => to.end()));
    from.on("error", () => {});
    from.once("close", () => {
      this.#sockets.delete(from);
      forward(() => to.destroy());
    });
  }
}
