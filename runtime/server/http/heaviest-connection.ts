/** Limits a total over all connections by closing the connection with the largest amount. */

import type { Duplex } from "node:stream";

/** Amounts of one resource, by connection. Closing the connection with the most affects no other client. */
export class HeaviestConnection {
  #total = 0;
  /** Amount of closed connections, which Node frees only at the end of the turn of the event loop. */
  #closing = 0;
  readonly #held = new Map<Duplex, number>();

  readonly #most: number;
  readonly #closed: () => void;

  /**
   * @param most maximum total
   * @param closed called for each connection that is closed because of the limit
   */
  constructor(most: number, closed: () => void) {
    this.#most = most;
    this.#closed = closed;
  }

  /**
   * Adds to the amount of a connection. If the total exceeds the limit, destroys the connection with the largest
   * amount. One turn of the event loop may read thousands of connections: if the total and the connections already
   * destroyed in this turn exceed twice the limit, destroys this connection.
   */
  hold(socket: Duplex, amount: number): void {
    if (socket.destroyed) return;
    const held = this.#held.get(socket);
    if (held === undefined) socket.once("close", () => this.#forget(socket));
    this.#held.set(socket, (held ?? 0) + amount);
    this.#total += amount;
    if (this.#total > this.#most) this.#closeHeaviest();
    else if (this.#total + this.#closing > 2 * this.#most) this.#close(socket);
  }

  /** Subtracts from the amount of a connection. */
  release(socket: Duplex, amount: number): void {
    const held = this.#held.get(socket);
    if (held === undefined) return;
    this.#held.set(socket, held - amount);
    this.#total -= amount;
  }

  #closeHeaviest(): void {
    let most = 0;
    let heaviest: Duplex | undefined;
    for (const [socket, held] of this.#held) {
      if (held <= most) continue;
      most = held;
      heaviest = socket;
    }
    if (heaviest !== undefined) this.#close(heaviest);
  }

  #close(socket: Duplex): void {
    const held = this.#held.get(socket) ?? 0;
    this.#forget(socket);
    this.#closing += held;
    socket.once("close", () => {
      this.#closing -= held;
    });
    socket.destroy();
    this.#closed();
  }

  #forget(socket: Duplex): void {
    this.#total -= this.#held.get(socket) ?? 0;
    this.#held.delete(socket);
  }
}
