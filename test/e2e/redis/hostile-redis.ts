/** A server that speaks Redis' protocol, has a real Redis behind it, and answers as a test wants: by lies, noise, or not at all. */

import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { Redis } from "ioredis";
import { atEnd } from "../../teardown.js";

/** A command with its arguments, as bytes. */
export type Command = readonly [name: string, ...args: Buffer[]];

/** What a hostile server does with a command: it sends bytes, and may close the connection or be silent from then on. */
export type Reaction =
  | { readonly bytes: Uint8Array | string; readonly after?: "close" | "silence" }
  /** The real server's answer. */
  | "pass";

/** Decides what becomes of a command; `answer` asks the real server. */
export type Attack = (command: Command, answer: () => Promise<unknown>) => Reaction | Promise<Reaction>;

export class HostileRedis {
  /** What it does; without an attack it is a relay. */
  attack: Attack | undefined;
  /** Commands that it has seen, with what was in them. */
  readonly seen: Command[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #silent = new WeakSet<Socket>();

  readonly #real: Redis;

  private constructor(real: Redis) {
    this.#real = real;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  static async start(real: Redis): Promise<HostileRedis> {
    const hostile = new HostileRedis(real);
    hostile.#server.listen(0, "127.0.0.1");
    await once(hostile.#server, "listening");
    atEnd(() => hostile.close());
    return hostile;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    socket.on("error", () => {});
    let unread = Buffer.alloc(0);
    let last = Promise.resolve();
    socket.on("data", (chunk: Buffer) => {
      unread = Buffer.concat([unread, chunk]);
      for (let read = readCommand(unread); read !== undefined; read = readCommand(unread)) {
        unread = unread.subarray(read.length);
        const { command } = read;
        last = last.then(() => this.#react(socket, command)).catch(() => void socket.destroy());
      }
    });
  }

  async #react(socket: Socket, command: Command): Promise<void> {
    this.seen.push(command);
    if (this.#silent.has(socket)) return;
    const [name, ...args] = command;
    const answer = () => this.#real.callBuffer(name, ...args).catch((error: Error) => error);
    // One protocol version: the client goes back to it.
    if (/^hello$/i.test(name)) {
      socket.write("-ERR unknown command 'HELLO'\r\n");
      return;
    }
    if (/^(?:auth|select|client)$/i.test(name)) {
      socket.write("+OK\r\n");
      return;
    }
    const reaction = (await this.attack?.(command, answer)) ?? "pass";
    if (reaction === "pass") {
      socket.write(encodeReply(await answer()));
      return;
    }
    socket.write(reaction.bytes);
    if (reaction.after === "close") socket.end();
    if (reaction.after === "silence") this.#silent.add(socket);
  }
}

/** The first whole command of a stream (an array of bulk strings). */
function readCommand(bytes: Buffer): { readonly command: Command; readonly length: number } | undefined {
  let at = 0;
  const line = (): string | undefined => {
    const end = bytes.indexOf("\r\n", at);
    if (end < 0) return undefined;
    const text = bytes.toString("latin1", at, end);
    at = end + 2;
    return text;
  };
  const head = line();
  if (head === undefined) return undefined;
  const parts: Buffer[] = [];
  for (let left = Number(head.slice(1)); left > 0; left--) {
    const size = line();
    if (size === undefined) return undefined;
    const length = Number(size.slice(1));
    if (bytes.length < at + length + 2) return undefined;
    parts.push(Buffer.from(bytes.subarray(at, at + length)));
    at += length + 2;
  }
  const [name, ...args] = parts;
  return { command: [name?.toString("latin1") ?? "", ...args], length: at };
}

/** A value in Redis' protocol, version 2. */
export function encodeReply(value: unknown): Buffer {
  if (value instanceof Error) return Buffer.from(`-${value.message.replace(/[\r\n]/g, " ")}\r\n`);
  if (typeof value === "number" || typeof value === "bigint") return Buffer.from(`:${value}\r\n`);
  if (value === null || value === undefined) return Buffer.from("$-1\r\n");
  if (Array.isArray(value)) {
    return Buffer.concat([Buffer.from(`*${value.length}\r\n`), ...value.map(encodeReply)]);
  }
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(String(value));
  return Buffer.concat([Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from("\r\n")]);
}
